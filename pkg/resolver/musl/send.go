package musl

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// state is what alens[i] of __res_msend_rc tells about a query.
type state int

const (
	// waiting: 0.
	waiting state = iota
	// onTCP: -1.
	onTCP
	// answered: the length of the reply.
	answered
)

// asked is a query of an exchange and what became of it.
type asked struct {
	resolver.Query
	ref   probe.Ref
	state state
	reply resolver.Reply
	// rejected is the newest outcome that a reply told which did not count.
	rejected probe.Outcome
	// stream is the TCP connection of the query, nil without one.
	stream *stream
}

// exchange is one run of __res_msend_rc: the queries of a candidate, sent to all servers at once and again, until each has a reply
// or the time is over.
type exchange struct {
	*call
	conf    *resolvconf.Config
	servers []netip.AddrPort
	queries []asked
	udp     *socket
	// next is the first query without a reply; those before it are not looked for any more, and when it is past the last one,
	// UDP is not read.
	next int
	// servfails is how many SERVFAIL replies are still followed by another try at once.
	servfails int
	silent    bool
	// refused servers are not named twice.
	unsendable map[netip.AddrPort]bool
}

// port is where name servers listen.
const port = 53

func newExchange(c *call, attempt int, queries []resolver.Query, conf *resolvconf.Config) *exchange {
	x := &exchange{call: c, conf: conf, unsendable: map[netip.AddrPort]bool{}}
	for _, a := range conf.Nameservers {
		x.servers = append(x.servers, netip.AddrPortFrom(a, port))
	}
	for _, q := range queries {
		x.queries = append(x.queries, asked{Query: q, ref: probe.Ref{Attempt: attempt, Type: q.Type}})
	}
	return x
}

// errNoSocket: musl gets no socket for its servers.
var errNoSocket = errors.New("no socket can be had for these servers")

// openUDP opens the one socket for all servers. It is one for IPv6, with IPv4 addresses mapped, as soon as one server has an IPv6
// address.
func (x *exchange) openUDP() error {
	first, ipv4 := x.servers[0], -1
	for i, s := range x.servers {
		if s.Addr().Is6() && !first.Addr().Is6() {
			first = s
		}
		if ipv4 < 0 && s.Addr().Is4() {
			ipv4 = i
		}
	}
	var err error
	x.udp, err = x.openSocket(probe.UDP, first)
	if !errors.Is(err, syscall.EAFNOSUPPORT) || !first.Addr().Is6() {
		return err
	}
	if !x.r.feat.tcp || ipv4 < 0 {
		// Before 1.2.4 the fallback to IPv4 fails at bind.
		return errNoSocket
	}
	x.Note("there is no IPv6 here: musl asks the IPv4 servers only")
	x.udp, err = x.openSocket(probe.UDP, x.servers[ipv4])
	return err
}

// send follows the loop of __res_msend_rc. Times are whole milliseconds, as musl reads them.
func (x *exchange) send() error {
	if err := x.openUDP(); err != nil {
		return err
	}
	if x.conf.Attempts == 0 {
		return errDies
	}
	defer x.closeAll(probe.ReplyAbandoned)
	timeout := int64(x.conf.TimeoutSeconds) * 1000
	interval := timeout / int64(x.conf.Attempts)
	if timeout == 0 {
		x.Note("timeout:0 makes musl send nothing")
	}
	base := x.n.Now()
	clock := func() int64 { return x.n.Now().Sub(base).Milliseconds() }
	last := -interval
	for now := int64(0); now < timeout; now = clock() {
		if now-last >= interval {
			x.lose(waiting)
			x.round()
			last = now
			x.servfails = 2 * len(x.queries)
		}
		ev, err := x.poll(time.Duration(last+interval-now) * time.Millisecond)
		if err != nil {
			return err
		}
		if over := x.step(ev); over || x.done() {
			return nil
		}
	}
	x.silent = timeout > 0
	x.lose(waiting, onTCP)
	return nil
}

// done reports whether every query has its reply.
func (x *exchange) done() bool {
	for _, q := range x.queries {
		if q.state != answered {
			return false
		}
	}
	return true
}

// lose reports what was sent for the queries in one of these states and not answered.
func (x *exchange) lose(states ...state) {
	lost := map[probe.Ref]bool{}
	for _, q := range x.queries {
		lost[q.ref] = slices.Contains(states, q.state)
	}
	x.giveUp(func(f flight) bool { return lost[f.ref] }, probe.ReplyLost)
}

// round sends every query without a reply to every server.
func (x *exchange) round() {
	for i := range x.queries {
		if x.queries[i].state != waiting {
			continue
		}
		for _, server := range x.servers {
			x.transmit(&x.queries[i], server)
		}
	}
}

// transmit sends a query to a server. musl does not look at the result.
func (x *exchange) transmit(q *asked, server netip.AddrPort) {
	// The time is taken before: a reply can be there before Send returns.
	now := x.n.Now()
	if err := x.n.Send(x.udp.id, server, q.Query); err != nil {
		if !x.unsendable[server] {
			x.Note("%v: musl does not notice and waits for a reply", err)
		}
		x.unsendable[server] = true
		return
	}
	x.sent(now, q.ref, x.udp, server, q.ID)
}

// step handles what poll saw. over ends the exchange without the replies that are missing.
func (x *exchange) step(ev resolver.Event) (over bool) {
	if ev.Kind == resolver.EventDeadline {
		return false
	}
	if ev.Socket == x.udp.id {
		if ev.Kind == resolver.EventReply {
			x.datagram(ev)
		}
		return false
	}
	for i := range x.queries {
		if s := x.queries[i].stream; s != nil && s.id == ev.Socket {
			return x.streamed(&x.queries[i], ev)
		}
	}
	return false
}

// datagram handles a reply over UDP. It belongs to a query by its id alone; the question is not looked at.
func (x *exchange) datagram(ev resolver.Event) {
	if x.next == len(x.queries) {
		return
	}
	reply := &ev.Reply
	q := x.match(reply.ID)
	server, known := x.server(ev.From)
	if reply.Short || !known || q == nil || q.state != waiting {
		x.ignore(q, ev)
		return
	}
	switch reply.Rcode {
	case resolver.RcodeNoError, resolver.RcodeNXDomain:
	default:
		x.received(q.ref, x.udp, server, ev, probe.UseRejected)
		q.rejected = resolver.RcodeOutcome(reply.Rcode)
		if reply.Rcode == resolver.RcodeServFail && x.servfails > 0 {
			x.servfails--
			x.transmit(q, server)
		}
		return
	}
	x.received(q.ref, x.udp, server, ev, probe.UseAccepted)
	truncated := reply.TC || reply.Size > x.r.feat.buffer
	if x.r.feat.tcp && truncated {
		q.state = onTCP
		x.startTCP(q, server)
	} else {
		q.state, q.reply = answered, *reply
		if truncated {
			x.noteCut(q)
		}
	}
	for x.next < len(x.queries) && x.queries[x.next].state != waiting {
		x.next++
	}
}

// noteCut says what becomes of a truncated reply before 1.2.4.
func (x *exchange) noteCut(q *asked) {
	if q.reply.Size > x.r.feat.buffer {
		x.Note("the %s reply has %d bytes: musl before 1.2.4 reads the first %d of them", q.Type, q.reply.Size, x.r.feat.buffer)
		return
	}
	x.Note("the %s reply is truncated: musl before 1.2.4 takes it as it is", q.Type)
}

// match returns the query with this id, of those from the first one on that has no reply.
func (x *exchange) match(id uint16) *asked {
	for i := x.next; i < len(x.queries); i++ {
		if x.queries[i].ID == id {
			return &x.queries[i]
		}
	}
	return nil
}

// server returns the first server with the address of a sender, as the settings have it.
func (x *exchange) server(from netip.AddrPort) (netip.AddrPort, bool) {
	sender := from.Addr().Unmap()
	for _, s := range x.servers {
		a := s.Addr().Unmap()
		same := a == sender
		if sender.IsLinkLocalUnicast() {
			// A zone can be written as a name or as a number.
			same = a.WithZone("") == sender.WithZone("")
		}
		if same && s.Port() == from.Port() {
			return s, true
		}
	}
	return from, false
}

// ignore reports a reply that musl takes no notice of. q is nil where its id is no query's.
func (x *exchange) ignore(q *asked, ev resolver.Event) {
	if q == nil {
		q = &x.queries[x.likely(&ev.Reply)]
	}
	server, _ := x.server(ev.From)
	x.received(q.ref, x.udp, server, ev, probe.UseIgnored)
}

// likely returns the query that a spurious reply looks like.
func (x *exchange) likely(reply *resolver.Reply) int {
	for i, q := range x.queries {
		if reply.ID == q.ID || len(reply.Questions) > 0 && reply.Questions[0].Type == resolver.TypeNumber(q.Type) &&
			strings.EqualFold(reply.Questions[0].Name, q.Name) {
			return i
		}
	}
	return 0
}
