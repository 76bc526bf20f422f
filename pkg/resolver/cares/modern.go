package cares

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// modern sends queries as 1.34 does (src/lib/ares_process.c).
type modern struct{ *call }

// Numbers of ares_private.h.
const (
	maxFailures  = 16
	probeChance  = 10
	probeBackoff = 5 * time.Second
)

// deferred is an entry of the requeue list: a query to send again, or to end.
type deferred struct {
	query  *query
	server *server
	end    bool
	status status
	reply  *resolver.Reply
}

// ask follows ares_send_nolock.
func (m *modern) ask(q *query) { m.start(q, nil) }

func (m *modern) start(q *query, to *server) { m.dispatch(q, to, m.tick()) }

// dispatch follows ares_send_query.
func (m *modern) dispatch(q *query, to *server, now moment) {
	var list []deferred
	m.send1(q, to, now, &list)
	m.flush(now, &list)
}

// flush follows ares_flush_requeue.
func (m *modern) flush(now moment, list *[]deferred) {
	for len(*list) > 0 && m.failure == nil {
		d := (*list)[0]
		*list = (*list)[1:]
		switch {
		case d.query.over:
		case d.end:
			m.forget(d.query)
			d.query.done(d.status, d.reply)
		default:
			m.send1(d.query, d.server, now, list)
		}
	}
}

// send1 follows ares_send_query_int.
func (m *modern) send1(q *query, to *server, now moment, list *[]deferred) {
	s := to
	switch {
	case s == nil && m.r.conf.Rotate:
		s = m.randomServer()
	case s == nil:
		s = m.r.servers[0]
	}
	probes := to == nil && q.tries == 0
	cn := m.fetch(s, q)
	if cn == nil {
		var ok bool
		if cn, ok = m.connect(s, q.tcp); !ok {
			if m.failure == nil {
				m.failed(s)
				m.requeue(q, now, connRefused, true, list)
			}
			return
		}
	}
	if !m.write(cn, q, now) {
		if m.failure == nil {
			m.connError(cn, connRefused, probe.ReplyICMPRefused)
			m.requeue(q, now, connRefused, true, list)
		}
		return
	}
	q.sent, q.waiting, q.conn = now, true, cn
	q.deadline = now.add(m.timeout(q, s, now))
	m.r.ticks++
	q.deadline.last = m.r.ticks
	cn.queries = append(cn.queries, q)
	if probes {
		m.probe(s, q)
	}
}

// fetch follows ares_fetch_connection.
func (m *modern) fetch(s *server, q *query) *conn {
	if q.tcp {
		return s.tcp
	}
	if len(s.conns) == 0 || s.conns[0].tcp || s.conns[0].retired {
		return nil
	}
	return s.conns[0]
}

func (m *modern) connect(s *server, tcp bool) (*conn, bool) {
	if tcp {
		cn, ok := m.openSocket(s, probe.TCP)
		if ok {
			s.conns, s.tcp = append(s.conns, cn), cn
		}
		return cn, ok
	}
	cn, ok := m.openSocket(s, probe.UDP)
	if ok {
		s.conns = slices.Insert(s.conns, 0, cn)
	}
	return cn, ok
}

// write follows ares_conn_query_write. With TCP fast open the handshake begins with the first write, which fails at once where
// the answer to it is there at once.
func (m *modern) write(cn *conn, q *query, now moment) bool {
	if m.r.feat.cookies {
		cn.server.cookie.apply(&q.msg, cn.tcp, now.at, m.n.Random16)
	}
	p := pending{q, q.msg}
	if !cn.tcp {
		return m.send(cn, p)
	}
	cn.out = append(cn.out, p)
	if m.drain(); m.failure != nil {
		return false
	}
	if _, failed := m.takeError(cn); failed {
		return false
	}
	for i, ev := range m.unread {
		if ev.Socket == cn.id && ev.Kind == resolver.EventConnected {
			m.unread = slices.Delete(m.unread, i, i+1)
			cn.connected = true
			break
		}
	}
	return !cn.connected || m.flushOut(cn)
}

func (m *modern) flushOut(cn *conn) bool {
	out := cn.out
	cn.out = nil
	return len(out) == 0 || m.send(cn, out...)
}

// timeout follows ares_calc_query_timeout: it doubles with every round over the servers, and from the second round on a part
// of it up to a half is taken off by chance.
func (m *modern) timeout(q *query, s *server, now moment) time.Duration {
	base := s.metrics.timeout(now.at, m.r.conf.TimeoutMillis)
	rounds := q.tries / len(m.r.servers)
	if rounds == 0 {
		return base
	}
	millis := float32(base.Milliseconds()) * float32(math.Pow(2, float64(min(rounds, 30))))
	millis -= millis * (float32(m.n.Random16()) / math.MaxUint16 * 0.5)
	return max(base, time.Duration(min(float64(millis), math.MaxInt32))*time.Millisecond)
}

// requeue follows ares_requeue_query: it tries again unless all tries are used up. With no list that happens at once.
func (m *modern) requeue(q *query, now moment, st status, counts bool, list *[]deferred) {
	var s *server
	if q.conn != nil {
		s = q.conn.server
	}
	m.detach(q)
	if st != success {
		q.status = st
	}
	if counts {
		q.tries++
	}
	if q.tries < len(m.r.servers)*m.r.conf.Attempts && !q.noRetries {
		if m.exhausted(q) {
			return
		}
		if list == nil {
			m.dispatch(q, nil, now)
			return
		}
		*list = append(*list, deferred{query: q})
		return
	}
	if q.status == success {
		q.status = timedOut
	}
	m.endQuery(q, s, q.status, nil, list)
}

// detach follows ares_query_remove_from_conn.
func (m *modern) detach(q *query) {
	if q.conn != nil {
		q.conn.queries = slices.DeleteFunc(q.conn.queries, func(o *query) bool { return o == q })
	}
	q.conn, q.waiting = nil, false
}

// endQuery follows end_query.
func (m *modern) endQuery(q *query, s *server, st status, reply *resolver.Reply, list *[]deferred) {
	if s != nil {
		s.probing = false
		if st == success && (rcodeOf(reply) == resolver.RcodeNoError || rcodeOf(reply) == resolver.RcodeNXDomain) {
			s.metrics.record(m.n.Now(), m.n.Now().Sub(q.sent.at))
		}
	}
	m.detach(q)
	if list != nil {
		*list = append(*list, deferred{query: q, end: true, status: st, reply: reply})
		return
	}
	m.forget(q)
	q.done(st, reply)
}

// failed follows server_increment_failures: the server goes behind those with fewer failures in a row.
func (m *modern) failed(s *server) {
	s.failures = min(s.failures+1, maxFailures)
	s.nextRetry = m.tick().add(probeBackoff)
	m.order()
}

// good follows server_set_good.
func (m *modern) good(s *server) {
	if s.failures > 0 {
		s.failures, s.nextRetry = 0, moment{}
		m.order()
	}
}

// order follows server_sort_cb.
func (m *modern) order() {
	slices.SortFunc(m.r.servers, func(a, b *server) int {
		return cmp.Or(cmp.Compare(a.failures, b.failures), a.nextRetry.at.Compare(b.nextRetry.at),
			cmp.Compare(a.nextRetry.tick, b.nextRetry.tick), cmp.Compare(a.index, b.index))
	})
}

// randomServer follows ares_random_server: one of those with the fewest failures.
func (m *modern) randomServer() *server {
	best := 0
	for best < len(m.r.servers) && m.r.servers[best].failures == m.r.servers[0].failures {
		best++
	}
	return m.r.servers[int(m.n.Random16()&0xff)%best]
}

// probe follows ares_probe_failed_server: once in ten times the query is also sent to a server that failed, to see whether it
// is back. Nothing waits for that.
func (m *modern) probe(used *server, q *query) {
	if m.r.servers[len(m.r.servers)-1].failures == 0 || m.n.Random16()%probeChance != 0 {
		return
	}
	now := m.n.Now()
	for _, s := range m.r.servers {
		if s == used || s.failures == 0 || s.probing || now.Before(s.nextRetry.at) {
			continue
		}
		s.probing = true
		m.Note("by chance c-ares also asks %s, which failed before", s.addr)
		p := &query{msg: q.msg, ref: q.ref, tcp: false, noRetries: true, done: func(status, *resolver.Reply) {}}
		p.msg.ID = m.uniqueID()
		m.queries = append(m.queries, p)
		m.start(p, s)
		return
	}
}
