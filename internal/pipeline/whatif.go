package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// whatIf predicts and measures the variants that could change something. It returns nil when there are none.
func (r *run) whatIf(ctx context.Context, repairs patch.Repairs) *experiment.Table {
	// Only names that DNS answered can change with its settings.
	hosts, also := overDNS(r.hosts), overDNS(r.also)
	variants, ignored := r.variants(hosts, also, repairs)
	if len(variants) == 0 || len(hosts) == 0 || ctx.Err() != nil {
		return nil
	}
	table := experiment.NewTable(experiment.Plan{
		Hosts: hosts, Also: also, Variants: variants, Ask: r.ask("", probe.PurposeWhatIf), Zone: probe.ClusterZone(r.Settings.Search), Ignored: ignored,
	})
	predictor := experiment.NewPredictor(experiment.Learn(r.known), r.Settings, r.Resolver)
	if err := table.Predict(ctx, predictor); err != nil && ctx.Err() == nil {
		r.problem(fmt.Errorf("%w; the variants are measured all the same", err), "")
	}
	r.throughOthers(ctx, table)
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

// variants are those that the resolutions suggest, those of the findings, and those that somebody asked for, each once. A cause that no
// setting can mend leaves only what was asked for and the order of names.
func (r *run) variants(hosts, also []probe.Resolution, repairs patch.Repairs) (variants []probe.Variant, ignored string) {
	variants, ignored = experiment.Variants(r.Settings, hosts, also, r.repeated())
	add := func(v probe.Variant) {
		// What has another name and is the same goes: that of a change says more.
		variants = slices.DeleteFunc(variants, func(w probe.Variant) bool { return w.Label() != v.Label() && sameSettings(v, w) })
		if !slices.ContainsFunc(variants, func(w probe.Variant) bool { return w.Label() == v.Label() }) {
			variants = append(variants, v)
		}
	}
	for _, c := range repairs.All() {
		add(c.Variant)
	}
	for _, v := range r.Variants {
		add(v)
	}
	return variants, ignored
}

// sameSettings says whether two variants come to the same. Where one of them writes out a list that the other leaves as it is they may
// do so too, which is not looked into.
func sameSettings(a, b probe.Variant) bool {
	return a.TrailingDot == b.TrailingDot && slices.Equal(a.Options, b.Options) && slices.Equal(a.Search, b.Search) && slices.Equal(a.Nameservers, b.Nameservers)
}

// repeated are the further resolutions of the hosts under the settings as they are.
func (r *run) repeated() []probe.Resolution {
	var out []probe.Resolution
	for _, res := range r.known.Resolutions {
		if res.Question == nil && res.Variant == probe.VariantNow && res.Purpose == probe.PurposeRepeat && slices.Contains(r.Hosts, res.Host) {
			out = append(out, res)
		}
	}
	return out
}

// throughOthers resolves every name in use through the other libcs of the pod, and predicts the variants for them.
func (r *run) throughOthers(ctx context.Context, table *experiment.Table) {
	for _, libc := range r.Libcs {
		if libc.Libc == r.Resolver.Libc && libc.Version == r.Resolver.Version || ctx.Err() != nil {
			continue
		}
		plan := experiment.Plan{Variants: table.Variants, Ask: r.ask("", probe.PurposeCompare), Zone: table.Zone, Libc: libc}
		plan.Ask.Libc, plan.Ask.LibcVersion, plan.Ask.Caller = libc.Libc, libc.Version, ""
		other := patch.Other{Libc: libc, Before: map[string]probe.Resolution{}}
		seen := r.known
		for _, list := range []struct {
			of   []probe.Resolution
			into *[]probe.Resolution
		}{{table.Hosts, &plan.Hosts}, {table.Also, &plan.Also}} {
			for _, name := range list.of {
				ask := plan.Ask
				ask.Host = name.Host
				res, err := r.Prober.Resolve(ctx, ask)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					r.problem(fmt.Errorf("resolve %q through %s, so no patch is proposed: %w", name.Host, libcName(libc.Libc), err), "run again")
					continue
				}
				*list.into = append(*list.into, res)
				other.Before[res.Host] = res
				seen.Resolutions = append(slices.Clip(seen.Resolutions), res)
			}
		}
		column := experiment.NewTable(plan)
		if err := column.Predict(ctx, experiment.NewPredictor(experiment.Learn(seen), r.Settings, libc)); err != nil && ctx.Err() == nil {
			r.problem(fmt.Errorf("%w; it is measured where a patch hangs on it", err), "")
		}
		table.Others = append(table.Others, column)
		r.others = append(r.others, other)
	}
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
