package main

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// readWithin bounds one reading of the target's files. They are local; only a dead network file system takes longer.
const readWithin = 5 * time.Second

// realNetwork opens the pod's network.
func realNetwork(ctx context.Context) (resolver.Network, error) {
	return dnsnet.New(ctx, dnsnet.Options{})
}

// engineHere carries out asks where this process runs. It is a session.Engine.
type engineHere struct {
	place   target.Place
	network func(context.Context) (resolver.Network, error)

	mu sync.Mutex
	// libc is nil until it was looked for.
	libc *probe.Resolver
}

// Read reads the target and reports its settings and libc.
func (e *engineHere) Read(ctx context.Context, emit func(probe.Event)) error {
	// Whoever asks meanwhile waits for the libc that is being found.
	e.mu.Lock()
	defer e.mu.Unlock()
	truth, err := e.read(ctx, e.place.Read)
	if err != nil {
		return err
	}
	followed := engine.Fallback(truth.Resolver)
	e.libc = &followed
	settings := truth.Describe(engine.Settings(truth.System, followed, truth.Source))
	emit(probe.Event{Kind: probe.KindSettings, Settings: &settings})
	emit(probe.Event{Kind: probe.KindResolver, Resolver: &followed})
	return nil
}

// Resolve carries out one ask with the settings of this moment.
func (e *engineHere) Resolve(ctx context.Context, id string, ask probe.Ask, emit func(probe.Event)) error {
	libc, err := e.resolver(ctx)
	if err != nil {
		return err
	}
	run := engine.Engine{Resolver: libc, NewNetwork: e.network, Source: probe.Measured,
		System: func(ctx context.Context) (resolver.System, error) {
			truth, err := e.read(ctx, e.place.Inputs)
			return truth.System, err
		},
	}
	_, err = run.Resolve(ctx, id, ask, emit)
	return err
}

// resolver returns the libc to follow, and looks for it if nobody has yet.
func (e *engineHere) resolver(ctx context.Context) (probe.Resolver, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.libc == nil {
		truth, err := e.read(ctx, e.place.Read)
		if err != nil {
			return probe.Resolver{}, err
		}
		followed := engine.Fallback(truth.Resolver)
		e.libc = &followed
	}
	return *e.libc, nil
}

func (e *engineHere) read(ctx context.Context, what func(context.Context) (target.Truth, error)) (target.Truth, error) {
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	return what(within)
}
