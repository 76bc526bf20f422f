package glibc

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
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

	// buffer is the size of the scratch buffer in bytes, shared by all modules of the call.
	buffer int
	errno  errno
	herr   hostErr
	// headerRcode is the rcode in the buffer for first replies, whether or not the reply counted, as the search loop sees it.
	headerRcode int
	// packetBuffer is the size of that buffer. Once a larger reply came, glibc goes on with another buffer, but the search
	// loop still looks at the old one.
	packetBuffer int
	moved        bool

	// firstSent has when a query first went out on a socket.
	firstSent map[waiting]time.Time
	// sockets are the open ones by server; opened counts sockets of the call.
	sockets map[int]*socket
	opened  int
	// flights are the transmissions that may still be answered.
	flights []flight

	addresses  []netip.Addr
	canonical  string
	code       eai
	decided    int
	answeredBy string
	// noReturn: glibc never comes back from this call.
	noReturn bool
	// gotIPv6 is got_ipv6: an IPv6 address was found for an IPv6 call.
	gotIPv6 bool
}

// socket is an open socket of the call.
type socket struct {
	id     resolver.Socket
	number int
	server netip.AddrPort
	// unread are events that came while another socket was looked at.
	unread []resolver.Event
}

// waiting is what a reply can belong to.
type waiting struct {
	ref    probe.Ref
	socket int
	id     uint16
}

// flight is a transmission without a reply.
type flight struct {
	waiting
	at time.Time
}

// port is where name servers listen.
const port = 53

// openSocket opens a socket to the server with this index.
func (c *call) openSocket(ns int, t probe.Transport) (*socket, error) {
	server := netip.AddrPortFrom(c.r.conf.Nameservers[ns], port)
	id, err := c.n.Open(t, server, resolver.OpenOptions{Connected: true})
	if err != nil {
		return nil, err
	}
	c.opened++
	s := &socket{id: id, number: c.opened, server: server}
	if c.sockets == nil {
		c.sockets = map[int]*socket{}
	}
	c.sockets[ns] = s
	return s, nil
}

// closeAll follows __res_iclose: it closes the sockets of all servers.
func (c *call) closeAll() {
	c.giveUp(0, probe.ReplyAbandoned)
	for ns := range c.r.conf.Nameservers {
		if s, ok := c.sockets[ns]; ok {
			c.n.Close(s.id)
			delete(c.sockets, ns)
		}
	}
}

// sent reports a transmission that was handed over at that time.
func (c *call) sent(at time.Time, ref probe.Ref, s *socket, t probe.Transport, id uint16) {
	if c.firstSent == nil {
		c.firstSent = map[waiting]time.Time{}
	}
	w := waiting{ref, s.number, id}
	if _, before := c.firstSent[w]; !before {
		c.firstSent[w] = at
	}
	c.flights = append(c.flights, flight{w, at})
	c.Sent(at, s.exchange(ref, t), id)
}

func (s *socket) exchange(ref probe.Ref, t probe.Transport) resolver.Exchange {
	return resolver.Exchange{Ref: ref, Server: s.server, Transport: t, Socket: s.id, Number: s.number}
}

// received reports a reply and what was made of it.
func (c *call) received(ref probe.Ref, s *socket, t probe.Transport, ev resolver.Event, use string) {
	at := c.Arrival(ev)
	w := waiting{ref, s.number, ev.Reply.ID}
	if first, ok := c.firstSent[w]; ok && at.Before(first) {
		// The kernel's clock of arrivals and ours differ by a little.
		at = first
	}
	if use != probe.UseIgnored {
		c.land(flight{w, at})
	}
	c.Received(at, s.exchange(ref, t), &ev.Reply, use)
}

// land takes what a reply can have answered off the list of flights. A reply that was there before glibc sent again and only
// then read does not answer what was sent last.
func (c *call) land(reply flight) {
	kept := c.flights[:0]
	for _, f := range c.flights {
		if f.waiting != reply.waiting || f.at.After(reply.at) {
			kept = append(kept, f)
		}
	}
	c.flights = kept
}

// giveUp reports the unanswered transmissions of a socket, or of all when it is 0.
func (c *call) giveUp(socket int, reason string) {
	kept := c.flights[:0]
	for _, f := range c.flights {
		if socket != 0 && f.socket != socket {
			kept = append(kept, f)
			continue
		}
		c.Lost(f.ref, f.socket, f.id, reason)
	}
	c.flights = kept
}

// poll waits for the next event on socket s; what comes on the others is kept for them, since glibc polls one socket only.
func (c *call) poll(s *socket, deadline time.Time) (resolver.Event, error) {
	if len(s.unread) > 0 {
		ev := s.unread[0]
		s.unread = s.unread[1:]
		return ev, nil
	}
	for {
		if err := c.ctx.Err(); err != nil {
			c.giveUp(0, probe.ReplyLost)
			return resolver.Event{}, err
		}
		ev, err := c.n.Poll(deadline)
		if err != nil {
			c.giveUp(0, probe.ReplyLost)
			return ev, err
		}
		if ev.Kind == resolver.EventDeadline || ev.Socket == s.id {
			return ev, nil
		}
		for _, other := range c.sockets {
			if other.id == ev.Socket && len(other.unread) < maxUnread {
				other.unread = append(other.unread, ev)
			}
		}
	}
}

// maxUnread bounds what is kept for a socket that is not looked at, as the kernel's receive buffer does.
const maxUnread = 256

// errnoOf returns the errno behind an error of a Network.
func errnoOf(err error) errno {
	switch {
	case err == nil:
		return errnoNone
	case errors.Is(err, resolver.ErrRefused):
		return errnoRefused
	case errors.Is(err, resolver.ErrReset):
		return errnoReset
	case errors.Is(err, resolver.ErrConnectTimedOut):
		return errnoTimedOut
	}
	return errnoOther
}

// connectFailed reports whether an error of Open is one of connect(), after which glibc goes on to the next server. Others
// keep this process, not glibc, from having a socket.
func connectFailed(err error) bool {
	for _, e := range []error{resolver.ErrUnreachable, resolver.ErrRefused, syscall.EADDRNOTAVAIL, syscall.EINVAL, syscall.ENETDOWN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
