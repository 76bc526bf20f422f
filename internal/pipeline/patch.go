package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// patch chooses a change, checks it on every name in use and in every libc of the pod, and emits it: what the findings call for, else
// the value of ndots that saves most. Where the cause is one that no setting mends, it proposes nothing.
func (r *run) patch(ctx context.Context, table *experiment.Table, repairs patch.Repairs) {
	if repairs.Hopeless != "" {
		return
	}
	situation := patch.Situation{Ndots: r.Settings.Ndots, Zone: table.Zone, Hosts: table.Hosts, Also: table.Also, Others: r.others}
	if r.repair(ctx, table, situation, repairs.First) {
		return
	}
	if r.patchNdots(ctx, table, situation) {
		return
	}
	r.repair(ctx, table, situation, repairs.Last)
}

// repair proposes the first of changes that helps and breaks nothing, and says whether there was one.
func (r *run) repair(ctx context.Context, table *experiment.Table, s patch.Situation, changes []patch.Change) bool {
	for _, c := range changes {
		left, err := r.check(ctx, table, c.Variant)
		if ctx.Err() != nil {
			return false
		}
		candidate := candidateOf(table, c)
		if !s.Helps(candidate) {
			continue
		}
		r.unchecked(ctx, c.Variant, left, err)
		r.showPatch(s, candidate)
		return true
	}
	return false
}

// patchNdots chooses a value of ndots and checks it. A choice that the check proves wrong is taken back and the next best one is
// checked.
func (r *run) patchNdots(ctx context.Context, table *experiment.Table, s patch.Situation) bool {
	for ctx.Err() == nil {
		best, ok := patch.Choose(s, r.candidates(table))
		if !ok {
			return false
		}
		before := unmeasured(table, best.Change.Variant)
		left, err := r.check(ctx, table, best.Change.Variant)
		if err == nil && len(left) < len(before) {
			// What was measured may speak against the choice.
			continue
		}
		r.unchecked(ctx, best.Change.Variant, left, err)
		r.showPatch(s, best)
		return true
	}
	return false
}

// check resolves what was not resolved yet under a variant, in every libc of the pod, and returns what is left.
func (r *run) check(ctx context.Context, table *experiment.Table, v probe.Variant) (left []string, err error) {
	if len(unmeasured(table, v)) == 0 {
		return nil, nil
	}
	err = table.MeasureAll(ctx, r, r.Budget, v)
	for _, other := range table.Others {
		if err == nil {
			err = other.MeasureAll(ctx, r.Prober, r.Budget, v)
		}
	}
	r.showRows(table)
	return unmeasured(table, v), err
}

// unmeasured are the names that were not resolved under v, with the libc where it is another one.
func unmeasured(table *experiment.Table, v probe.Variant) []string {
	names := table.Unmeasured(v)
	for _, other := range table.Others {
		for _, name := range other.Unmeasured(v) {
			names = append(names, name+" on "+libcName(other.Libc.Libc))
		}
	}
	return names
}

// unchecked says what could not be measured of a change that is proposed all the same.
func (r *run) unchecked(ctx context.Context, v probe.Variant, left []string, err error) {
	if len(left) == 0 || ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("no time left")
	}
	r.problem(fmt.Errorf("check %s on %s: %w; it is only predicted", v.Label(), strings.Join(left, ", "), err), "run again before applying the patch")
}

// candidates are the values of ndots in the table.
func (r *run) candidates(table *experiment.Table) []patch.Candidate {
	var out []patch.Candidate
	for _, v := range table.Variants {
		ndots, ok := experiment.NdotsOf(v)
		if !ok {
			continue
		}
		c := candidateOf(table, patch.Ndots(ndots))
		c.Ndots, c.Change.Caveats = ndots, r.limitsOf(ndots)
		out = append(out, c)
	}
	return out
}

// limitsOf says what a value of ndots does not mend.
func (r *run) limitsOf(ndots int) []string {
	var caveats []string
	for _, f := range r.known.Findings {
		if ndots > 1 && slices.Contains([]string{"nodata-in-search", "servfail-in-search", "refused-in-search", "timeout-in-search"}, f.Class) {
			caveats = append(caveats, fmt.Sprintf("It gets names with %s or more past the search list. Names with fewer still meet %s.", dots(ndots), f.Class))
		}
	}
	return slices.Compact(caveats)
}

func dots(n int) string {
	if n == 1 {
		return "1 dot"
	}
	return fmt.Sprintf("%d dots", n)
}

// candidateOf is a change with what the table knows of every name under it.
func candidateOf(table *experiment.Table, change patch.Change) patch.Candidate {
	after := func(t *experiment.Table) map[string]probe.Resolution {
		known := map[string]probe.Resolution{}
		for _, list := range [][]probe.Resolution{t.Hosts, t.Also} {
			for _, now := range list {
				if res, ok := t.Resolution(now.Host, change.Variant.Label()); ok {
					known[now.Host] = res
				}
			}
		}
		return known
	}
	c := patch.Candidate{Change: change, After: after(table)}
	for _, other := range table.Others {
		c.Others = append(c.Others, after(other))
	}
	return c
}

func (r *run) showPatch(s patch.Situation, c patch.Candidate) {
	if r.Workload == nil {
		return
	}
	p, err := patch.Build(*r.Workload, c.Change, s.Names(c))
	if err != nil {
		r.problem(err, "set it by hand: "+c.Change.Variant.Label()+" was checked")
		return
	}
	r.managed(&p)
	r.known.Patch = &p
	r.emit(probe.Event{Kind: probe.KindPatch, Patch: &p})
}

// managed enters who would take the change back.
func (r *run) managed(p *probe.Patch) {
	manager, known := fact.Facts(r.Facts).Text(fact.ManagedBy)
	if !known || manager == fact.None {
		return
	}
	p.ManagedBy = printable.Text(manager, maxName)
	p.Caveats = append([]string{patch.Managed(p.Kind, p.ManagedBy)}, p.Caveats...)
}
