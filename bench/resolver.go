package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// resolverSpeed resolves the host of the demo's scenario again and again in virtual time: what is measured is the resolver, its
// events and their fold, and the model of the servers.
func resolverSpeed(ctx context.Context) ([]figure, error) {
	sc, err := scenario.Builtin(scenario.BuiltinNames()[0])
	if err != nil {
		return nil, err
	}
	state := simnet.NewState(1)
	e := engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return sc.System, nil },
		Resolver: probe.Resolver{Libc: sc.Libc, Version: sc.LibcVersion, Source: probe.SourceDetected},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &sc.World, simnet.Options{Start: time.Unix(0, 0), Seed: 1, State: state}), nil
		},
		Source: probe.Predicted,
	}
	ask := probe.Ask{Host: sc.Hosts[0]}
	resolve := func() (probe.Resolution, error) {
		return e.Resolve(ctx, "bench", ask, func(probe.Event) {})
	}
	once, err := resolve()
	if err != nil {
		return nil, err
	}
	if once.Outcome != probe.OK {
		return nil, fmt.Errorf("%s does not resolve on the modelled servers: %s", ask.Host, once.Outcome)
	}
	var failed error
	res := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := resolve(); err != nil {
				failed = err
				b.FailNow()
			}
		}
	})
	if failed == nil && res.N == 0 {
		failed = errors.New("not one resolution was counted")
	}
	if failed != nil {
		return nil, failed
	}
	how := fmt.Sprintf("%s of scenario %s in virtual time: %d attempts, %d queries; %d resolutions",
		ask.Host, scenario.BuiltinNames()[0], len(once.Attempts), once.QueriesSent, res.N)
	return []figure{
		{Name: "resolutions", Value: float64(res.N) / res.T.Seconds(), Unit: unitRate, How: how},
		{Name: "allocations", Value: float64(res.AllocsPerOp()), Unit: unitCount, How: fmt.Sprintf("%d KiB", res.AllocedBytesPerOp()/1024)},
	}, nil
}
