package cli

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/pipeline"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// walk is a run outside of a pod, on this machine or on a model: everything that is known before the first packet.
type walk struct {
	asking   asking
	target   probe.Target
	settings probe.Settings
	resolver probe.Resolver
	facts    map[string]probe.Fact
	// workload is what a patch would change; nil where there is none.
	workload *patch.Workload
	prober   experiment.Prober
	// hostname is gethostname() of the target.
	hostname string
	// pause waits between rounds of lookups; nil waits in real time.
	pause func(context.Context, time.Duration) error
}

// run emits what is known, then resolves and concludes. prober emits the events of resolutions itself.
func (w walk) run(ctx context.Context, emit func(probe.Event)) error {
	emit(probe.Event{Kind: probe.KindRun, Run: &probe.Header{
		Schema: probe.Schema, Tool: probe.Tool{Version: version.Version}, Target: w.target,
	}})
	emit(probe.Event{Kind: probe.KindSettings, Settings: &w.settings})
	emit(probe.Event{Kind: probe.KindResolver, Resolver: &w.resolver})
	if len(w.facts) > 0 {
		emit(probe.Event{Kind: probe.KindFacts, Facts: w.facts})
	}
	return pipeline.Run(ctx, pipeline.In{
		Prober: w.prober, Settings: w.settings, Resolver: w.resolver, Target: w.target, Facts: w.facts, Workload: w.workload,
		Hosts: w.asking.hosts, Also: w.asking.also, Variants: w.asking.variants, Ask: w.asking.ask(""), Bare: w.asking.bare,
		Compare: w.asking.compared(w.resolver), Hostname: w.hostname, Count: w.asking.count, Interval: w.asking.interval, Pause: w.pause,
	}, emit)
}

// unhurried carries out the first resolution of each host at the pace of one engine, for somebody to watch, those of other libcs for
// comparison with an engine of their own, and all others with a third one. It carries out one at a time: the engines share what the modelled servers remember.
type unhurried struct {
	first, rest, compared experiment.Prober
	mu                    sync.Mutex
	hosts                 map[string]bool // those that somebody wants to watch
}

func newUnhurried(hosts []string, first, rest, compared *engine.Engine, emit func(probe.Event)) *unhurried {
	u := &unhurried{
		first: first.Prober("r", emit), rest: rest.Prober("w", emit), compared: compared.Prober("c", emit), hosts: map[string]bool{},
	}
	for _, h := range hosts {
		u.hosts[h] = true
	}
	return u
}

// Resolve carries out one ask.
func (u *unhurried) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if ask.Purpose == probe.PurposeCompare {
		return u.compared.Resolve(ctx, ask)
	}
	if u.hosts[ask.Host] {
		delete(u.hosts, ask.Host)
		return u.first.Resolve(ctx, ask)
	}
	return u.rest.Resolve(ctx, ask)
}
