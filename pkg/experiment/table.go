package experiment

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Plan is what an experiment compares: variants of the settings, for hosts and for the other names in use.
type Plan struct {
	// Hosts and Also are names whose resolution under the settings as they are is known.
	Hosts, Also []probe.Resolution
	// Variants are compared with the settings as they are.
	Variants []probe.Variant
	// Ask is how every name is asked for; its Host and Variant are filled in.
	Ask probe.Ask
	// Zone is the cluster's zone, empty when unknown.
	Zone string
	// Ignored is what has to be said of options that are not among Variants because the libc ignores them.
	Ignored string
	// Libc is the libc that names are asked through where it is not that of the run.
	Libc probe.Resolver
}

// ask returns the question for a name under a variant.
func (p Plan) ask(name string, v probe.Variant) probe.Ask {
	ask := p.Ask
	ask.Host, ask.Variant = name, v
	return ask
}

// Table holds what is known of every name under every variant: measured where it was measured, else predicted. It is not safe
// for concurrent use.
type Table struct {
	Plan
	// Others hold the same for the other libcs of the pod's containers.
	Others []*Table
	cells  map[cellKey]*cell
}

type cellKey struct{ name, variant string }

// cell is what is known of one name under one variant.
type cell struct {
	// predicted is nil without a prediction that holds.
	predicted *probe.Resolution
	// unknown are the names that keep the prediction from holding.
	unknown  []string
	measured []probe.Resolution
}

// NewTable returns a Table that knows nothing but the settings as they are.
func NewTable(p Plan) *Table { return &Table{Plan: p, cells: map[cellKey]*cell{}} }

func (t *Table) cell(name, variant string) *cell {
	key := cellKey{name, variant}
	if t.cells[key] == nil {
		t.cells[key] = &cell{}
	}
	return t.cells[key]
}

// Measured enters a resolution that took place.
func (t *Table) Measured(r probe.Resolution) {
	c := t.cell(r.Host, r.Variant)
	c.measured = append(c.measured, r)
}

// now returns how name was resolved under the settings as they are, before the experiment.
func (t *Table) now(name string) (probe.Resolution, bool) {
	for _, list := range [][]probe.Resolution{t.Hosts, t.Also} {
		for _, r := range list {
			if r.Host == name {
				return r, true
			}
		}
	}
	return probe.Resolution{}, false
}

// Resolution returns what is known of name under variant: of the measured resolutions the one with the median duration, or
// one that does not give the application the same as the settings as they are, if there is any; else the prediction.
func (t *Table) Resolution(name, variant string) (probe.Resolution, bool) {
	c := t.cell(name, variant)
	now, _ := t.now(name)
	for _, r := range c.measured {
		if !Same(now, r) {
			return r, true
		}
	}
	if n := len(c.measured); n > 0 {
		sorted := slices.SortedStableFunc(slices.Values(c.measured), func(a, b probe.Resolution) int { return int(a.Duration - b.Duration) })
		return sorted[(n-1)/2], true
	}
	if variant == probe.VariantNow {
		return t.now(name)
	}
	if c.predicted != nil {
		return *c.predicted, true
	}
	return probe.Resolution{}, false
}

// IsMeasured says whether name was resolved under variant.
func (t *Table) IsMeasured(name, variant string) bool { return len(t.cell(name, variant).measured) > 0 }

// Unmeasured returns the names, hosts first, that were not resolved under v.
func (t *Table) Unmeasured(v probe.Variant) []string {
	var names []string
	for _, list := range [][]probe.Resolution{t.Hosts, t.Also} {
		for _, r := range list {
			if !t.IsMeasured(r.Host, v.Label()) {
				names = append(names, r.Host)
			}
		}
	}
	return names
}

// unchanged says whether a prediction holds that name is tried exactly as it is now.
func (t *Table) unchanged(name, variant string) bool {
	now, known := t.now(name)
	c := t.cell(name, variant)
	return known && c.predicted != nil && sameWalk(now, *c.predicted) && sameMessages(now, *c.predicted)
}

// sameMessages says whether two resolutions with the same walk sent the same number of messages to each server and transport.
func sameMessages(a, b probe.Resolution) bool {
	type way struct {
		server    string
		transport probe.Transport
	}
	count := map[way]int{}
	for sign, r := range map[int]probe.Resolution{1: a, -1: b} {
		for _, attempt := range r.Attempts {
			for _, q := range attempt.Queries {
				for _, x := range q.Transmissions {
					count[way{x.Server, x.Transport}] += sign
				}
			}
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// outdone says whether a prediction holds that v keeps the host from resolving, or that another variant gives it the same in fewer
// queries and no more time, so that measuring v would only cost packets. The final dot is no match for a setting: it is a test.
func (t *Table) outdone(host string, v probe.Variant) bool {
	mine := t.cell(host, v.Label()).predicted
	if mine == nil || v.TrailingDot {
		return false
	}
	if now, known := t.now(host); known && now.Outcome == probe.OK && mine.Outcome != probe.OK {
		return true
	}
	for _, other := range t.Variants {
		theirs := t.cell(host, other.Label()).predicted
		if !other.TrailingDot && theirs != nil && Same(*mine, *theirs) && theirs.QueriesSent < mine.QueriesSent && theirs.Duration <= mine.Duration {
			return true
		}
	}
	return false
}

// sameWalk says whether two resolutions tried the same names in the same order, to the same end.
func sameWalk(a, b probe.Resolution) bool {
	return a.Outcome == b.Outcome && slices.EqualFunc(a.Attempts, b.Attempts, func(x, y probe.Attempt) bool {
		return strings.EqualFold(x.Name, y.Name)
	})
}

// Rows are the rows of the what-if table, for each host the settings as they are first. A variant of which nothing is known
// yet has no row.
func (t *Table) Rows() []probe.WhatIf {
	rows := []probe.WhatIf{}
	for _, host := range t.Hosts {
		var of []probe.WhatIf
		for _, v := range t.Variants {
			r, known := t.Resolution(host.Host, v.Label())
			if !known {
				continue
			}
			row := t.row(host, r, v.Label())
			row.Note = t.note(host, r, v)
			of = append(of, row)
		}
		if len(of) == 0 {
			continue
		}
		now, _ := t.Resolution(host.Host, probe.VariantNow)
		first := t.row(host, now, probe.VariantNow)
		first.Note = t.Ignored
		rows = append(append(rows, first), of...)
	}
	return rows
}

// row is the row of a host under a variant, of which r is known.
func (t *Table) row(host, r probe.Resolution, variant string) probe.WhatIf {
	row := probe.WhatIf{
		Host: host.Host, Variant: variant, Outcome: r.Outcome, Duration: r.Duration, QueriesSent: r.QueriesSent, SameAnswer: Same(host, r), Source: r.Source,
	}
	for _, m := range t.cell(host.Host, variant).measured {
		if row.Times++; row.Times == 1 {
			row.Fastest, row.Slowest = m.Duration, m.Duration
		}
		row.Fastest, row.Slowest = min(row.Fastest, m.Duration), max(row.Slowest, m.Duration)
	}
	for _, other := range t.Others {
		before, had := other.now(host.Host)
		after, known := other.Resolution(host.Host, variant)
		if had && known {
			row.Libcs = append(row.Libcs, probe.WhatIfLibc{
				Libc: other.Libc.Libc, LibcVersion: other.Libc.Version, Outcome: after.Outcome, Duration: after.Duration, QueriesSent: after.QueriesSent,
				SameAnswer: Same(before, after), Source: after.Source,
			})
		}
	}
	return row
}
