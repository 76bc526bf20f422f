package cares

import (
	"errors"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// errIdle: a call that is not done waits for nothing, which would be a mistake of ours.
var errIdle = errors.New("the call waits for nothing")

// turn follows ares_process_fds: one event, then timeouts, then sockets that nobody uses.
func (m *modern) turn() {
	first := m.earliest()
	if first == nil {
		m.failure = errIdle
		return
	}
	ev, ok := m.next(first.deadline.at, func(ev resolver.Event) bool { return ev.Kind == resolver.EventConnected })
	if m.failure != nil {
		m.giveUp(func(flight) bool { return true }, probe.ReplyLost)
		return
	}
	now := m.tick()
	if ok {
		m.handle(ev, now)
		m.timeouts(now, now.at)
	} else {
		m.timeouts(now, now.at.Add(slack))
	}
	m.cleanUp()
}

// earliest returns the query whose timeout comes first; among equals the one that was queued last.
func (m *modern) earliest() *query {
	var first *query
	for _, q := range m.queries {
		if q.waiting && (first == nil || before(q.deadline, first.deadline)) {
			first = q
		}
	}
	return first
}

func before(a, b moment) bool {
	switch {
	case !a.at.Equal(b.at):
		return a.at.Before(b.at)
	case a.tick != b.tick:
		return a.tick < b.tick
	}
	return a.last > b.last
}

func (m *modern) find(id resolver.Socket) *conn {
	for _, s := range m.r.servers {
		for _, cn := range s.conns {
			if cn.id == id {
				return cn
			}
		}
	}
	return nil
}

func (m *modern) handle(ev resolver.Event, now moment) {
	cn := m.find(ev.Socket)
	if cn == nil {
		return
	}
	switch ev.Kind {
	case resolver.EventConnected:
		cn.connected = true
		if !m.flushOut(cn) && m.failure == nil {
			m.connError(cn, connRefused, probe.ReplyClosed)
		}
	case resolver.EventReply:
		// What came before it was read is read together, and only then are queries ended or sent again.
		var list []deferred
		for ok := true; ok && m.failure == nil; ev, ok = m.alsoThere(cn, ev) {
			if !m.answer(cn, ev, now, &list) {
				m.connError(cn, badResp, probe.ReplyAbandoned)
				break
			}
		}
		m.flush(now, &list)
	case resolver.EventClosed:
		m.connError(cn, connRefused, probe.ReplyClosed)
	default:
		m.connError(cn, connRefused, resolver.LostReason(ev.Err))
	}
}

// alsoThere takes a further reply on the same socket off the unread events, one that came after ev. Replies of the same instant
// come one by one: that is what virtual time makes of replies that follow each other closely.
func (m *modern) alsoThere(cn *conn, ev resolver.Event) (resolver.Event, bool) {
	for i, other := range m.unread {
		if other.Socket == cn.id && other.Kind == resolver.EventReply && other.At.After(ev.At) {
			m.unread = slices.Delete(m.unread, i, i+1)
			return other, true
		}
	}
	return ev, false
}

// connError follows handle_conn_error for critical failures, and ares_close_connection.
func (m *modern) connError(cn *conn, st status, reason string) {
	m.failed(cn.server)
	m.closeConn(cn, st, reason)
}

func (m *modern) closeConn(cn *conn, st status, reason string) {
	s := cn.server
	s.conns = slices.DeleteFunc(s.conns, func(o *conn) bool { return o == cn })
	if s.tcp == cn {
		s.tcp = nil
	}
	m.closeSocket(cn, reason)
	now := m.tick()
	for len(cn.queries) > 0 && m.failure == nil {
		m.requeue(cn.queries[0], now, st, true, nil)
	}
}

// cleanUp follows ares_check_cleanup_conns.
func (m *modern) cleanUp() {
	for _, s := range m.r.servers {
		for _, cn := range slices.Clone(s.conns) {
			if len(cn.queries) == 0 && m.failure == nil {
				m.closeConn(cn, success, probe.ReplyAbandoned)
			}
		}
	}
}

// timeouts follows process_timeouts.
func (m *modern) timeouts(now moment, until time.Time) {
	var list []deferred
	for m.failure == nil && !m.done {
		q := m.earliest()
		if q == nil || q.deadline.at.After(until) {
			break
		}
		q.timeouts++
		cn := q.conn
		cn.retired = true
		m.giveUp(func(f flight) bool { return f.ref == q.ref && f.socket == cn.number && f.id == q.msg.ID }, probe.ReplyLost)
		m.failed(cn.server)
		m.requeue(q, now, timedOut, true, &list)
	}
	m.flush(now, &list)
}

// answer follows process_answer. false means that the connection has to go: c-ares takes nothing from one that brought a
// message which cannot be read.
func (m *modern) answer(cn *conn, ev resolver.Event, now moment, list *[]deferred) bool {
	reply := &ev.Reply
	if reply.Size == 0 {
		m.received(m.likely(cn, reply), cn, ev, probe.UseIgnored)
		return true
	}
	if reply.Short || reply.Malformed != nil || reply.QDCount != 1 {
		m.received(m.likely(cn, reply), cn, ev, probe.UseRejected)
		m.Note("c-ares cannot read a reply of %s, and turns away from the socket that it came on", cn.server.addr)
		return false
	}
	i := slices.IndexFunc(m.queries, func(q *query) bool { return q.msg.ID == reply.ID })
	if i < 0 || !sameQuestion(m.queries[i], reply) {
		m.received(m.likely(cn, reply), cn, ev, probe.UseIgnored)
		return true
	}
	q, s := m.queries[i], cn.server
	switch s.cookie.check(&q.msg, reply, now.at) {
	case drop:
		m.received(q.ref, cn, ev, probe.UseIgnored)
		m.Note("the cookie in a reply of %s is not the one that c-ares expects", s.addr)
		return true
	case askAgain:
		m.received(q.ref, cn, ev, probe.UseRejected)
		q.cookieTries++
		q.tcp = q.tcp || q.cookieTries >= maxCookieTries
		m.requeue(q, now, success, false, list)
		return true
	}
	if q.conn != nil {
		q.conn.queries = slices.DeleteFunc(q.conn.queries, func(o *query) bool { return o == q })
	}
	m.use(q, cn, ev, now, list)
	return true
}

// use decides about a reply that belongs to a query.
func (m *modern) use(q *query, cn *conn, ev resolver.Event, now moment, list *[]deferred) {
	reply, s := &ev.Reply, cn.server
	rcode := rcodeOf(reply)
	switch {
	case rcode == resolver.RcodeFormErr && q.msg.EDNSSize != 0 && (!reply.EDNS || len(q.msg.Cookie) > 0):
		m.received(q.ref, cn, ev, probe.UseRejected)
		m.Note("FORMERR to a query with an OPT record: c-ares asks %s again without one", s.addr)
		q.msg.EDNSSize, q.msg.Cookie = 0, nil
		m.detach(q)
		*list = append(*list, deferred{query: q, server: s})
		return
	case reply.TC && !cn.tcp:
		m.received(q.ref, cn, ev, probe.UseAccepted)
		q.tcp = true
		m.detach(q)
		*list = append(*list, deferred{query: q})
		return
	}
	if !validRcode(rcode) {
		rcode = resolver.RcodeServFail
	}
	if st := rejection(rcode); st != success && !m.r.channel.NoCheckResp {
		m.received(q.ref, cn, ev, probe.UseRejected)
		m.rejected = st
		m.failed(s)
		m.requeue(q, now, st, true, list)
		return
	}
	m.received(q.ref, cn, ev, probe.UseAccepted)
	m.good(s)
	m.endQuery(q, s, success, reply, list)
}

// validRcode follows ares_dns_rcode_isvalid: others count as SERVFAIL.
func validRcode(rcode int) bool { return rcode <= 11 || rcode >= 16 && rcode <= 23 }

// shut closes all sockets.
func (m *modern) shut() {
	for _, s := range m.r.servers {
		for _, cn := range s.conns {
			m.closeSocket(cn, probe.ReplyAbandoned)
		}
		s.conns, s.tcp, s.probing = nil, nil, false
	}
}
