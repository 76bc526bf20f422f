// Package pipeline is one run from the first resolution to the checked patch. Every face (a run in a pod, on this machine,
// on a modelled cluster) goes through it; what differs is the Prober.
package pipeline

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/diagnose"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// In is what a run needs to know.
type In struct {
	// Prober carries out resolutions where the run takes place. Its sink gets their events: this package emits none of them.
	Prober experiment.Prober
	// Settings and Resolver are those in force in the target.
	Settings probe.Settings
	Resolver probe.Resolver
	Target   probe.Target
	Facts    map[string]probe.Fact
	// Workload is the object that a patch would change; nil when there is none (this machine).
	Workload *patch.Workload
	// Libcs are the libcs of the pod's other containers, where they are others than Resolver's: names in use must keep working in them
	// too.
	Libcs []probe.Resolver
	// Hosts are resolved and judged; Also must keep working with changed settings. Names given twice are taken once.
	Hosts, Also []string
	// Found are names that the pod was found to use besides. They count as Also where they resolve; one that does not, or not in time,
	// is left out, and keeps no patch from being proposed.
	Found []string
	// Variants are tried besides those that the findings suggest.
	Variants []probe.Variant
	// Ask is how every name is asked for; its Host and Variant are filled in.
	Ask probe.Ask
	// Compare are the libcs that every host is followed through beside that of the run: Libc and Version of each. Empty for none.
	Compare []probe.Resolver
	// Hostname is gethostname() of the target where it is known: libcs differ in whether they search its domain.
	Hostname string
	// Bare sends only the packets of the resolutions of Hosts.
	Bare bool
	// Budget bounds what is sent after that to try variants; zero fields mean those of experiment.DefaultBudget.
	Budget experiment.Budget
	// FollowUps bounds what is sent because a verdict hangs on it; zero fields mean those of DefaultFollowUps.
	FollowUps FollowUpBudget
	// Count is how often each host is resolved, in turn with the others; 0 means once.
	Count int
	// Interval is the time from the beginning of one round of them to that of the next; 0 leaves none.
	Interval time.Duration
	// Pause waits between rounds; nil waits in real time. It returns ctx's error when that ends first.
	Pause func(ctx context.Context, d time.Duration) error
}

// Run resolves the hosts, judges what came out, tries what would change it, and checks a patch. It emits findings as soon as
// there is something to judge, and each conclusion again when it has become better.
//
// An error means that no host could be tried at all, or that ctx ended. Whatever fails later is emitted as a problem with its
// next step, and the run goes on with what it has.
func Run(ctx context.Context, in In, emit func(probe.Event)) error {
	r := &run{In: in, emit: emit, label: strings.ToLower(rand.Text()[:10])}
	r.Hosts, r.Also = unique(in.Hosts), unique(in.Also)
	r.Also = slices.DeleteFunc(r.Also, func(name string) bool { return slices.Contains(r.Hosts, name) })
	r.Budget, r.FollowUps = in.Budget.OrDefault(), in.FollowUps.orDefault()
	r.known = probe.Run{Schema: probe.Schema, Target: in.Target, Settings: in.Settings, Resolver: in.Resolver, Facts: in.Facts}

	if err := r.resolveHosts(ctx); err != nil {
		return err
	}
	r.repeat(ctx)
	r.compare(ctx)
	if in.Bare {
		r.explain()
		return ctx.Err()
	}
	r.followUp(ctx)
	repairs := patch.RepairsOf(r.known, r.hosts)
	if !r.reached() && len(repairs.All()) == 0 {
		r.explain()
		return ctx.Err()
	}
	r.resolveAlso(ctx)
	r.resolveFound(ctx)
	if table := r.whatIf(ctx, repairs); table != nil && r.allTried() {
		r.patch(ctx, table, repairs)
	}
	r.judge()
	r.explain()
	return ctx.Err()
}

// run is one run under way.
type run struct {
	In
	emit func(probe.Event)
	// known is what the run has found out so far: the findings rest on it.
	known probe.Run
	// label is drawn once: see diagnose.Input.
	label string
	// hosts and also are the first resolutions of the names, as far as they could be tried.
	hosts, also []probe.Resolution
	// others are the names in use through In.Libcs, in their order.
	others []patch.Other
}

// Resolve carries out an ask and keeps what came of it: everything that was resolved is evidence. What ctx cut short is not
// kept, since it tells about the time and not about DNS, nor is what other nameservers said than those of the pod.
func (r *run) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	res, err := r.Prober.Resolve(ctx, ask)
	if err == nil && ctx.Err() == nil && ask.Variant.Nameservers == nil {
		r.known.Resolutions = append(r.known.Resolutions, res)
	}
	return res, err
}

// resolveHosts resolves every host under the settings as they are.
func (r *run) resolveHosts(ctx context.Context) error {
	var failed error
	for _, host := range r.Hosts {
		res, err := r.Resolve(ctx, r.ask(host, probe.PurposeAsked))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("resolve %q: %w", host, err))
			continue
		}
		r.hosts = append(r.hosts, res)
		r.judge()
	}
	if failed != nil && len(r.hosts) > 0 {
		// What was found out about the others is worth showing.
		r.problem(failed, "run again for this host alone")
		return nil
	}
	return failed
}

func (r *run) ask(name string, purpose probe.Purpose) probe.Ask {
	ask := r.Ask
	ask.Host, ask.Variant, ask.Purpose = name, probe.Variant{}, purpose
	return ask
}

// judge emits the findings that rest on what is known by now.
func (r *run) judge() {
	r.known.Findings = diagnose.Diagnose(r.input())
	r.emit(probe.Event{Kind: probe.KindFindings, Findings: r.known.Findings})
}

// problem emits what could not be done. An error that knows its own next step is believed.
func (r *run) problem(err error, next string) {
	var knows interface{ NextStep() string }
	if errors.As(err, &knows) && knows.NextStep() != "" {
		next = knows.NextStep()
	}
	note := err.Error()
	if next != "" {
		note += "; next: " + next
	}
	note = printable.Text(note, printable.MaxText)
	r.known.Problems = append(r.known.Problems, note)
	r.emit(probe.Event{Kind: probe.KindProblem, Note: note})
}

// resolveAlso resolves the other names in use under the settings as they are.
func (r *run) resolveAlso(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, r.Budget.Time)
	defer cancel()
	for i, name := range r.Also {
		ask := r.ask(name, probe.PurposeAlso)
		if !r.reached() && (ask.Timeout <= 0 || ask.Timeout > silence) {
			// It will be silent for this name as well, and so long shows that.
			ask.Timeout = silence
		}
		res, err := r.Resolve(within, ask)
		switch {
		case ctx.Err() != nil:
			return
		case within.Err() != nil:
			r.problem(fmt.Errorf("resolve %s: no time left, so no patch is proposed", strings.Join(r.Also[i:], ", ")), "run again with fewer names in --also")
			return
		case err != nil:
			r.problem(fmt.Errorf("resolve %q, so no patch is proposed: %w", name, err), "check the name given with --also")
			continue
		}
		r.also = append(r.also, res)
	}
}

// silence is how long another name is waited for where nothing has answered for the hosts.
const silence = probe.Millis(2 * time.Second)

// slow is the duration from which a resolution has waited for something that did not come.
const slow = probe.Millis(time.Second)

// allTried says whether every name in use was resolved under the settings as they are. Where one was not, nobody knows what a
// patch would do to it, so none is proposed.
func (r *run) allTried() bool {
	return len(r.hosts) == len(r.Hosts) && len(r.also) == len(r.Also)
}

// reached says whether any host got as far as an answer, from DNS or without. Where everything is silent or refused, more
// questions would only take more time.
func (r *run) reached() bool {
	return slices.ContainsFunc(r.hosts, func(res probe.Resolution) bool {
		_, _, answered, _ := losses(res)
		return answered > 0 || len(res.Attempts) == 0
	})
}

func unique(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
