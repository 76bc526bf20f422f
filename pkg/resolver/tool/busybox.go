package tool

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// How long busybox waits for a server, and how often it sends in that time. resolv.conf changes neither.
const (
	busyboxTimeout = 5 * time.Second
	busyboxSends   = 2
)

// Busybox is one run of busybox nslookup.
type Busybox struct{ conf resolvconf.Config }

var _ resolver.Resolver = (*Busybox)(nil)

// NewBusybox returns a run of busybox nslookup.
func NewBusybox(sys resolver.System) *Busybox { return &Busybox{configOf(sys)} }

// question is a query of a run, with what it came to, empty until then.
type question struct {
	ref     probe.Ref
	msg     resolver.Query
	outcome probe.Outcome
}

type busyboxCall struct {
	*call
	questions []*question
}

// Resolve runs nslookup. See resolver.Resolver.
func (b *Busybox) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := &busyboxCall{call: newCall(ctx, n, emit)}
	list := b.candidates(req.Host)
	unsent := map[int]bool{}
	for i, cand := range list {
		if a, ok := c.attempt(cand); !ok {
			unsent[i] = true
			c.EndAttempt(a, probe.Unsent)
		}
	}
	for _, t := range types(req.Family) {
		for i, cand := range list {
			if !unsent[i] {
				c.questions = append(c.questions, &question{
					ref: probe.Ref{Attempt: i + 1, Type: t}, msg: resolver.Query{ID: c.n.Random16(), Name: cand.name, Type: t},
				})
			}
		}
	}
	for _, server := range b.conf.Nameservers {
		if len(c.left()) == 0 {
			break
		}
		s, err := c.open(probe.UDP, server)
		if err != nil {
			return resolver.Result{}, err
		}
		if s != nil {
			err = c.ask(s)
			c.n.Close(s.id)
		}
		if err != nil {
			return resolver.Result{}, err
		}
	}
	return c.end(c.judge(len(list), unsent)), nil
}

// candidates are the names that are asked for, all of them whatever the answers.
func (b *Busybox) candidates(host string) []candidate {
	if strings.Contains(host, ".") || len(b.conf.Search) == 0 {
		return []candidate{asIs(host)}
	}
	return searched(host, b.conf.Search)
}

// left lists the questions without an answer.
func (c *busyboxCall) left() []*question {
	var list []*question
	for _, q := range c.questions {
		if q.outcome == "" {
			list = append(list, q)
		}
	}
	return list
}

// ask asks one server for all that is open, until all is answered or its time is over.
func (c *busyboxCall) ask(s *socket) error {
	interval := busyboxTimeout / busyboxSends
	for range busyboxSends {
		budget := 2 * len(c.questions)
		for _, q := range c.left() {
			if !c.send(s, q.ref, q.msg) {
				return nil
			}
		}
		deadline := c.n.Now().Add(interval)
		for waiting := true; waiting; {
			if len(c.left()) == 0 {
				return nil
			}
			if err := c.ctx.Err(); err != nil {
				return err
			}
			ev, err := c.n.Poll(deadline)
			switch {
			case err != nil:
				return err
			case ev.Kind == resolver.EventDeadline:
				waiting = false
			case ev.Socket != s.id:
			case ev.Kind == resolver.EventReply:
				c.reply(s, ev, &budget)
			default:
				c.giveUp(s, lostReason(ev.Err))
				return nil
			}
		}
	}
	c.giveUp(s, probe.ReplyLost)
	return nil
}

func (c *busyboxCall) giveUp(s *socket, reason string) {
	for _, q := range c.left() {
		c.Lost(q.ref, s.number, q.msg.ID, reason)
	}
}

// reply takes a message. SERVFAIL is asked again at once as long as the budget lasts.
func (c *busyboxCall) reply(s *socket, ev resolver.Event, budget *int) {
	for _, q := range c.left() {
		if ev.Reply.Short || ev.Reply.ID != q.msg.ID {
			continue
		}
		if ev.Reply.Rcode == resolver.RcodeServFail && *budget > 0 {
			*budget--
			c.received(s, q.ref, ev, probe.UseRejected)
			c.send(s, q.ref, q.msg)
			return
		}
		c.received(s, q.ref, ev, probe.UseAccepted)
		if ev.Reply.TC {
			c.Note("the answer is cut off; what busybox makes of that is not followed")
		}
		q.outcome = c.take(q.ref, &ev.Reply)
		return
	}
}

// judge ends the attempts and returns what the first one with the best outcome came to.
func (c *busyboxCall) judge(attempts int, unsent map[int]bool) probe.Outcome {
	best := probe.Unsent
	for n := 1; n <= attempts; n++ {
		if unsent[n-1] {
			continue
		}
		out := probe.Outcome("")
		for _, q := range c.questions {
			if q.ref.Attempt != n {
				continue
			}
			got := q.outcome
			if got == "" {
				got = probe.Timeout
			}
			if out == "" || rank(got) < rank(out) {
				out = got
			}
		}
		c.EndAttempt(n, out)
		if c.decided == 0 || rank(out) < rank(best) {
			c.decided, best = n, out
		}
	}
	return best
}

// rank orders outcomes from the best to the worst.
func rank(o probe.Outcome) int {
	switch o {
	case probe.OK:
		return 0
	case probe.Timeout, probe.ServFail, probe.Refused:
		return 1
	case probe.NoData:
		return 2
	}
	return 3
}
