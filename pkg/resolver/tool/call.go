package tool

import (
	"context"
	"errors"
	"net/netip"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// call is one run of a tool.
type call struct {
	resolver.Trace
	ctx context.Context
	n   resolver.Network

	opened    int
	addresses []netip.Addr
	decided   int
}

func newCall(ctx context.Context, n resolver.Network, emit func(probe.Event)) *call {
	return &call{Trace: resolver.NewTrace(n, emit), ctx: ctx, n: n}
}

// configOf reads resolv.conf with the words that both tools know. Neither looks at the environment.
func configOf(sys resolver.System) resolvconf.Config {
	return resolvconf.ParseGlibc(sys.ResolvConfText(), resolvconf.Inputs{})
}

// candidate is a name to try.
type candidate struct {
	name   string
	origin probe.Origin
	index  int
}

func asIs(host string) candidate {
	return candidate{strings.TrimSuffix(host, ".") + ".", probe.OriginAsIs, -1}
}

func searched(host string, search []string) []candidate {
	var list []candidate
	for i, domain := range search {
		list = append(list, candidate{strings.TrimSuffix(host+"."+domain, ".") + ".", probe.OriginSearch, i})
	}
	return list
}

// types are the queries of a request.
func types(f resolver.Family) []probe.QueryType {
	switch f {
	case resolver.Inet:
		return []probe.QueryType{probe.TypeA}
	case resolver.Inet6:
		return []probe.QueryType{probe.TypeAAAA}
	}
	return []probe.QueryType{probe.TypeA, probe.TypeAAAA}
}

// attempt opens an attempt and returns its number, and false for a name that no message can hold.
func (c *call) attempt(cand candidate) (int, bool) {
	labels, err := resolver.Labels(cand.name)
	shown := resolver.JoinLabels(labels)
	if err != nil {
		shown = resolver.ShowName(cand.name)
	}
	return c.BeginAttempt(shown, cand.origin, cand.index), err == nil
}

// port is where name servers listen.
const port = 53

// socket is an open socket of the call.
type socket struct {
	id        resolver.Socket
	number    int
	server    netip.AddrPort
	transport probe.Transport
}

// open returns nil where a tool in the pod would not get a socket either.
func (c *call) open(t probe.Transport, server netip.Addr) (*socket, error) {
	to := netip.AddrPortFrom(server, port)
	id, err := c.n.Open(t, to, resolver.OpenOptions{Connected: true})
	switch {
	case errors.Is(err, resolver.ErrUnreachable), errors.Is(err, resolver.ErrRefused):
		c.Note("open a socket to %s: %v", to, err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.opened++
	return &socket{id: id, number: c.opened, server: to, transport: t}, nil
}

// send hands over a query and reports whether the system took it.
func (c *call) send(s *socket, ref probe.Ref, q resolver.Query) bool {
	at := c.n.Now()
	if err := c.n.Send(s.id, s.server, q); err != nil {
		c.Note("send to %s: %v", s.server, err)
		return false
	}
	c.Sent(at, s.exchange(ref), q.ID)
	return true
}

func (s *socket) exchange(ref probe.Ref) resolver.Exchange {
	return resolver.Exchange{Ref: ref, Server: s.server, Transport: s.transport, Socket: s.id, Number: s.number}
}

func (c *call) received(s *socket, ref probe.Ref, ev resolver.Event, use string) {
	c.Received(c.Arrival(ev), s.exchange(ref), &ev.Reply, use)
}

// answers reports whether a message answers a query.
func answers(q *resolver.Query, r *resolver.Reply) bool {
	if r.Short || !r.Response || r.ID != q.ID {
		return false
	}
	if len(r.Questions) == 0 {
		return true
	}
	return r.Questions[0].Type == resolver.TypeNumber(q.Type) && resolver.SameName(r.Questions[0].Name, q.Name)
}

// take keeps the addresses of an answer and returns what it means for its attempt.
func (c *call) take(ref probe.Ref, r *resolver.Reply) probe.Outcome {
	if r.Rcode != resolver.RcodeNoError {
		return resolver.RcodeOutcome(r.Rcode)
	}
	out := probe.NoData
	for _, rec := range r.Answers {
		if rec.Type == resolver.TypeNumber(ref.Type) && rec.Addr.IsValid() {
			c.addresses, out = append(c.addresses, rec.Addr.Unmap()), probe.OK
		}
	}
	return out
}

// end reports the result: ok with any address, else what the attempt that decided came to.
func (c *call) end(attempt probe.Outcome) resolver.Result {
	res := resolver.Result{Outcome: probe.OK, Addresses: c.addresses}
	if len(c.addresses) == 0 {
		switch attempt {
		case probe.NXDomain, probe.NoData:
			res.Outcome = attempt
		case probe.Timeout, probe.ServFail, probe.Refused, probe.NotImp, probe.Unreachable:
			res.Outcome = probe.Again
		default:
			res.Outcome = probe.Fail
		}
	}
	c.Ended(res, c.decided, resolver.ByDNS)
	return res
}

func lostReason(err error) string {
	if errors.Is(err, resolver.ErrRefused) {
		return probe.ReplyICMPRefused
	}
	return probe.ReplyUnreachable
}
