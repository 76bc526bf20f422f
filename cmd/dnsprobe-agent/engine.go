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
	// truth is what was read last, nil before.
	truth *target.Truth
}

// Read reads the target and reports its settings and libc.
func (e *engineHere) Read(ctx context.Context, emit func(probe.Event)) error {
	truth, err := e.read(ctx, true)
	if err != nil {
		return err
	}
	settings := truth.Describe(engine.Settings(truth.System, truth.Resolver, truth.Source))
	emit(probe.Event{Kind: probe.KindSettings, Settings: &settings})
	emit(probe.Event{Kind: probe.KindResolver, Resolver: &truth.Resolver})
	return nil
}

// Resolve carries out one ask with the settings of this moment.
func (e *engineHere) Resolve(ctx context.Context, id string, ask probe.Ask, emit func(probe.Event)) error {
	truth, err := e.read(ctx, false)
	if err != nil {
		return err
	}
	run := engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return truth.System, nil },
		Resolver: truth.Resolver, NewNetwork: e.network, Source: probe.Measured,
	}
	_, err = run.Resolve(ctx, id, ask, emit)
	return err
}

// read reads the target as it is now. Its process and libc are looked for only once, and when anew asks for it. Whoever
// comes meanwhile waits.
func (e *engineHere) read(ctx context.Context, anew bool) (target.Truth, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	var truth target.Truth
	var err error
	if anew || e.truth == nil {
		truth, err = e.place.Read(within)
		truth.Resolver = engine.Fallback(truth.Resolver)
	} else {
		truth, err = e.place.Again(within, *e.truth)
	}
	if err != nil {
		return target.Truth{}, err
	}
	e.truth = &truth
	return truth, nil
}
