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

// walkScenario has a name that every libc finds at the end of its search list only.
const walkScenario = "classic"

// mostAllocations is the budget of a resolution of that name: what the resolver, its events, their fold and the model of the
// servers may allocate together.
var mostAllocations = map[probe.Libc]float64{probe.Glibc: 225, probe.Musl: 225, probe.Go: 255, probe.CAres: 305}

// walk is the resolution of one name by one libc, again and again, in virtual time.
type walk struct {
	engine engine.Engine
	ask    probe.Ask
}

func newWalk(libc probe.Libc) (walk, error) {
	sc, err := scenario.Builtin(walkScenario)
	if err != nil {
		return walk{}, err
	}
	state := simnet.NewState(1)
	return walk{ask: probe.Ask{Host: sc.Hosts[0]}, engine: engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return sc.System, nil },
		Resolver: probe.Resolver{Libc: libc, Source: probe.SourceDetected},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &sc.World, simnet.Options{Start: time.Unix(0, 0), Seed: 1, State: state}), nil
		},
		Source: probe.Predicted,
	}}, nil
}

// resolve resolves the name once. It fails when that is not what the scenario says: then something else would be measured.
func (w *walk) resolve(ctx context.Context) (probe.Resolution, error) {
	r, err := w.engine.Resolve(ctx, "bench", w.ask, func(probe.Event) {})
	if err == nil && r.Outcome != probe.OK {
		err = fmt.Errorf("%s does not resolve on the modelled servers: %s", w.ask.Host, r.Outcome)
	}
	return r, err
}

// resolverSpeed measures what each libc's resolver takes for the walk.
func resolverSpeed(ctx context.Context) ([]figure, error) {
	var out []figure
	for _, libc := range engine.Libcs() {
		figures, err := walkSpeed(ctx, libc)
		if err != nil {
			return out, fmt.Errorf("%s: %w", libc, err)
		}
		out = append(out, figures...)
	}
	return out, nil
}

func walkSpeed(ctx context.Context, libc probe.Libc) ([]figure, error) {
	w, err := newWalk(libc)
	if err != nil {
		return nil, err
	}
	once, err := w.resolve(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	res := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.resolve(ctx); err != nil {
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
		w.ask.Host, walkScenario, len(once.Attempts), once.QueriesSent, res.N)
	return []figure{
		{Name: "resolutions, " + string(libc), Value: float64(res.N) / res.T.Seconds(), Unit: unitRate, How: how},
		{
			Name: "allocations, " + string(libc), Value: float64(res.AllocsPerOp()), Unit: unitCount, Goal: mostAllocations[libc],
			How: fmt.Sprintf("%d KiB", res.AllocedBytesPerOp()/1024),
		},
	}, nil
}
