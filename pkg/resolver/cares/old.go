package cares

import (
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// old sends queries as 1.18 does (src/lib/ares_process.c of that version): one UDP socket for each server, kept through all
// tries, and the servers by turns.
type old struct{ *call }

// oldUDPBytes is PACKETSZ: a longer UDP reply counts as truncated.
const oldUDPBytes = 512

// ask follows ares_send.
func (o *old) ask(q *query) {
	q.server = o.r.lastServer
	if o.r.conf.Rotate {
		o.r.lastServer = (o.r.lastServer + 1) % len(o.r.servers)
	}
	q.skip, q.generations = make([]bool, len(o.r.servers)), make([]int, len(o.r.servers))
	q.status = connRefused
	o.send1(q, o.tick())
}

// send1 follows ares__send_query.
func (o *old) send1(q *query, now moment) {
	s := o.r.servers[q.server]
	if !o.write(s, q) {
		if o.failure == nil {
			o.skip(q, q.server)
			o.nextServer(q, now)
		}
		return
	}
	// The shift drops what an int cannot hold.
	millis := o.r.conf.TimeoutMillis
	if shift := q.tries / len(o.r.servers); shift < 31 && millis>>(31-shift) == 0 {
		millis <<= shift
	}
	q.sent, q.waiting = now, true
	q.deadline = now.add(time.Duration(millis) * time.Millisecond)
	o.r.ticks++
	q.deadline.last = o.r.ticks
	o.leave(q)
	s.queries = append(s.queries, q)
}

func (o *old) write(s *server, q *query) bool {
	if !q.tcp {
		if s.udp == nil {
			cn, ok := o.openSocket(s, probe.UDP)
			if !ok {
				return false
			}
			s.udp = cn
		}
		return o.send(s.udp, pending{q, q.msg})
	}
	if s.tcp == nil {
		cn, ok := o.openSocket(s, probe.TCP)
		if !ok {
			return false
		}
		o.r.generation++
		s.tcp, s.generation = cn, o.r.generation
	}
	s.tcp.out = append(s.tcp.out, pending{q, q.msg})
	q.generations[q.server] = s.generation
	if s.tcp.connected {
		o.flushOut(s)
	}
	return true
}

// flushOut follows write_tcp_data.
func (o *old) flushOut(s *server) {
	out := s.tcp.out
	s.tcp.out = nil
	out = slices.DeleteFunc(out, func(p pending) bool { return p.query.over })
	if len(out) > 0 && !o.send(s.tcp, out...) && o.failure == nil {
		o.serverError(s, probe.ReplyClosed)
	}
}

func (o *old) leave(q *query) {
	for _, s := range o.r.servers {
		s.queries = slices.DeleteFunc(s.queries, func(other *query) bool { return other == q })
	}
}

// skip follows skip_server: with one server there is no choice.
func (o *old) skip(q *query, server int) {
	if len(o.r.servers) > 1 {
		q.skip[server] = true
	}
}

// manyRounds tries that ask nothing take a time that is seen.
const manyRounds = 1_000_000

// nextServer follows next_server.
func (o *old) nextServer(q *query, now moment) {
	// The product is an int of 32 bits.
	most := int(int32(len(o.r.servers)) * int32(o.r.conf.Attempts))
	// Once no server of a whole round will do, none will in thousands of millions of further ones.
	last := min(most, q.tries+1+len(o.r.servers))
	for q.tries++; q.tries < last; q.tries++ {
		q.server = (q.server + 1) % len(o.r.servers)
		s := o.r.servers[q.server]
		if !s.broken && !q.skip[q.server] && (!q.tcp || q.generations[q.server] != s.generation) {
			if !o.exhausted(q) {
				o.send1(q, now)
			}
			return
		}
	}
	if most-last > manyRounds {
		o.Note("c-ares counts through %d further tries that ask nothing, which takes seconds that are left out here", most-last)
	}
	o.endQuery(q, q.status, nil)
}

// endQuery follows end_query. When the last query has ended all sockets are closed.
func (o *old) endQuery(q *query, st status, reply *resolver.Reply) {
	for _, s := range o.r.servers {
		if s.tcp != nil && st != success && slices.ContainsFunc(s.tcp.out, func(p pending) bool { return p.query == q }) {
			s.broken = true
		}
	}
	q.done(st, reply)
	o.leave(q)
	o.forget(q)
	if len(o.queries) == 0 {
		o.shut()
	}
}

// serverError follows handle_error: both sockets of the server go, and its queries move on.
func (o *old) serverError(s *server, reason string) {
	o.closeServer(s, reason)
	now := o.tick()
	queries := s.queries
	s.queries = nil
	for _, q := range queries {
		if o.failure != nil {
			return
		}
		o.skip(q, s.index)
		o.nextServer(q, now)
	}
}

// closeServer follows ares__close_sockets.
func (o *old) closeServer(s *server, reason string) {
	if s.broken = false; s.tcp != nil {
		o.closeSocket(s.tcp, reason)
		o.r.generation++
		s.tcp, s.generation = nil, o.r.generation
	}
	if s.udp != nil {
		o.closeSocket(s.udp, reason)
		s.udp = nil
	}
}

// shut closes all sockets.
func (o *old) shut() {
	for _, s := range o.r.servers {
		o.closeServer(s, probe.ReplyAbandoned)
		s.queries = nil
	}
}

// turn follows processfds: TCP before UDP, then timeouts, then connections that are of no more use.
func (o *old) turn() {
	deadline, waits := o.earliest()
	if !waits {
		o.failure = errIdle
		return
	}
	ev, ok := o.next(deadline, func(ev resolver.Event) bool {
		_, cn := o.find(ev.Socket)
		return cn != nil && cn.tcp
	})
	if o.failure != nil {
		o.giveUp(func(flight) bool { return true }, probe.ReplyLost)
		return
	}
	now := o.tick()
	until := now.at
	if ok {
		o.handle(ev, now)
	} else {
		until = until.Add(slack)
	}
	o.timeouts(now, until)
	for _, s := range o.r.servers {
		if s.broken && o.failure == nil {
			o.serverError(s, probe.ReplyAbandoned)
		}
	}
}

func (o *old) earliest() (time.Time, bool) {
	var first time.Time
	for _, q := range o.queries {
		if q.waiting && (first.IsZero() || q.deadline.at.Before(first)) {
			first = q.deadline.at
		}
	}
	return first, !first.IsZero()
}

func (o *old) find(id resolver.Socket) (*server, *conn) {
	for _, s := range o.r.servers {
		for _, cn := range []*conn{s.tcp, s.udp} {
			if cn != nil && cn.id == id {
				return s, cn
			}
		}
	}
	return nil, nil
}

func (o *old) handle(ev resolver.Event, now moment) {
	s, cn := o.find(ev.Socket)
	if s == nil {
		return
	}
	switch ev.Kind {
	case resolver.EventConnected:
		cn.connected = true
		o.flushOut(s)
	case resolver.EventReply:
		if ev.Reply.Size == 0 {
			// recvfrom returns 0, which 1.18 takes for an end.
			o.received(o.likely(cn, &ev.Reply), cn, ev, probe.UseRejected)
			o.serverError(s, probe.ReplyAbandoned)
			return
		}
		o.answer(s, cn, ev, now)
	case resolver.EventClosed:
		o.serverError(s, probe.ReplyClosed)
	default:
		o.serverError(s, resolver.LostReason(ev.Err))
	}
}

// timeouts follows process_timeouts, which goes through lists by the second.
func (o *old) timeouts(now moment, until time.Time) {
	for o.failure == nil && !o.done {
		var due *query
		for _, q := range o.queries {
			if !q.waiting || q.deadline.at.After(until) {
				continue
			}
			if due == nil || q.deadline.at.Unix() < due.deadline.at.Unix() ||
				q.deadline.at.Unix() == due.deadline.at.Unix() && q.deadline.last < due.deadline.last {
				due = q
			}
		}
		if due == nil {
			return
		}
		due.status = timedOut
		due.timeouts++
		o.giveUp(func(f flight) bool { return f.ref == due.ref && f.id == due.msg.ID }, probe.ReplyLost)
		o.nextServer(due, now)
	}
}

// answer follows process_answer.
func (o *old) answer(s *server, cn *conn, ev resolver.Event, now moment) {
	reply := &ev.Reply
	i := slices.IndexFunc(o.queries, func(q *query) bool { return q.msg.ID == reply.ID })
	if reply.Short || i < 0 || !sameQuestion(o.queries[i], reply) {
		o.received(o.likely(cn, reply), cn, ev, probe.UseIgnored)
		return
	}
	q := o.queries[i]
	if (reply.TC || reply.Size > oldUDPBytes) && !cn.tcp {
		if q.tcp {
			o.received(q.ref, cn, ev, probe.UseIgnored)
			return
		}
		o.received(q.ref, cn, ev, probe.UseAccepted)
		if !reply.TC {
			o.Note("c-ares before 1.22 asks again over TCP when a reply has more than %d bytes", oldUDPBytes)
		}
		q.tcp = true
		o.send1(q, now)
		return
	}
	if st := rejection(reply.Rcode); st != success {
		o.received(q.ref, cn, ev, probe.UseRejected)
		o.rejected = st
		o.skip(q, s.index)
		if q.server == s.index {
			o.nextServer(q, now)
		}
		return
	}
	o.received(q.ref, cn, ev, probe.UseAccepted)
	o.endQuery(q, success, reply)
}
