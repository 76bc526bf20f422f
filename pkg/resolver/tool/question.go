package tool

import (
	"context"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// DirectLibc is the libc of a resolution that follows none: a server was asked directly.
const DirectLibc probe.Libc = "direct"

// Question asks one server one name, one type after the other. It follows no program: it is ours, for verdicts.
type Question struct {
	server    netip.Addr
	transport probe.Transport
	edns      uint16
	tries     int
}

var _ resolver.Resolver = (*Question)(nil)

// NewQuestion returns a question to a server.
func NewQuestion(server netip.Addr, q probe.Question) *Question {
	out := &Question{server: server, transport: q.Transport, edns: q.EDNSSize, tries: q.Tries}
	if out.tries <= 0 {
		out.tries = probe.QuestionTries
	}
	if out.transport == "" {
		out.transport = probe.UDP
	}
	return out
}

// Resolve asks. See resolver.Resolver.
func (q *Question) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := newCall(ctx, n, emit)
	cand := asIs(req.Host)
	a, ok := c.attempt(cand)
	c.decided = a
	out := probe.Unsent
	if ok {
		for i, t := range types(req.Family) {
			one, err := q.ask(c, probe.Ref{Attempt: a, Type: t}, cand.name)
			if err != nil {
				return resolver.Result{}, err
			}
			if i == 0 || one == probe.OK || out == probe.NoData {
				out = one
			}
		}
	}
	c.EndAttempt(a, out)
	return c.end(out), nil
}

// ask sends one query until it is answered or the tries are used up. Every try has a socket of its own, so that a path that
// loses one flow does not lose all.
func (q *Question) ask(c *call, ref probe.Ref, name string) (probe.Outcome, error) {
	out := probe.Timeout
	for range q.tries {
		query := resolver.Query{ID: c.n.Random16(), Name: name, Type: ref.Type, EDNSSize: q.edns}
		s, err := c.open(q.transport, q.server)
		if err != nil {
			return "", err
		}
		if s == nil {
			return probe.Unreachable, nil
		}
		var over bool
		out, over, err = q.exchange(c, s, ref, query)
		c.n.Close(s.id)
		if err != nil || over {
			return out, err
		}
	}
	return out, nil
}

// exchange sends query and waits for its answer. over is false when another try could still succeed.
func (q *Question) exchange(c *call, s *socket, ref probe.Ref, query resolver.Query) (out probe.Outcome, over bool, err error) {
	began := c.n.Now()
	deadline := began.Add(probe.QuestionTimeout)
	if s.transport == probe.UDP && !c.send(s, ref, query) {
		return probe.Unreachable, true, nil
	}
	connected := s.transport == probe.UDP
	for {
		if err := c.ctx.Err(); err != nil {
			return "", false, err
		}
		ev, err := c.n.Poll(deadline)
		switch {
		case err != nil:
			return "", false, err
		case ev.Kind == resolver.EventDeadline && !connected:
			c.unconnected(began, s, ref, query, probe.ReplyLost)
			return probe.Timeout, false, nil
		case ev.Kind == resolver.EventDeadline:
			c.Lost(ref, s.number, query.ID, probe.ReplyLost)
			return probe.Timeout, false, nil
		case ev.Socket != s.id:
		case ev.Kind == resolver.EventConnected:
			if !c.send(s, ref, query) {
				return probe.Unreachable, true, nil
			}
			connected = true
		case ev.Kind == resolver.EventReply && !answers(&query, &ev.Reply):
			c.received(s, ref, ev, probe.UseIgnored)
		case ev.Kind == resolver.EventReply:
			c.received(s, ref, ev, probe.UseAccepted)
			return c.take(ref, &ev.Reply), true, nil
		case !connected:
			c.unconnected(began, s, ref, query, lostReason(ev.Err))
			return probe.Unreachable, true, nil
		default:
			c.Lost(ref, s.number, query.ID, lostReason(ev.Err))
			return probe.Unreachable, true, nil
		}
	}
}

// unconnected reports a query whose connection never stood: only handshakes left, and they are what was tried.
func (c *call) unconnected(began time.Time, s *socket, ref probe.Ref, q resolver.Query, reason string) {
	c.Sent(began, s.exchange(ref), q.ID)
	c.Lost(ref, s.number, q.ID, reason)
}
