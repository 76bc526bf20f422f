package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/caller"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/cares"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/tool"
)

// nodeTries is what Node sets ARES_OPT_TRIES to, as its packets show.
const nodeTries = 4

// emulated returns what follow does, for an ask that names a caller.
func (e *Engine) emulated(ask probe.Ask, sys resolver.System, request resolver.Request) (probe.Libc, string, resolver.Resolver, resolver.Request, error) {
	c, ok := caller.Of(ask.Caller)
	if !ok {
		return "", "", nil, request, fmt.Errorf("follow the caller %.40q: it is none of %s", ask.Caller, strings.Join(caller.Words(), ", "))
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(ask.Host, "."))
	literal := err == nil
	nonASCII := strings.ContainsFunc(ask.Host, func(r rune) bool { return r >= 0x80 })
	switch {
	case literal && c.RefuseLiterals != "":
		return "", "", nil, request, fmt.Errorf("follow %s for %.255q: %s", c.Word, ask.Host, c.RefuseLiterals)
	case nonASCII && c.RefuseNonASCII != "":
		return "", "", nil, request, fmt.Errorf("follow %s for %.255q: %s", c.Word, ask.Host, c.RefuseNonASCII)
	}
	run := &emulation{caller: c}
	libc, version, base, request, err := e.base(&c, ask, sys, request, run)
	if err != nil {
		return libc, version, nil, request, err
	}
	request.AddrConfig = request.AddrConfig || c.AddrConfig
	request.CanonName = request.CanonName || c.CanonName
	if c.SmallLetters {
		request.Host = strings.ToLower(request.Host)
	}
	hasIPv6 := slices.ContainsFunc(sys.Addresses, func(a netip.Addr) bool { return a.Is6() && !a.Is4In6() })
	for _, s := range c.For(ask.Types, hasIPv6, sys.Addresses != nil) {
		switch {
		case s.Record == "":
			run.steps = append(run.steps, stage{s, base})
		case !literal:
			run.steps = append(run.steps, stage{s, golang.New(version, sys)})
		}
	}
	return libc, version, run, request, nil
}

// base returns the resolver that a caller calls.
func (e *Engine) base(c *caller.Caller, ask probe.Ask, sys resolver.System, request resolver.Request, run *emulation) (probe.Libc, string, resolver.Resolver, resolver.Request, error) {
	switch c.Walk {
	case caller.WalkDig, caller.WalkDigSearch:
		return c.Libc, "", tool.NewDig(sys, c.Walk == caller.WalkDigSearch), request, nil
	case caller.WalkBusybox:
		return c.Libc, "", tool.NewBusybox(sys), request, nil
	case caller.WalkQuery:
		channel := cares.Channel{Query: true, NoCheckResp: true, Tries: nodeTries}
		return c.Libc, AssumedVersion(c.Libc), cares.NewChannel(sys, channel), request, nil
	}
	plain := ask
	plain.Caller = ""
	switch cgo := e.Resolver.Cgo; {
	case c.Libc != "":
		plain.Libc = c.Libc
	case ask.Libc != "":
	case cgo != nil && callable(cgo.Libc.Libc):
		plain.Libc, plain.LibcVersion = cgo.Libc.Libc, fullVersion(cgo.Libc)
	case !callable(e.Resolver.Libc):
		plain.Libc = probe.Glibc
		run.notes = append(run.notes, fmt.Sprintf("%s calls a libc, and none was found: glibc %s is assumed", c.Word, AssumedVersion(probe.Glibc)))
	}
	return e.follow(plain, sys, request)
}

// callable reports whether programs in other languages call the resolver of libc.
func callable(libc probe.Libc) bool { return libc == probe.Glibc || libc == probe.Musl }

// stage is a step with the resolver that takes it.
type stage struct {
	caller.Step
	res resolver.Resolver
}

// emulation is the resolver of a caller: its steps one after the other, seen as one resolution.
type emulation struct {
	caller caller.Caller
	steps  []stage
	notes  []string
}

// Resolve takes the steps. See resolver.Resolver.
func (m *emulation) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	j := &joined{start: n.Now(), now: n.Now, emit: emit}
	for _, note := range append([]string{m.caller.Note()}, m.notes...) {
		j.note(note)
	}
	if m.caller.Within > 0 {
		n = &bounded{Network: n, until: j.start.Add(m.caller.Within), err: errCallerGaveUp}
	}
	for _, s := range m.steps {
		if s.When == caller.IfNone && j.looked && j.result.Outcome == probe.OK {
			continue
		}
		if s.When == caller.IfAnswered && !slices.Contains([]probe.Outcome{probe.OK, probe.NXDomain, probe.NoData}, j.result.Outcome) {
			continue
		}
		call := req
		if s.Family != "" {
			call.Family = s.Family
		}
		if call.Record = s.Record; s.Record != "" {
			call.Host = s.Prefix + req.Host
		}
		if err := j.step(ctx, s, n, call); errors.Is(err, errCallerGaveUp) {
			j.note(fmt.Sprintf("%s gives up after %s in all", m.caller.Word, m.caller.Within))
			if !j.looked {
				j.result, j.ended = resolver.Result{Outcome: probe.Again}, probe.Ended{Outcome: probe.Again, AnsweredBy: "dns", DecidedBy: j.attempts}
			}
			break
		} else if err != nil {
			return resolver.Result{}, err
		}
	}
	j.event(probe.Event{Kind: probe.KindEnded, Ended: &j.ended})
	return j.result, nil
}

// errCallerGaveUp is what a resolver sees from its network when its caller's own bound has passed.
var errCallerGaveUp = errors.New("the caller gives up")
