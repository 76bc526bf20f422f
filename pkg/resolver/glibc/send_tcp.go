package glibc

import (
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// noDeadline: glibc waits for TCP as long as the kernel does.
var noDeadline time.Time

// askTCP follows send_vc: one connection, all queries in one write, replies matched by id alone, whatever their rcode. A
// connection that is reset is tried once more. It returns the length of the first reply; 0 means: try the next server.
func (x *exchange) askTCP(ns int) (int, error) {
	n, reset, err := x.connection(ns)
	if err == nil && reset {
		x.Note("%s reset the connection: glibc connects once more", x.r.conf.Nameservers[ns])
		n, _, err = x.connection(ns)
	}
	return n, err
}

// connection is one connection; reset tells that the server reset it while glibc was waiting for a length.
func (x *exchange) connection(ns int) (n int, reset bool, err error) {
	x.size, x.errno = 0, errnoNone
	s, err := x.openSocket(ns, probe.TCP)
	if err != nil {
		if connectFailed(err) {
			x.unreachable, x.terrno = true, errnoOf(err)
			return x.failed(), false, nil
		}
		return 0, false, err
	}
	ev, err := x.poll(s, noDeadline)
	if err != nil {
		return 0, false, err
	}
	if ev.Kind != resolver.EventConnected {
		x.unreachable, x.terrno = true, errnoOf(ev.Err)
		x.Note("connect to %s over tcp: %s", s.server, reasonOf(ev))
		return x.failed(), false, nil
	}
	now := x.n.Now()
	if err := x.n.Send(s.id, s.server, x.queries...); err != nil {
		x.unreachable, x.terrno = true, errnoOf(err)
		x.Note("%v: glibc goes on to the next server", err)
		return x.failed(), false, nil
	}
	for i, q := range x.queries {
		x.sent(now, x.ref(i), s, probe.TCP, q.ID)
	}
	return x.readReplies(s)
}

func reasonOf(ev resolver.Event) string {
	if ev.Err != nil {
		return ev.Err.Error()
	}
	return "the server closed the connection"
}

// readReplies reads until all queries are answered or the connection ends. An early end drops what came before it.
func (x *exchange) readReplies(s *socket) (n int, reset bool, err error) {
	answered := [2]bool{false, !x.pair()}
	for {
		ev, err := x.poll(s, noDeadline)
		if err != nil {
			return 0, false, err
		}
		switch ev.Kind {
		case resolver.EventReply:
		case resolver.EventError:
			x.terrno, x.unreachable = errnoOf(ev.Err), true
			x.giveUp(s.number, resolver.LostReason(ev.Err))
			return x.failed(), x.terrno == errnoReset, nil
		default:
			// errno is 0 at the end of a stream.
			x.terrno, x.unreachable = errnoNone, true
			x.giveUp(s.number, probe.ReplyClosed)
			return x.failed(), false, nil
		}
		reply := &ev.Reply
		if reply.Short {
			x.received(x.ref(0), s, probe.TCP, ev, probe.UseIgnored)
			x.terrno, x.silent = errnoMsgSize, true
			return x.failed(), false, nil
		}
		x.store(reply, answered[0] || x.pair() && answered[1])
		i := x.matchID(reply, answered)
		if i < 0 {
			x.received(x.ref(0), s, probe.TCP, ev, probe.UseIgnored)
			continue
		}
		x.received(x.ref(i), s, probe.TCP, ev, probe.UseAccepted)
		answered[i] = true
		if answered[0] && answered[1] {
			return x.size, false, nil
		}
	}
}

func (x *exchange) matchID(reply *resolver.Reply, answered [2]bool) int {
	for i, q := range x.queries {
		if !answered[i] && reply.ID == q.ID {
			return i
		}
	}
	return -1
}
