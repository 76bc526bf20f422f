package golang

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// call is one lookup under way.
type call struct {
	ctx   context.Context
	n     resolver.Network
	r     *Resolver
	emit  func(probe.Event)
	start time.Time
	req   resolver.Request

	// attempts counts attempts, opened the sockets of the call.
	attempts, opened int
	// tries counts transmissions by query.
	tries map[probe.Ref]int

	addresses []netip.Addr
	// found: a lookup of records found some.
	found      bool
	answeredBy string
	failure    *failure
	decided    int
}

func (c *call) event(ev probe.Event) {
	ev.At = probe.Millis(c.n.Now().Sub(c.start))
	c.emit(ev)
}

func (c *call) note(format string, args ...any) {
	c.event(probe.Event{Kind: probe.KindNote, Note: fmt.Sprintf(format, args...)})
}

// port is where name servers listen.
const port = 53

// flight is a transmission that waits for its reply.
type flight struct {
	ref    probe.Ref
	socket *socket
	id     uint16
	at     time.Time
}

// socket is an open socket of the call.
type socket struct {
	id        resolver.Socket
	number    int
	server    netip.AddrPort
	transport probe.Transport
}

func (c *call) open(t probe.Transport, server netip.Addr) (*socket, error) {
	to := netip.AddrPortFrom(server, port)
	id, err := c.n.Open(t, to, resolver.OpenOptions{Connected: true, HardErrorsOnly: true})
	if err != nil {
		return nil, err
	}
	c.opened++
	return &socket{id: id, number: c.opened, server: to, transport: t}, nil
}

// sent reports a transmission that was handed over at that time.
func (c *call) sent(f flight) {
	if c.tries == nil {
		c.tries = map[probe.Ref]int{}
	}
	c.tries[f.ref]++
	c.emit(probe.Event{Kind: probe.KindSent, At: probe.Millis(f.at.Sub(c.start)), Sent: &probe.Sent{
		Ref: f.ref, Try: c.tries[f.ref], Server: f.socket.server.String(), Transport: f.socket.transport,
		Socket: f.socket.number, LocalPort: c.n.LocalPort(f.socket.id), ID: f.id,
	}})
}

// received reports a reply and what was made of it.
func (c *call) received(f flight, ev resolver.Event, use string) {
	rc := resolver.Describe(&ev.Reply)
	rc.Ref, rc.Server, rc.Transport = f.ref, f.socket.server.String(), f.socket.transport
	rc.Socket, rc.Use = f.socket.number, use
	at := ev.At
	if at.IsZero() {
		at = c.n.Now()
	}
	if at.Before(f.at) {
		// The kernel's clock of arrivals and ours differ by a little.
		at = f.at
	}
	c.emit(probe.Event{Kind: probe.KindReceived, At: probe.Millis(at.Sub(c.start)), Received: &rc})
}

func (c *call) lost(f flight, reason string) {
	c.event(probe.Event{Kind: probe.KindLost, Lost: &probe.Lost{Ref: f.ref, Socket: f.socket.number, ID: f.id, Reason: reason}})
}
