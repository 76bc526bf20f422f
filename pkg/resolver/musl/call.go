package musl

import (
	"context"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// call is one getaddrinfo call under way.
type call struct {
	resolver.Trace
	ctx context.Context
	n   resolver.Network
	r   *Resolver
	req resolver.Request

	// sockets are the open ones; opened counts sockets of the call.
	sockets []*socket
	opened  int
	// flights are the transmissions that may still be answered.
	flights []flight

	addresses  []netip.Addr
	canon      canon
	code       eai
	decided    int
	answeredBy string
	// died: the process is gone.
	died bool
}

// socket is an open socket of the call.
type socket struct {
	id        resolver.Socket
	number    int
	transport probe.Transport
}

// flight is a transmission without a reply.
type flight struct {
	ref    probe.Ref
	socket int
	id     uint16
	server netip.AddrPort
	at     time.Time
}

// openSocket opens a socket.
func (c *call) openSocket(t probe.Transport, server netip.AddrPort) (*socket, error) {
	id, err := c.n.Open(t, server, resolver.OpenOptions{})
	if err != nil {
		return nil, err
	}
	c.opened++
	s := &socket{id: id, number: c.opened, transport: t}
	c.sockets = append(c.sockets, s)
	return s, nil
}

func (c *call) closeSocket(s *socket) {
	for i, o := range c.sockets {
		if o == s {
			c.n.Close(s.id)
			c.sockets = append(c.sockets[:i], c.sockets[i+1:]...)
			return
		}
	}
}

// closeAll closes all sockets; what has no reply by then never gets one.
func (c *call) closeAll(reason string) {
	c.giveUp(func(flight) bool { return true }, reason)
	for len(c.sockets) > 0 {
		c.closeSocket(c.sockets[0])
	}
}

// sent reports a transmission that was handed over at that time.
func (c *call) sent(at time.Time, ref probe.Ref, s *socket, server netip.AddrPort, id uint16) {
	c.flights = append(c.flights, flight{ref, s.number, id, server, at})
	c.Sent(at, s.exchange(ref, server), id)
}

func (s *socket) exchange(ref probe.Ref, server netip.AddrPort) resolver.Exchange {
	return resolver.Exchange{Ref: ref, Server: server, Transport: s.transport, Socket: s.id, Number: s.number}
}

// received reports a reply from server and what was made of it.
func (c *call) received(ref probe.Ref, s *socket, server netip.AddrPort, ev resolver.Event, use string) {
	at := c.Arrival(ev)
	if use != probe.UseIgnored {
		at = c.land(flight{ref, s.number, ev.Reply.ID, server, at})
	}
	c.Received(at, s.exchange(ref, server), &ev.Reply, use)
}

// land takes the newest transmission that a reply can belong to off the list of flights, and returns when the reply came: never
// before what it answers, since the kernel's clock of arrivals and ours differ by a little.
func (c *call) land(reply flight) time.Time {
	found, earliest := -1, time.Time{}
	for i, f := range c.flights {
		if f.ref != reply.ref || f.socket != reply.socket || f.id != reply.id || f.server != reply.server {
			continue
		}
		if earliest.IsZero() {
			earliest = f.at
		}
		if found < 0 || !f.at.After(reply.at) {
			found = i
		}
	}
	if found < 0 {
		return reply.at
	}
	c.flights = append(c.flights[:found], c.flights[found+1:]...)
	if reply.at.Before(earliest) {
		return earliest
	}
	return reply.at
}

// giveUp reports unanswered transmissions, each query on a socket once.
func (c *call) giveUp(which func(flight) bool, reason string) {
	var kept []flight
	said := map[probe.Lost]bool{}
	for _, f := range c.flights {
		if !which(f) {
			kept = append(kept, f)
			continue
		}
		lost := probe.Lost{Ref: f.ref, Socket: f.socket, ID: f.id, Reason: reason}
		if !said[lost] {
			said[lost] = true
			c.Lost(f.ref, f.socket, f.id, reason)
		}
	}
	c.flights = kept
}

// Lateness of poll(2) on Linux (fs/select.c, select_estimate_accuracy): a timeout may run over by a thousandth, at least by
// the 50 µs of the default timer slack and at most by 100 ms, and on an idle machine it does. It matters where the rounds of a
// lookup add up to a few milliseconds less than its timeout: the lateness decides whether another round fits in.
const (
	slackShare = 1000
	minSlack   = 50 * time.Microsecond
	maxSlack   = 100 * time.Millisecond
	// wakeUp is the time from the timer to the next look at the clock. It is that of the recordings with nine rounds in a second;
	// on a busy machine it is several times as long.
	wakeUp = 350 * time.Microsecond
)

// poll waits for the next event for as long as poll(2) would with this timeout. Real networks are late by themselves, modelled ones are
// not.
func (c *call) poll(timeout time.Duration) (resolver.Event, error) {
	deadline := c.n.Now().Add(timeout)
	ev, err := c.pollUntil(deadline)
	if err != nil || ev.Kind != resolver.EventDeadline {
		return ev, err
	}
	late := deadline.Add(min(max(timeout/slackShare, minSlack), maxSlack) + wakeUp)
	if !c.n.Now().Before(late) {
		return ev, nil
	}
	return c.pollUntil(late)
}

func (c *call) pollUntil(deadline time.Time) (resolver.Event, error) {
	err := c.ctx.Err()
	if err == nil {
		var ev resolver.Event
		if ev, err = c.n.Poll(deadline); err == nil {
			return ev, nil
		}
	}
	c.giveUp(func(flight) bool { return true }, probe.ReplyLost)
	return resolver.Event{}, err
}
