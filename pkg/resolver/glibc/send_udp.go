package glibc

import (
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// slot is one run of send_dg: the queries of an exchange, sent to one server and waited for.
type slot struct {
	*exchange
	ns      int
	seconds int
	// sequential and reopen are single_request and single_request_reopen.
	sequential, reopen bool
	// gotBefore is gotsomewhere at the start, restored when the fallback starts over.
	gotBefore bool

	socket *socket
	// finish is when the slot is over; deadline is what the next poll waits for.
	finish, deadline time.Time
	// written counts queries sent; answered tells which of the two were answered. A lone query's other half counts as
	// answered from the start.
	written  int
	answered [2]bool
}

// verdict says what a step of send_dg leads to.
type verdict int

const (
	// wait goes on waiting.
	wait verdict = iota
	// done returns to the caller.
	done
	// again starts over with the same server, one mode slower.
	again
)

// askUDP follows send_dg. It returns the length of the first reply that counts; 0 with x.size2 0 means: try the next server.
func (x *exchange) askUDP(ns int) (int, error) {
	conf := &x.r.conf
	// res_send.c, "Compute time for the total operation": the attempt's number plays no role.
	seconds := conf.TimeoutSeconds << ns
	if ns > 0 {
		seconds /= len(conf.Nameservers)
	}
	reopen := conf.SingleRequestReopen || x.r.reopen
	d := &slot{
		exchange: x, ns: ns, seconds: max(seconds, 1), gotBefore: x.gotSomewhere,
		reopen: reopen, sequential: conf.SingleRequest || x.r.sequential || reopen,
	}
	// A reply that counted for an earlier server does not count for this one.
	x.size = 0
	for {
		n, v, err := d.run()
		if err != nil || v == done {
			return n, err
		}
	}
}

// run is what follows the label retry_reopen.
func (d *slot) run() (int, verdict, error) {
	if ok, err := d.connect(); err != nil || !ok {
		d.size2 = 0
		return 0, done, err
	}
	d.written, d.answered = 0, [2]bool{false, !d.pair()}
	now := d.n.Now()
	d.finish = now.Add(time.Duration(d.seconds) * time.Second)
	d.deadline = d.finish
	if !d.transmit() {
		return d.failed(), done, nil
	}
	for {
		ev, err := d.poll(d.socket, d.deadline)
		if err != nil {
			return 0, done, err
		}
		n, v, err := d.step(ev)
		if err != nil || v != wait {
			return n, v, err
		}
		// recompute_resend: the rest of the slot, in whole milliseconds.
		left := d.finish.Sub(d.n.Now())
		if left <= 0 {
			d.silent = true
			d.giveUp(d.socket.number, probe.ReplyLost)
			return d.failed(), done, nil
		}
		d.deadline = d.n.Now().Add(left.Truncate(time.Millisecond))
		if d.due() && !d.transmit() {
			return d.failed(), done, nil
		}
	}
}

// step handles what poll saw.
func (d *slot) step(ev resolver.Event) (int, verdict, error) {
	switch ev.Kind {
	case resolver.EventDeadline:
		n, v := d.timedOut()
		return n, v, nil
	case resolver.EventReply:
		return d.take(ev)
	default:
		d.unreachable = true
		d.giveUp(d.socket.number, resolver.LostReason(ev.Err))
		return d.failed(), done, nil
	}
}

// connect follows reopen: it opens the server's socket unless an earlier slot left it open.
func (d *slot) connect() (ok bool, err error) {
	if s, open := d.sockets[d.ns]; open {
		d.socket = s
		return true, nil
	}
	s, err := d.openSocket(d.ns, probe.UDP)
	switch {
	case err == nil:
		d.socket = s
		return true, nil
	case connectFailed(err):
		d.unreachable = true
		d.Note("%v: glibc goes on to the next server without a word", err)
		d.closeAll()
		return false, nil
	}
	return false, err
}

// due reports whether the second query of a sequential pair can go out now.
func (d *slot) due() bool {
	return d.pair() && d.sequential && d.written == 1 && (d.answered[0] || d.answered[1])
}

// transmit sends both queries of a pair, or the next one of a sequential pair. An ICMP error that came while nobody looked
// makes the system call fail, and nothing goes out.
func (d *slot) transmit() bool {
	for i, ev := range d.socket.unread {
		if ev.Kind != resolver.EventReply {
			d.socket.unread = append(d.socket.unread[:i], d.socket.unread[i+1:]...)
			d.unreachable = true
			d.Note("an ICMP error that came late makes glibc skip %s: sending fails", d.socket.server)
			return false
		}
	}
	// poll said that the socket can be written to, and send_dg then forgets earlier errors.
	d.errno = errnoNone
	first, last := d.written, d.written+1
	if d.pair() && !d.sequential {
		last = 2
	}
	// The time is taken before: a reply can be there before Send returns.
	now := d.n.Now()
	if err := d.n.Send(d.socket.id, d.socket.server, d.queries[first:last]...); err != nil {
		d.unreachable = true
		d.Note("%v: glibc goes on to the next server", err)
		return false
	}
	for i := first; i < last; i++ {
		d.sent(now, d.ref(i), d.socket, probe.UDP, d.queries[i].ID)
	}
	d.written = last
	return true
}

// timedOut follows what send_dg does when poll returned 0. After half a pair it asks the same server again, the queries one
// after the other, then on separate sockets, and remembers that for the calls to come.
func (d *slot) timedOut() (int, verdict) {
	d.giveUp(d.socket.number, probe.ReplyLost)
	half := d.answered[0] || d.pair() && d.answered[1]
	if d.size <= 1 || !half {
		d.silent = true
		d.gotSomewhere, d.size2 = true, 0
		return 0, done
	}
	switch {
	case !d.sequential:
		d.r.fallBack(&d.r.sequential)
		d.sequential, d.gotSomewhere = true, d.gotBefore
		d.Note("half of the pair was answered: glibc asks again, one query after the other, and keeps to that until resolv.conf is read again")
		return 0, again
	case !d.reopen:
		d.r.fallBack(&d.r.reopen)
		d.reopen, d.gotSomewhere = true, d.gotBefore
		d.Note("still only half of the pair: glibc asks once more, each query on its own socket")
		d.closeAll()
		return 0, again
	}
	d.size2 = 1
	d.Note("glibc gives up on the other half of the pair and takes what it has")
	return d.size, done
}

// fallBack sets a sticky fallback flag.
func (r *Resolver) fallBack(flag *bool) {
	*flag = true
	if !r.feat.separateFlags {
		// The flag is in _res.options, which then differ from the loaded ones.
		r.reloadStopped = true
	}
}

// take handles a datagram.
func (d *slot) take(ev resolver.Event) (int, verdict, error) {
	reply := &ev.Reply
	d.store(reply, d.answered[0] || d.pair() && d.answered[1])
	if reply.Size > 0 {
		d.gotSomewhere = true
	}
	if reply.Short {
		d.received(d.ref(0), d.socket, probe.UDP, ev, probe.UseIgnored)
		d.terrno, d.silent = errnoMsgSize, true
		return d.failed(), done, nil
	}
	i := d.match(reply)
	if i < 0 {
		d.received(d.ref(d.likely(reply)), d.socket, probe.UDP, ev, probe.UseIgnored)
		return 0, wait, nil
	}
	if outcome := rejection(reply); outcome != "" {
		d.received(d.ref(i), d.socket, probe.UDP, ev, probe.UseRejected)
		d.rejected = outcome
		n, v := d.reject(i)
		return n, v, nil
	}
	d.received(d.ref(i), d.socket, probe.UDP, ev, probe.UseAccepted)
	if reply.TC {
		d.tcp = true
		d.closeAll()
		d.size2 = 0
		return 1, done, nil
	}
	return d.accept(i)
}

// accept notes that query i is answered; in sequential mode the other one can go out now.
func (d *slot) accept(i int) (int, verdict, error) {
	d.answered[i] = true
	if d.answered[0] && d.answered[1] {
		return d.size, done, nil
	}
	if d.reopen {
		d.closeAll()
		if ok, err := d.connect(); err != nil || !ok {
			d.size2 = 0
			return 0, done, err
		}
	}
	if d.sequential {
		// Whatever was sent before, the second query goes out (again) now.
		d.written = 1
	}
	return 0, wait, nil
}

// reject follows the label next_ns: a rejected half never keeps the other half from counting, and never leads to another
// server when the other half counts.
func (d *slot) reject(i int) (int, verdict) {
	if d.r.conf.StrictError {
		return d.failed(), done
	}
	if d.answered[0] || d.pair() && d.answered[1] {
		d.size2 = 0
		return d.size, done
	}
	if d.pair() && (!d.sequential || !d.r.feat.sequentialReject) {
		d.size = 0
		d.answered[i] = true
		if d.sequential {
			// Before 2.41 nothing sends the second query: the slot runs out.
			d.written = 2
		}
		return 0, wait
	}
	return d.failed(), done
}

// match returns which unanswered query a reply belongs to, by id and question, or -1.
func (d *slot) match(reply *resolver.Reply) int {
	bare := d.r.feat.headerOnly && reply.Size == headerBytes && reply.QDCount == 0 && isError(reply.Rcode)
	found := -1
	for i, q := range d.queries {
		if !d.answered[i] && reply.ID == q.ID && (bare || sameQuestion(reply, q)) {
			found = i
		}
	}
	return found
}

// likely returns the query that a spurious reply looks like.
func (d *slot) likely(reply *resolver.Reply) int {
	for i, q := range d.queries {
		if reply.ID == q.ID {
			return i
		}
	}
	for i, q := range d.queries {
		if len(reply.Questions) > 0 && reply.Questions[0].Type == resolver.TypeNumber(q.Type) {
			return i
		}
	}
	return 0
}

// sameQuestion follows __libc_res_queriesmatch. A question that cannot be read counts as the same, as there.
func sameQuestion(reply *resolver.Reply, q resolver.Query) bool {
	if reply.QDCount != 1 {
		return false
	}
	if len(reply.Questions) == 0 {
		// The name ends in the middle: whatever the buffer held before is read. Broken in itself: a match.
		return reply.Size > headerBytes+minQuestionBytes
	}
	question := reply.Questions[0]
	return question.Type == resolver.TypeNumber(q.Type) && question.Class == resolver.ClassIN && resolver.SameName(question.Name, q.Name)
}

// minQuestionBytes is a question about the root.
const minQuestionBytes = 5

func isError(rcode int) bool {
	return rcode == resolver.RcodeServFail || rcode == resolver.RcodeNotImp || rcode == resolver.RcodeRefused
}

// rejection says why a reply counts as none, empty when it counts. Lame: an empty answer of a server that neither knows nor
// asks others.
func rejection(r *resolver.Reply) probe.Outcome {
	switch {
	case r.Rcode == resolver.RcodeServFail:
		return probe.ServFail
	case r.Rcode == resolver.RcodeNotImp:
		return probe.NotImp
	case r.Rcode == resolver.RcodeRefused:
		return probe.Refused
	case r.Rcode == resolver.RcodeNoError && r.ANCount == 0 && !r.AA && !r.RA && r.ARCount == 0:
		return probe.Lame
	}
	return ""
}
