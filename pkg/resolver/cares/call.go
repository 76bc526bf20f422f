package cares

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// transport is how queries are sent, and sent again.
type transport interface {
	// ask sends a query for the first time; done is called once, maybe at once.
	ask(q *query)
	// turn waits for something and handles it.
	turn()
	// shut closes all sockets.
	shut()
}

// call is one ares_getaddrinfo call under way.
type call struct {
	resolver.Trace
	ctx       context.Context
	n         resolver.Network
	r         *Resolver
	req       resolver.Request
	transport transport
	lookup    lookup
	queries   []*query

	// rejected is the last reply that led to another try in this attempt.
	rejected status
	// firstSent has when a query first went out on a socket.
	firstSent map[waiting]moment
	flights   []flight
	opened    int
	// unread are events that came while something was sent.
	unread []resolver.Event

	done       bool
	failure    error
	status     status
	addresses  []netip.Addr
	canonical  string
	decided    int
	answeredBy string
}

// query is a question under way.
type query struct {
	msg  resolver.Query
	ref  probe.Ref
	done func(status, *resolver.Reply)
	over bool

	tries, timeouts int
	tcp             bool
	// status is error_status: what the query ends with when all tries are used up.
	status status
	// waiting tells that deadline counts; sent is when the last message went out.
	waiting        bool
	sent, deadline moment
	conn           *conn

	// noRetries: the next failure is the last. cookieTries counts replies that wanted another cookie. Both are of 1.34.
	noRetries   bool
	cookieTries int

	// What 1.18 keeps.
	server      int
	skip        []bool
	generations []int
}

// server is one name server.
type server struct {
	addr  netip.AddrPort
	index int

	// What 1.34 keeps: sockets (UDP with the newest first), failures in a row, when it may be probed, cookie, latencies.
	conns     []*conn
	failures  int
	nextRetry moment
	probing   bool
	cookie    cookie
	metrics   metrics

	// What 1.18 keeps.
	udp, tcp   *conn
	generation int
	broken     bool
	queries    []*query
}

// conn is an open socket.
type conn struct {
	id     resolver.Socket
	number int
	server *server
	tcp    bool
	// connected is for TCP; retired sockets take no new queries.
	connected, retired, closed bool
	queries                    []*query
	// out waits for the TCP connection to stand.
	out []pending
}

// pending is a message in front of a connection; query is whose it is.
type pending struct {
	query *query
	msg   resolver.Query
}

// moment is a time, with a number that orders what happens at the same time: real clocks go on between two steps, virtual ones
// do not. Later is the order among equals that c-ares's lists have.
type moment struct {
	at         time.Time
	tick, last int
}

// tick returns the current time as a step of its own.
func (c *call) tick() moment {
	c.r.ticks++
	return moment{at: c.n.Now(), tick: c.r.ticks}
}

func (m moment) add(d time.Duration) moment { m.at = m.at.Add(d); return m }

func (c *call) beginAttempt(name string, origin probe.Origin, index int) int {
	c.rejected = success
	return c.BeginAttempt(name, origin, index)
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

// openSocket opens a socket. ok is false when the system call fails as c-ares expects it to; other errors end the call.
func (c *call) openSocket(s *server, t probe.Transport) (cn *conn, ok bool) {
	id, err := c.n.Open(t, s.addr, resolver.OpenOptions{Connected: true, HardErrorsOnly: true})
	switch {
	case err == nil:
	case openFailed(err):
		c.Note("%v: c-ares goes on as if the server had refused", err)
		return nil, false
	default:
		c.failure = err
		return nil, false
	}
	c.opened++
	return &conn{id: id, number: c.opened, server: s, tcp: t == probe.TCP}, true
}

// openFailed reports whether an error of Open is one of socket() or connect() that c-ares takes as the server's.
func openFailed(err error) bool {
	for _, e := range []error{
		resolver.ErrUnreachable, resolver.ErrRefused, syscall.EADDRNOTAVAIL, syscall.EINVAL, syscall.ENETDOWN, syscall.EAFNOSUPPORT,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// closeSocket closes a socket and forgets what came on it.
func (c *call) closeSocket(cn *conn, reason string) {
	cn.closed = true
	c.giveUp(func(f flight) bool { return f.socket == cn.number }, reason)
	c.n.Close(cn.id)
	c.unread = slices.DeleteFunc(c.unread, func(ev resolver.Event) bool { return ev.Socket == cn.id })
}

// maxTries bounds the messages of one query: settings can ask for thousands of millions.
const maxTries = 1000

// maxUnsent bounds the tries of one query where they send no message, as long as connections are refused.
const maxUnsent = 2 * maxTries

// exhausted ends the call when a query has been tried too often. It returns true when the query must not be tried again.
func (c *call) exhausted(q *query) bool {
	switch {
	case q.tries <= maxUnsent:
		return false
	case c.done:
		return true
	}
	c.Note("stopped after %d tries for one query, most of which sent nothing; c-ares would go on", q.tries)
	c.EndLast(probe.Timeout)
	c.finish(timedOut)
	return true
}

// send hands messages over and reports them. false means that the system call failed, maybe for an earlier message: an ICMP
// error that came meanwhile makes the next send fail.
func (c *call) send(cn *conn, messages ...pending) bool {
	if !cn.tcp {
		c.drain()
		if ev, ok := c.takeError(cn); ok {
			c.Note("sending to %s fails: %v came before", cn.server.addr, ev.Err)
			return false
		}
	}
	now := c.n.Now()
	queries := make([]resolver.Query, len(messages))
	for i, m := range messages {
		queries[i] = m.msg
		if c.Tries(m.query.ref) >= maxTries {
			c.Note("stopped after %d messages for one query; c-ares would go on", maxTries)
			c.EndLast(probe.Timeout)
			c.finish(timedOut)
			return true
		}
	}
	if err := c.n.Send(cn.id, cn.server.addr, queries...); err != nil {
		c.Note("%v", err)
		return false
	}
	for _, m := range messages {
		c.sent(now, m.query.ref, cn, m.msg.ID)
	}
	return true
}

func (c *call) sent(at time.Time, ref probe.Ref, cn *conn, id uint16) {
	w := waiting{ref, cn.number, id}
	if _, before := c.firstSent[w]; !before {
		c.firstSent[w] = moment{at: at}
	}
	c.flights = append(c.flights, flight{w, at})
	c.Sent(at, cn.exchange(ref), id)
}

func (cn *conn) exchange(ref probe.Ref) resolver.Exchange {
	x := resolver.Exchange{Ref: ref, Server: cn.server.addr, Transport: probe.UDP, Socket: cn.id, Number: cn.number}
	if cn.tcp {
		x.Transport = probe.TCP
	}
	return x
}

// received reports a reply and what was made of it.
func (c *call) received(ref probe.Ref, cn *conn, ev resolver.Event, use string) {
	at := c.Arrival(ev)
	w := waiting{ref, cn.number, ev.Reply.ID}
	if first, ok := c.firstSent[w]; ok && at.Before(first.at) {
		// The kernel's clock of arrivals and ours differ by a little.
		at = first.at
	}
	if use != probe.UseIgnored {
		c.flights = slices.DeleteFunc(c.flights, func(f flight) bool { return f.waiting == w && !f.at.After(at) })
	}
	c.Received(at, cn.exchange(ref), &ev.Reply, use)
}

// giveUp reports transmissions that nothing will come of.
func (c *call) giveUp(which func(flight) bool, reason string) {
	var kept []flight
	for _, f := range c.flights {
		if !which(f) {
			kept = append(kept, f)
			continue
		}
		c.Lost(f.ref, f.socket, f.id, reason)
	}
	c.flights = kept
}

// likely returns the query that a message looks like which belongs to none.
func (c *call) likely(cn *conn, reply *resolver.Reply) probe.Ref {
	ref := probe.Ref{Attempt: c.Attempts(), Type: probe.TypeA}
	if len(c.queries) > 0 {
		ref = c.queries[0].ref
	}
	for _, f := range c.flights {
		if f.socket == cn.number {
			ref = f.ref
		}
	}
	for _, q := range c.queries {
		if q.msg.ID == reply.ID {
			return q.ref
		}
	}
	return ref
}

// maxUnread bounds what is kept while something is sent, as the kernel's receive buffers do.
const maxUnread = 1024

// drain takes in what is there already.
func (c *call) drain() {
	for len(c.unread) < maxUnread && c.failure == nil {
		ev, err := c.n.Poll(c.n.Now())
		if err != nil {
			c.failure = err
			return
		}
		if ev.Kind == resolver.EventDeadline {
			return
		}
		c.unread = append(c.unread, ev)
	}
}

// takeError takes an error of a socket off the unread events.
func (c *call) takeError(cn *conn) (resolver.Event, bool) {
	for i, ev := range c.unread {
		if ev.Socket == cn.id && ev.Kind == resolver.EventError {
			c.unread = slices.Delete(c.unread, i, i+1)
			return ev, true
		}
	}
	return resolver.Event{}, false
}

// next returns the next event; of those that are there together first one that prefers likes. ok is false when the deadline
// came first or the call failed. A deadline of 0 is none.
func (c *call) next(deadline time.Time, prefers func(resolver.Event) bool) (ev resolver.Event, ok bool) {
	if err := c.ctx.Err(); err != nil {
		c.failure = err
		return ev, false
	}
	if len(c.unread) == 0 {
		ev, err := c.n.Poll(deadline)
		if err != nil {
			c.failure = err
			return ev, false
		}
		if ev.Kind == resolver.EventDeadline {
			return ev, false
		}
		c.unread = append(c.unread, ev)
	}
	if c.drain(); c.failure != nil {
		return ev, false
	}
	i := max(0, slices.IndexFunc(c.unread, prefers))
	ev = c.unread[i]
	c.unread = slices.Delete(c.unread, i, i+1)
	return ev, true
}

// uniqueID returns an id that no query under way has.
func (c *call) uniqueID() uint16 {
	for {
		id := c.n.Random16()
		if !slices.ContainsFunc(c.queries, func(q *query) bool { return q.msg.ID == id }) {
			return id
		}
	}
}

func (c *call) forget(q *query) {
	q.over, q.waiting = true, false
	c.queries = slices.DeleteFunc(c.queries, func(o *query) bool { return o == q })
}

// sameQuestion reports whether a reply repeats the question of a query.
func sameQuestion(q *query, r *resolver.Reply) bool {
	if r.QDCount != 1 || len(r.Questions) != 1 {
		return false
	}
	question := r.Questions[0]
	if question.Type != resolver.TypeNumber(q.msg.Type) || question.Class != resolver.ClassIN {
		return false
	}
	// Names that are a little too long are sent, too, and are none to SameName.
	return resolver.SameName(question.Name, q.msg.Name) || resolver.EqualFoldASCII(question.Name, q.msg.Name)
}

// slack is the resolution of event loops: queries whose timeouts lie closer together end in one step.
const slack = time.Millisecond
