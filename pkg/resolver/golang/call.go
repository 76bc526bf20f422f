package golang

import (
	"context"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// call is one lookup under way.
type call struct {
	resolver.Trace
	ctx context.Context
	n   resolver.Network
	r   *Resolver
	req resolver.Request

	// opened counts the sockets of the call.
	opened int

	addresses []netip.Addr
	// found: a lookup of records found some.
	found      bool
	answeredBy string
	failure    *failure
	decided    int
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

func (f flight) exchange() resolver.Exchange {
	s := f.socket
	return resolver.Exchange{Ref: f.ref, Server: s.server, Transport: s.transport, Socket: s.id, Number: s.number}
}

// received reports a reply and what was made of it.
func (c *call) received(f flight, ev resolver.Event, use string) {
	at := c.Arrival(ev)
	if at.Before(f.at) {
		// The kernel's clock of arrivals and ours differ by a little.
		at = f.at
	}
	c.Received(at, f.exchange(), &ev.Reply, use)
}
