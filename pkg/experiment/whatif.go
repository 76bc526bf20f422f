package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Budget bounds what an experiment may do in somebody's pod.
type Budget struct {
	// Rounds is how often each variant of a host is measured, in turn with the others.
	Rounds int
	// Resolutions bounds the resolutions in all.
	Resolutions int
	// Time bounds the whole measurement.
	Time time.Duration
}

// DefaultBudget is small: a few dozen queries, and an end when something is silent.
var DefaultBudget = Budget{Rounds: 3, Resolutions: 60, Time: 15 * time.Second}

// OrDefault returns b with its zero fields set to those of DefaultBudget.
func (b Budget) OrDefault() Budget {
	if b.Rounds <= 0 {
		b.Rounds = DefaultBudget.Rounds
	}
	if b.Resolutions <= 0 {
		b.Resolutions = DefaultBudget.Resolutions
	}
	if b.Time <= 0 {
		b.Time = DefaultBudget.Time
	}
	return b
}

// Predict fills t with what p predicts for every name under every variant. A prediction that rests on a name which the
// model was never taught is left out, and so are those of a name whose present walk the model cannot repeat.
func (t *Table) Predict(ctx context.Context, p *Predictor) error {
	for _, list := range [][]probe.Resolution{t.Hosts, t.Also} {
		for _, now := range list {
			again, unknown, err := p.Predict(ctx, t.ask(now.Host, probe.Variant{}), now)
			if err != nil {
				return fmt.Errorf("predict how %q is resolved: %w", now.Host, err)
			}
			if len(unknown) > 0 || !sameWalk(now, again) {
				continue
			}
			for _, v := range t.Variants {
				r, unknown, err := p.Predict(ctx, t.ask(now.Host, v), now)
				if err != nil {
					return fmt.Errorf("predict how %q is resolved with %s: %w", now.Host, v.Label(), err)
				}
				c := t.cell(now.Host, v.Label())
				if c.unknown = unknown; len(unknown) == 0 {
					c.predicted = &r
				}
			}
		}
	}
	return nil
}

// Measure carries out with p what predictions leave open or promise, within b. Rounds are interleaved, so that what changes in
// the cluster meanwhile meets all variants alike; after each round it calls progress. Running out of budget is no error: the
// table then holds what was measured so far.
func (t *Table) Measure(ctx context.Context, p Prober, b Budget, progress func()) error {
	within, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	spent := 0
	for round := range b.Rounds {
		asks := t.round(round)
		if b.Rounds == 1 {
			asks = t.once(asks)
		}
		for _, ask := range asks {
			if spent == b.Resolutions {
				return nil
			}
			spent++
			if done, err := t.measure(ctx, within, p, ask); done || err != nil {
				return err
			}
		}
		progress()
	}
	return nil
}

// MeasureAll carries out with p every name under variant v that was not measured yet, within the time of b.
func (t *Table) MeasureAll(ctx context.Context, p Prober, b Budget, v probe.Variant) error {
	within, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	for _, list := range [][]probe.Resolution{t.Hosts, t.Also} {
		for _, now := range list {
			if t.IsMeasured(now.Host, v.Label()) {
				continue
			}
			if done, err := t.measure(ctx, within, p, t.ask(now.Host, v)); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// measure carries out one ask. It is done when the time of the budget is up: what came back then was cut short and tells
// nothing about the variant.
func (t *Table) measure(ctx, within context.Context, p Prober, ask probe.Ask) (done bool, err error) {
	r, err := p.Resolve(within, ask)
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case within.Err() != nil:
		return true, nil
	case err != nil:
		return true, fmt.Errorf("resolve %q with %s: %w", ask.Host, ask.Variant.Label(), err)
	}
	t.Measured(r)
	return false, nil
}

// once returns the asks of a round that is the only one: how the settings as they are do is known already, and what is expected to be
// quick comes first, so that it is not the slow ones that use up the time.
func (t *Table) once(asks []probe.Ask) []probe.Ask {
	asks = slices.DeleteFunc(asks, func(a probe.Ask) bool { return a.Variant.Label() == probe.VariantNow })
	slices.SortStableFunc(asks, func(a, b probe.Ask) int { return cmp.Compare(t.expected(a), t.expected(b)) })
	return asks
}

// expected is how long an ask is predicted to take; without a prediction it may be what helps.
func (t *Table) expected(a probe.Ask) probe.Millis {
	if p := t.cell(a.Host, a.Variant.Label()).predicted; p != nil {
		return p.Duration
	}
	return 0
}

// outdoneForAll says whether other variants outdo v for every host: then it is no choice.
func (t *Table) outdoneForAll(v probe.Variant) bool {
	for _, host := range t.Hosts {
		if !t.unchanged(host.Host, v.Label()) && !t.outdone(host.Host, v) {
			return false
		}
	}
	return true
}

// round returns the asks of one round. The other names in use are tried once, in the first round, and only where they are
// not known to be tried as they are now.
func (t *Table) round(n int) []probe.Ask {
	var asks []probe.Ask
	for _, host := range t.Hosts {
		var of []probe.Ask
		for _, v := range t.Variants {
			if !t.unchanged(host.Host, v.Label()) && !t.outdone(host.Host, v) {
				of = append(of, t.ask(host.Host, v))
			}
		}
		if len(of) > 0 {
			asks = append(append(asks, t.ask(host.Host, probe.Variant{})), of...)
		}
	}
	if n > 0 {
		return asks
	}
	for _, also := range t.Also {
		for _, v := range t.Variants {
			if !v.TrailingDot && !t.unchanged(also.Host, v.Label()) && !t.outdoneForAll(v) {
				asks = append(asks, t.ask(also.Host, v))
			}
		}
	}
	return asks
}
