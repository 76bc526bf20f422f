package cli

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// watchable is how long a walk should take on a screen, so that one can follow it. A walk that takes longer by itself runs in
// real time.
const watchable = 1500 * time.Millisecond

// demoFlags are the flags of demo as they were typed.
type demoFlags struct {
	pace   float64
	ask    askFlags
	output outputFlags
}

func newDemoCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo [SCENARIO|FILE]",
		Short: "Show the whole run on a modelled cluster; nothing is sent",
		Long: `Show the whole run on a modelled cluster; nothing is sent.

SCENARIO is one of: ` + strings.Join(scenario.BuiltinNames(), ", ") + `. FILE is a scenario (docs/scenarios.md); - is stdin.`,
		Example: `  kubectl dnsprobe demo
  kubectl dnsprobe demo half-pair-loss
  kubectl dnsprobe demo -o json`,
		ValidArgs: scenario.BuiltinNames(),
		Args:      cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			sc, a, o, err := f.complete(streams, args)
			if err != nil {
				return err
			}
			pace := f.pace
			if !c.Flags().Changed("pace") {
				pace = paceFor(c.Context(), sc, a, o)
			}
			o.pace = pace
			return present(c.Context(), streams, o, modelled(sc, a, pace, probe.Measured, "model"))
		},
	}
	fs := c.Flags()
	fs.Float64Var(&f.pace, "pace", 0, "real seconds that a modelled second takes (default: so that the walk can be followed; 0: no waiting)")
	f.ask.add(fs)
	f.output.add(fs)
	return c
}

// complete returns the scenario to run, what is asked, and how it is shown.
func (f *demoFlags) complete(streams genericiooptions.IOStreams, args []string) (scenario.Scenario, asking, output, error) {
	if len(args) > 1 {
		return scenario.Scenario{}, asking{}, output{}, usageError("usage: kubectl dnsprobe demo [SCENARIO|FILE]", "demo takes one scenario, got %d", len(args))
	}
	name := scenario.BuiltinNames()[0]
	if len(args) == 1 {
		name = args[0]
	}
	if !(f.pace >= 0 && f.pace <= 1e6) {
		return scenario.Scenario{}, asking{}, output{}, usageError("use --pace 1 for real time", "--pace %v is out of range", f.pace)
	}
	sc, err := findScenario(name, streams.In)
	if err != nil {
		return sc, asking{}, output{}, err
	}
	a, err := f.ask.complete(sc.Hosts)
	if err != nil {
		return sc, a, output{}, err
	}
	a.also = unique(append(a.also, sc.Also...))
	if a.libc == "" && a.caller == "" {
		a.caller = sc.Caller
	}
	if a.count == 0 {
		a.count = sc.Count
	}
	o, err := f.output.complete(streams, a.hosts)
	return sc, a, o, err
}

// paceFor makes a short walk long enough to be followed, where somebody looks on. It has nothing to wait for otherwise.
func paceFor(ctx context.Context, sc scenario.Scenario, a asking, o output) float64 {
	if o.format != formatTUI {
		return 0
	}
	m := newModel(sc, a, probe.Predicted)
	longest := time.Duration(0)
	for _, h := range a.hosts {
		r, err := m.engine(0).Resolve(ctx, "pace", a.ask(h), func(probe.Event) {})
		if err != nil {
			return 0
		}
		longest = max(longest, r.Duration.Duration())
	}
	if longest <= 0 || longest >= watchable {
		return 1
	}
	return float64(watchable) / float64(longest)
}

// model is a scenario ready to be asked.
type model struct {
	sc       scenario.Scenario
	resolver probe.Resolver
	// as is what its resolutions count as.
	as string
	// state is what the servers remember from one resolution to the next.
	state *simnet.State
	// seeds gives each resolution ids of its own, and every run of the program the same ones.
	seeds *atomic.Uint64
}

// newModel picks the libc: the one asked for, else the scenario's, else what stands in for one that cannot be followed.
func newModel(sc scenario.Scenario, a asking, as string) model {
	detected := probe.Resolver{Libc: sc.Libc, Version: sc.LibcVersion, Runtime: sc.Runtime, Source: probe.SourceDetected, Why: "the scenario says so"}
	if sc.Libc == "" {
		detected = probe.Resolver{Why: "a resolv.conf does not tell"}
	}
	return model{sc: sc, as: as, resolver: chosen(a, detected), state: simnet.NewState(1), seeds: new(atomic.Uint64)}
}

// engine returns an engine over the scenario's servers, each resolution in a network of its own that takes pace.
func (m model) engine(pace float64) *engine.Engine {
	return m.engineWith(func() *simnet.State { return m.state }, pace)
}

// anew returns an engine over the scenario's servers as they were before the first question, for every resolution again: libcs are
// compared on the same ones.
func (m model) anew() *engine.Engine {
	return m.engineWith(func() *simnet.State { return simnet.NewState(1) }, 0)
}

func (m model) engineWith(state func() *simnet.State, pace float64) *engine.Engine {
	return &engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return m.sc.System, nil },
		Resolver: m.resolver,
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &m.sc.World, simnet.Options{Start: time.Now(), Seed: m.seeds.Add(1), State: state(), Pace: pace}), nil
		},
		Source: m.as,
	}
}

// pause lets the modelled time go by; nobody has to wait for it.
func (m model) pause(ctx context.Context, d time.Duration) error {
	m.state.Pass(d)
	return ctx.Err()
}

// modelled runs what a asks on the scenario's servers, the first resolution of each host at the given pace. as is what its
// resolutions count as (probe.Measured, probe.Predicted), settingsFrom says whose the settings are.
func modelled(sc scenario.Scenario, a asking, pace float64, as, settingsFrom string) source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		m := newModel(sc, a, as)
		return walk{
			asking: a, target: sc.Target, settings: engine.Settings(sc.System, m.resolver, settingsFrom), resolver: m.resolver, facts: sc.Facts,
			workload: cases.Workload(sc), hostname: sc.System.Hostname, pause: m.pause, prober: newUnhurried(a.hosts, m.engine(pace), m.engine(0), m.anew(), emit),
		}.run(ctx, emit)
	}
}
