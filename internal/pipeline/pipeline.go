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
	// Hosts are resolved and judged; Also must keep working with changed settings. Names given twice are taken once.
	Hosts, Also []string
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
	if !r.reached() {
		r.explain()
		return ctx.Err()
	}
	r.resolveAlso(ctx)
	if table := r.whatIf(ctx); table != nil && r.allTried() {
		r.patch(ctx, table)
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
}

// Resolve carries out an ask and keeps what came of it: everything that was resolved is evidence. What ctx cut short is not
// kept, since it tells about the time and not about DNS.
func (r *run) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	res, err := r.Prober.Resolve(ctx, ask)
	if err == nil && ctx.Err() == nil {
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

// repeat resolves every host as often again as was asked for, in turn, so that whatever drifts hits all alike.
func (r *run) repeat(ctx context.Context) {
	for n := 1; n < r.Count; n++ {
		for _, host := range r.hosts {
			_, err := r.Resolve(ctx, r.ask(host.Host, probe.PurposeRepeat))
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				r.problem(fmt.Errorf("repeat the resolution of %q: %w", host.Host, err), "run again")
				return
			}
		}
	}
	if r.Count > 1 {
		r.judge()
	}
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
		res, err := r.Resolve(within, r.ask(name, probe.PurposeAlso))
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

// slow is the duration from which a resolution has waited for something that did not come.
const slow = probe.Millis(time.Second)

// whatIf predicts and measures the variants that could change something. It returns nil when there are none.
func (r *run) whatIf(ctx context.Context) *experiment.Table {
	// Only names that DNS answered can change with its settings.
	hosts, also := overDNS(r.hosts), overDNS(r.also)
	variants := experiment.Variants(r.Settings, hosts, also)
	for _, v := range r.Variants {
		if !slices.ContainsFunc(variants, func(w probe.Variant) bool { return w.Label() == v.Label() }) {
			variants = append(variants, v)
		}
	}
	if len(variants) == 0 || len(hosts) == 0 || ctx.Err() != nil {
		return nil
	}
	table := experiment.NewTable(experiment.Plan{
		Hosts: hosts, Also: also, Variants: variants, Ask: r.ask("", probe.PurposeWhatIf), Zone: probe.ClusterZone(r.Settings.Search),
	})
	predictor := experiment.NewPredictor(experiment.Learn(r.known), r.Settings, r.Resolver)
	if err := table.Predict(ctx, predictor); err != nil && ctx.Err() == nil {
		r.problem(fmt.Errorf("%w; the variants are measured all the same", err), "")
	}
	r.showRows(table)
	budget := r.Budget
	if slices.ContainsFunc(hosts, func(res probe.Resolution) bool { return res.Duration >= slow }) {
		// Where a resolution waits for timeouts, its spread is that of the timeouts: once is enough.
		budget.Rounds = 1
	}
	err := table.Measure(ctx, r, budget, func() { r.showRows(table) })
	if err != nil && ctx.Err() == nil {
		r.problem(fmt.Errorf("try variants of the settings: %w", err), "run again; what is marked as predicted was not measured")
	}
	r.showRows(table)
	return table
}

// allTried says whether every name in use was resolved under the settings as they are. Where one was not, nobody knows what a
// patch would do to it, so none is proposed.
func (r *run) allTried() bool {
	return len(r.hosts) == len(r.Hosts) && len(r.also) == len(r.Also)
}

func (r *run) showRows(table *experiment.Table) {
	if rows := table.Rows(); len(rows) > 0 {
		r.known.WhatIf = rows
		r.emit(probe.Event{Kind: probe.KindWhatIf, WhatIf: rows})
	}
}

func overDNS(list []probe.Resolution) []probe.Resolution {
	var out []probe.Resolution
	for _, res := range list {
		if len(res.Attempts) > 0 {
			out = append(out, res)
		}
	}
	return out
}

// patch chooses a value of ndots, checks it on every name in use, and emits the change. A choice that the check proves wrong
// is taken back and the next best one is checked.
func (r *run) patch(ctx context.Context, table *experiment.Table) {
	situation := patch.Situation{Ndots: r.Settings.Ndots, Zone: table.Zone, Hosts: table.Hosts, Also: table.Also}
	for ctx.Err() == nil {
		best, ok := patch.Choose(situation, candidates(table))
		if !ok {
			return
		}
		chosen := experiment.Ndots(best.Ndots)
		before := table.Unmeasured(chosen)
		if len(before) > 0 {
			err := table.MeasureAll(ctx, r, r.Budget, chosen)
			r.showRows(table)
			left := table.Unmeasured(chosen)
			if err == nil && len(left) < len(before) {
				// What was measured may speak against the choice.
				continue
			}
			if err == nil {
				err = errors.New("no time left")
			}
			if ctx.Err() == nil {
				r.problem(fmt.Errorf("check %s on %s: %w; it is only predicted", chosen.Label(), strings.Join(left, ", "), err),
					"run again before applying the patch")
			}
		}
		r.showPatch(situation, best)
		return
	}
}

// candidates are the values of ndots in the table.
func candidates(table *experiment.Table) []patch.Candidate {
	var out []patch.Candidate
	for _, v := range table.Variants {
		ndots, ok := experiment.NdotsOf(v)
		if !ok {
			continue
		}
		c := patch.Candidate{Ndots: ndots, After: map[string]probe.Resolution{}}
		for _, list := range [][]probe.Resolution{table.Hosts, table.Also} {
			for _, now := range list {
				if res, known := table.Resolution(now.Host, v.Label()); known {
					c.After[now.Host] = res
				}
			}
		}
		out = append(out, c)
	}
	return out
}

func (r *run) showPatch(s patch.Situation, c patch.Candidate) {
	if r.Workload == nil {
		return
	}
	p, err := patch.Build(*r.Workload, c.Ndots, s.Names(c))
	if err != nil {
		r.problem(err, "set ndots by hand: ndots:"+fmt.Sprint(c.Ndots)+" was checked")
		return
	}
	r.known.Patch = &p
	r.emit(probe.Event{Kind: probe.KindPatch, Patch: &p})
}

// explain says what the run could not find out: a host that does not resolve, or resolves late, must not be left without a
// word.
func (r *run) explain() {
	for _, host := range r.hosts {
		if len(r.known.Findings) > 0 {
			return
		}
		why, next := unexplained(host, r.Target.Pod != "")
		if why != "" {
			r.problem(errors.New(why), next)
		}
	}
}

// unexplained says what is odd about a resolution that no finding explains, empty when nothing is.
func unexplained(res probe.Resolution, inPod bool) (why, next string) {
	lost, refused, answered, servers := losses(res)
	from := strings.Join(servers, ", ")
	name := printable.Text(res.Host, maxName)
	switch {
	case res.Outcome != probe.OK && len(servers) == 0:
		return fmt.Sprintf("no query was sent for %s: %s does not take it for the name of a host", name, libcName(res.Libc)),
			"look for characters that no host name has: only letters, digits, hyphens, underscores and single dots are sent"
	case res.Outcome != probe.OK && answered == 0 && lost > 0:
		if !inPod {
			return fmt.Sprintf("no verdict on why %s stays silent: 0 replies to %s; a firewall, a wrong route and a dead server look the same from here",
				from, messages(lost)), "look whether the server runs, and whether this machine may reach its port 53"
		}
		return fmt.Sprintf("no verdict on why %s stays silent: 0 replies to %s; a policy that blocks egress, a Service without endpoints "+
				"behind it and a dead server look the same from one pod", from, messages(lost)),
			"look for NetworkPolicies that select this pod, and at the endpoints: kubectl -n kube-system get endpointslices -l k8s-app=kube-dns"
	case res.Outcome != probe.OK && answered == 0 && refused > 0:
		if !inPod {
			return fmt.Sprintf("no verdict on why %s cannot be reached (ICMP says so); a server that has stopped and a firewall that rejects look the "+
				"same from here", from), "look whether the server runs, and whether this machine may reach its port 53"
		}
		return fmt.Sprintf("no verdict on why %s cannot be reached (ICMP says so); a Service without endpoints and a server that has stopped look the "+
			"same from one pod", from), "look at the endpoints: kubectl -n kube-system get endpointslices -l k8s-app=kube-dns"
	case res.Outcome != probe.OK:
		return fmt.Sprintf("no verdict on why %s does not resolve (%s): none of this version fits", name, res.Outcome),
			"look at its attempts: what each was answered is all there"
	case res.Duration >= slow && lost > 0:
		return fmt.Sprintf("no verdict on why %s took %.2f s: %s got no reply, and one run cannot tell an accident from a fault",
			name, res.Duration.Duration().Seconds(), messages(lost)), "run again a few times and compare"
	case res.Duration >= slow:
		return fmt.Sprintf("no verdict on why %s took %.2f s: every message was answered, some of them late", name, res.Duration.Duration().Seconds()),
			"look at the attempts for the late replies"
	}
	return "", ""
}

// reached says whether any host got as far as an answer, from DNS or without. Where everything is silent or refused, more
// questions would only take more time.
func (r *run) reached() bool {
	return slices.ContainsFunc(r.hosts, func(res probe.Resolution) bool {
		_, _, answered, _ := losses(res)
		return answered > 0 || len(res.Attempts) == 0
	})
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func libcName(l probe.Libc) string {
	if l == "" {
		return "the libc"
	}
	return printable.Text(string(l), maxName)
}

// maxName bounds a host in a sentence, in bytes.
const maxName = 253

// losses counts the transmissions of a resolution by what came of them, and names the servers.
func losses(res probe.Resolution) (lost, refused, answered int, servers []string) {
	for _, a := range res.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if server := printable.Text(strings.TrimSuffix(t.Server, ":53"), maxName); !slices.Contains(servers, server) {
					servers = append(servers, server)
				}
				switch {
				case t.Received != nil:
					answered++
				case t.Reply == probe.ReplyLost:
					lost++
				case t.Reply == probe.ReplyICMPRefused || t.Reply == probe.ReplyUnreachable:
					refused++
				}
			}
		}
	}
	return lost, refused, answered, servers
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
