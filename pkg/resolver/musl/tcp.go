package musl

import (
	"errors"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// stream is the TCP connection of one query.
type stream struct {
	*socket
	server netip.AddrPort
}

// startTCP connects to the server whose reply was truncated. The deadline of the exchange goes on.
func (x *exchange) startTCP(q *asked, server netip.AddrPort) {
	s, err := x.openSocket(probe.TCP, server)
	if err != nil {
		// musl forgets the query: it is neither sent again nor answered until the time is over.
		x.Note("%v: musl waits for a connection that it has not", err)
		q.rejected = probe.Unreachable
		return
	}
	q.stream = &stream{s, server}
}

// streamed handles what happens on a query's connection. Whatever goes wrong there ends the exchange at once, also for the other query.
func (x *exchange) streamed(q *asked, ev resolver.Event) (over bool) {
	s := q.stream
	switch ev.Kind {
	case resolver.EventConnected:
		now := x.n.Now()
		if err := x.n.Send(s.id, s.server, q.Query); err != nil {
			x.Note("%v: musl ends the attempt", err)
			q.rejected = probe.Unreachable
			return true
		}
		x.sent(now, q.ref, s.socket, s.server, q.ID)
		return false
	case resolver.EventReply:
		return x.streamReply(q, ev)
	case resolver.EventError:
		x.Note("%s over tcp: %v; musl ends the attempt", s.server, ev.Err)
		q.rejected = probe.Unreachable
		x.giveUp(func(f flight) bool { return f.socket == s.number }, closedReason(ev.Err))
	default:
		x.Note("%s closed the connection; musl ends the attempt", s.server)
		q.rejected = probe.Unreachable
		x.giveUp(func(f flight) bool { return f.socket == s.number }, probe.ReplyClosed)
	}
	return true
}

// streamReply takes the first message of a connection, whatever its id.
func (x *exchange) streamReply(q *asked, ev resolver.Event) (over bool) {
	s, reply := q.stream, &ev.Reply
	const minBytes = 13
	switch {
	case reply.Size < minBytes:
		x.received(q.ref, s.socket, s.server, ev, probe.UseIgnored)
		return true
	case reply.Rcode != resolver.RcodeNoError && reply.Rcode != resolver.RcodeNXDomain:
		x.received(q.ref, s.socket, s.server, ev, probe.UseRejected)
		q.rejected = resolver.RcodeOutcome(reply.Rcode)
		return true
	}
	x.received(q.ref, s.socket, s.server, ev, probe.UseAccepted)
	q.state, q.reply, q.stream = answered, *reply, nil
	x.closeSocket(s.socket)
	return false
}

func closedReason(err error) string {
	switch {
	case errors.Is(err, resolver.ErrRefused):
		return probe.ReplyICMPRefused
	case errors.Is(err, resolver.ErrReset):
		return probe.ReplyClosed
	}
	return probe.ReplyUnreachable
}
