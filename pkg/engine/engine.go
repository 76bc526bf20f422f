package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/tool"
)

// DefaultTimeout bounds a resolution whose ask says nothing. glibc needs up to 135 s for a name server whose TCP port swallows
// everything.
const DefaultTimeout = 3 * time.Minute

// maxHost bounds a host in bytes; longer names cannot be sent by any libc and would only fill the trace.
const maxHost = 4096

// Engine carries out asks in one place. It is safe for concurrent use if its functions are.
type Engine struct {
	// System returns what the target's resolver reads. It is called for every ask, as a new process reads its files.
	System func(ctx context.Context) (resolver.System, error)
	// Resolver is the libc to follow where an ask names none.
	Resolver probe.Resolver
	// NewNetwork returns the network of one resolution, whose waits end with ctx. A network with a method Shut is shut at
	// the end of the resolution.
	NewNetwork func(ctx context.Context) (resolver.Network, error)
	// Source is probe.Measured or probe.Predicted.
	Source string
	// Timeout bounds a resolution, on the clock of its network; 0 means DefaultTimeout.
	Timeout time.Duration
}

// Resolve carries out one ask in what is a fresh process to the libc. It reports every step to emit, from KindBegin to
// KindEnded, with id as the resolution, and returns the finished resolution. A host that does not resolve is no error, nor is a
// resolution that took longer than its bound: that ends as "again", with a note. An error means that the ask could not be
// carried through: settings that could not be read, a libc that cannot be followed (UnsupportedError), no network, or ctx
// cancelled; the events so far are emitted, and no KindEnded.
func (e *Engine) Resolve(ctx context.Context, id string, ask probe.Ask, emit func(probe.Event)) (probe.Resolution, error) {
	if len(ask.Host) > maxHost {
		return probe.Resolution{}, fmt.Errorf("resolve a host of %d bytes: at most %d are allowed", len(ask.Host), maxHost)
	}
	request, err := requestOf(ask)
	if err != nil {
		return probe.Resolution{}, err
	}
	sys, err := e.System(ctx)
	if err != nil {
		return probe.Resolution{}, fmt.Errorf("read the settings: %w", err)
	}
	sys.ResolvConf = changed(sys.ResolvConf, ask.Variant)
	libc, version, res, request, err := e.follow(ask, sys, request)
	if err != nil {
		return probe.Resolution{}, err
	}
	limit := e.limit(ask)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	network, err := e.NewNetwork(ctx)
	if err != nil {
		return probe.Resolution{}, fmt.Errorf("open the network: %w", err)
	}
	if s, ok := network.(interface{ Shut() }); ok {
		defer s.Shut()
	}
	run := &resolution{id: id, emit: emit, start: network.Now(), now: network.Now}
	run.add(probe.Event{Kind: probe.KindBegin, Begin: &probe.Begin{
		Host: ask.Host, Variant: ask.Variant.Label(), Libc: libc, LibcVersion: version, Source: e.Source, Purpose: ask.Purpose.OrAsked(),
		Question: ask.Question, StartedAt: run.start,
	}})
	result, err := res.Resolve(ctx, &bounded{Network: network, until: run.start.Add(limit), err: errTooLong, most: ask.MostMessages}, request, run.add)
	return run.finish(ctx, result, err, limit)
}

// changed returns the text of a resolv.conf with what a variant changes in it.
func changed(text string, v probe.Variant) string {
	if v.Search != nil {
		text = resolvconf.WithSearch(text, v.Search)
	}
	if v.Nameservers != nil {
		text = resolvconf.WithNameservers(text, v.Nameservers)
	}
	return resolvconf.WithOptions(text, v.Options)
}

// follow returns the libc to follow and its version, its resolver, and the request as it is made there.
func (e *Engine) follow(ask probe.Ask, sys resolver.System, request resolver.Request) (probe.Libc, string, resolver.Resolver, resolver.Request, error) {
	if ask.Question != nil {
		server, err := netip.ParseAddr(ask.Question.Server)
		if err != nil {
			return "", "", nil, request, fmt.Errorf("ask a server directly: %w", err)
		}
		return tool.DirectLibc, "", tool.NewQuestion(server, *ask.Question), request, nil
	}
	if ask.Caller != "" {
		return e.emulated(ask, sys, request)
	}
	if c := e.Resolver.Cgo; c != nil && ask.Libc == "" && ask.LibcVersion == "" {
		return chosen(c, sys, request)
	}
	libc, version := e.libc(ask)
	res, err := newResolver(libc, version, sys)
	if version == "" {
		version = AssumedVersion(libc)
	}
	return libc, version, res, request, err
}

// libc returns the libc to follow and the version that decides how it behaves.
func (e *Engine) libc(ask probe.Ask) (probe.Libc, string) {
	switch {
	case ask.Libc != "" && ask.Libc != e.Resolver.Libc:
		return ask.Libc, ask.LibcVersion
	case ask.LibcVersion != "":
		return e.Resolver.Libc, ask.LibcVersion
	}
	return e.Resolver.Libc, fullVersion(e.Resolver)
}

func (e *Engine) limit(ask probe.Ask) time.Duration {
	limit := e.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if asked := ask.Timeout.Duration(); asked > 0 {
		limit = min(limit, asked)
	}
	return limit
}

// requestOf returns the call that an ask stands for.
func requestOf(ask probe.Ask) (resolver.Request, error) {
	r := resolver.Request{Host: ask.Host, Family: resolver.Unspec, AddrConfig: ask.AddrConfig}
	if ask.Variant.TrailingDot && (r.Host == "" || r.Host[len(r.Host)-1] != '.') {
		r.Host += "."
	}
	a, aaaa := false, false
	for _, t := range ask.Types {
		switch t {
		case probe.TypeA:
			a = true
		case probe.TypeAAAA:
			aaaa = true
		default:
			return r, fmt.Errorf("resolve %.255q: type %.20q is neither A nor AAAA", ask.Host, string(t))
		}
	}
	switch {
	case a && !aaaa:
		r.Family = resolver.Inet
	case aaaa && !a:
		r.Family = resolver.Inet6
	}
	return r, nil
}

// resolution is what is on its way out of one Resolve.
type resolution struct {
	id    string
	emit  func(probe.Event)
	start time.Time
	now   func() time.Time
	fold  probe.Fold
	ended bool
}

func (r *resolution) add(ev probe.Event) {
	ev.Resolution = r.id
	if ev.Kind == probe.KindEnded {
		r.ended = true
	}
	r.fold.Add(ev)
	r.emit(ev)
}

// finish makes sure that a resolution that was carried through has its end, and returns it.
func (r *resolution) finish(ctx context.Context, result resolver.Result, err error, limit time.Duration) (probe.Resolution, error) {
	// A deadline of the caller and ours are the same to whoever asked: it took too long.
	if errors.Is(err, errTooLong) || (err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)) {
		at := probe.Millis(r.now().Sub(r.start))
		r.add(probe.Event{Kind: probe.KindNote, At: at, Note: fmt.Sprintf(
			"stopped after %s; the libc would have gone on", min(at.Duration(), limit).Round(time.Millisecond))})
		result, err = resolver.Result{Outcome: probe.Again}, nil
	}
	if errors.Is(err, errTooMany) {
		r.add(probe.Event{Kind: probe.KindNote, At: probe.Millis(r.now().Sub(r.start)), Note: "stopped: no more messages are allowed here; the libc would have gone on"})
		result, err = resolver.Result{Outcome: probe.Again}, nil
	}
	if err == nil && !r.ended {
		ended := probe.Ended{Outcome: result.Outcome, Code: result.Code, AnsweredBy: "dns"}
		for _, a := range result.Addresses {
			ended.Addresses = append(ended.Addresses, a.String())
		}
		r.add(probe.Event{Kind: probe.KindEnded, At: probe.Millis(r.now().Sub(r.start)), Ended: &ended})
	}
	var out probe.Resolution
	if folded := r.fold.Resolution(r.id); folded != nil {
		out = *folded
	}
	return out, err
}

// errTooMany is what a resolver sees from its network when the resolution would send more messages than it may.
var errTooMany = errors.New("the resolution has used up its messages")

// errTooLong is what a resolver sees from its network when the resolution has used up its time.
var errTooLong = errors.New("the resolution has used up its time")

// bounded is a Network that fails once its clock has passed until. It keeps to the network's own clock, so that a bound works
// in virtual time too, and for a libc that waits without a deadline.
type bounded struct {
	resolver.Network
	until time.Time
	// err is what Poll returns then.
	err error
	// most bounds the messages, 0 does not; sent counts them.
	most, sent int
}

// Send hands over as long as the bound on messages allows it.
func (b *bounded) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	if b.sent += len(queries); b.most > 0 && b.sent > b.most {
		return errTooMany
	}
	return b.Network.Send(s, to, queries...)
}

// Open fails once the bound on messages is reached: nothing more could be sent.
func (b *bounded) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	if b.most > 0 && b.sent >= b.most {
		return 0, errTooMany
	}
	return b.Network.Open(t, server, o)
}

// Poll waits no longer than until, and not at all for what could not be sent.
func (b *bounded) Poll(deadline time.Time) (resolver.Event, error) {
	if b.most > 0 && b.sent > b.most {
		return resolver.Event{}, errTooMany
	}
	if !b.Now().Before(b.until) {
		return resolver.Event{}, b.err
	}
	if !deadline.IsZero() && !deadline.After(b.until) {
		return b.Network.Poll(deadline)
	}
	if idle, ok := b.Network.(interface{ Idle() bool }); ok && deadline.IsZero() && idle.Idle() {
		// A model knows that waiting is in vain, and the libc's own answer to that is worth more than our bound.
		return b.Network.Poll(deadline)
	}
	ev, err := b.Network.Poll(b.until)
	if err == nil && ev.Kind == resolver.EventDeadline {
		return ev, b.err
	}
	return ev, err
}
