package tool

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// What dig does where resolv.conf says nothing.
const (
	digTimeout  = 5 * time.Second
	digTries    = 3
	digEDNS     = 1232
	cookieBytes = 8
)

// Dig is one run of dig.
type Dig struct {
	conf    resolvconf.Config
	search  bool
	tries   int
	timeout time.Duration
}

var _ resolver.Resolver = (*Dig)(nil)

// NewDig returns a run of dig, with +search if search is set.
func NewDig(sys resolver.System, search bool) *Dig {
	d := &Dig{conf: configOf(sys), search: search, tries: digTries, timeout: digTimeout}
	for _, o := range d.conf.Options {
		switch name, _, _ := strings.Cut(o, ":"); name {
		case "attempts":
			d.tries = max(1, d.conf.Attempts)
		case "timeout":
			d.timeout = time.Duration(max(1, d.conf.TimeoutSeconds)) * time.Second
		}
	}
	return d
}

// digCall is a run under way. It keeps its cookie.
type digCall struct {
	*call
	dig    *Dig
	cookie []byte
}

// Resolve runs dig for one type. See resolver.Resolver.
func (d *Dig) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := &digCall{call: newCall(ctx, n, emit), dig: d}
	for range cookieBytes / 2 {
		r := n.Random16()
		c.cookie = append(c.cookie, byte(r>>8), byte(r))
	}
	out := probe.NXDomain
	for _, cand := range d.candidates(req.Host) {
		a, ok := c.attempt(cand)
		out = probe.Unsent
		if ok {
			var err error
			if out, err = c.ask(probe.Ref{Attempt: a, Type: types(req.Family)[0]}, cand.name); err != nil {
				return resolver.Result{}, err
			}
		}
		c.EndAttempt(a, out)
		c.decided = a
		if out != probe.NXDomain {
			break
		}
	}
	return c.end(out), nil
}

// candidates are the names that dig tries as long as each of them does not exist.
func (d *Dig) candidates(host string) []candidate {
	if !d.search || strings.HasSuffix(host, ".") || strings.Count(host, ".") >= d.conf.Ndots {
		return []candidate{asIs(host)}
	}
	return append(searched(host, d.conf.Search), asIs(host))
}

// ask asks the first server as often as there are tries, then each of the others once.
func (c *digCall) ask(ref probe.Ref, name string) (probe.Outcome, error) {
	q := resolver.Query{ID: c.n.Random16(), Name: name, Type: ref.Type, AD: true, EDNSSize: digEDNS, Cookie: c.cookie}
	out := probe.Timeout
	for i, server := range c.dig.conf.Nameservers {
		tries := 1
		if i == 0 {
			tries = c.dig.tries
		}
		for range tries {
			s, err := c.open(probe.UDP, server)
			if err != nil {
				return "", err
			}
			if s == nil {
				out = probe.Unreachable
				break
			}
			var over bool
			out, over, err = c.exchange(s, ref, q)
			c.n.Close(s.id)
			if err != nil || over {
				return out, err
			}
			if out == probe.Unreachable {
				break
			}
		}
	}
	return out, nil
}

// exchange sends q and waits for its answer. over is false when there was none.
func (c *digCall) exchange(s *socket, ref probe.Ref, q resolver.Query) (out probe.Outcome, over bool, err error) {
	deadline := c.n.Now().Add(c.dig.timeout)
	sent := s.transport == probe.UDP
	if sent && !c.send(s, ref, q) {
		return probe.Unreachable, false, nil
	}
	for {
		if err := c.ctx.Err(); err != nil {
			return "", false, err
		}
		ev, err := c.n.Poll(deadline)
		switch {
		case err != nil:
			return "", false, err
		case ev.Kind == resolver.EventDeadline:
			c.Lost(ref, s.number, q.ID, probe.ReplyLost)
			return probe.Timeout, false, nil
		case ev.Socket != s.id:
		case ev.Kind == resolver.EventConnected:
			if !c.send(s, ref, q) {
				return probe.Unreachable, false, nil
			}
		case ev.Kind == resolver.EventReply && !answers(&q, &ev.Reply):
			c.received(s, ref, ev, probe.UseIgnored)
		case ev.Kind == resolver.EventReply:
			return c.answer(s, ref, q, ev)
		default:
			c.Lost(ref, s.number, q.ID, lostReason(ev.Err))
			return probe.Unreachable, false, nil
		}
	}
}

// answer takes an answer; a cut one leads to the same server over TCP (RFC 7766 section 5).
func (c *digCall) answer(s *socket, ref probe.Ref, q resolver.Query, ev resolver.Event) (probe.Outcome, bool, error) {
	c.received(s, ref, ev, probe.UseAccepted)
	if ev.Reply.Rcode == resolver.RcodeFormErr {
		c.Note("dig may ask again after FORMERR, which is not followed")
	}
	if !ev.Reply.TC || s.transport == probe.TCP {
		return c.take(ref, &ev.Reply), true, nil
	}
	tcp, err := c.open(probe.TCP, s.server.Addr())
	if err != nil || tcp == nil {
		return probe.Unreachable, true, err
	}
	defer c.n.Close(tcp.id)
	out, over, err := c.exchange(tcp, ref, q)
	if err == nil && !over {
		c.Note("the answer over TCP did not come; what dig does then is not followed")
	}
	return out, true, err
}
