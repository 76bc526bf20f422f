//go:build linux

package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// comparison is how cases are run and compared with one real library.
type comparison struct {
	// name is the library's in errors.
	name string
	// recorded returns how the real library differs from what was recorded.
	recorded func(*ran) []string
	// differences returns how ours differs from the real one; nil is Differences.
	differences func(*ran) []Difference
	// again runs cases once more that only the machine made differ, beyond measureAgain; it returns how many. nil runs none.
	again func(*testing.T, *Bench, []*ran) int
	// madeSmaller goes on with what is said of a case made smaller.
	madeSmaller string
}

// compared is what came of a comparison.
type compared struct {
	all               []*ran
	mismatches, again int
	took              time.Duration
}

// run runs all cases, or the one that -only names, fails the test where ours differs, and makes some of those cases smaller.
func (c comparison) run(t *testing.T, b *Bench, cases ...[]*ran) compared {
	t.Helper()
	if c.differences == nil {
		c.differences = func(r *ran) []Difference { return Differences(r.c, r.real, r.ours) }
	}
	all := slices.DeleteFunc(slices.Concat(cases...), func(r *ran) bool {
		return *flagOnly != "" && *flagOnly != r.c.Name
	})
	began := time.Now()
	runAll(t, b, all)
	again := measureAgain(t, b, all)
	if c.again != nil {
		again += c.again(t, b, all)
	}
	took := time.Since(began)
	var mismatches []*ran
	for _, r := range all {
		if !c.check(t, r) {
			mismatches = append(mismatches, r)
		}
	}
	for _, r := range mismatches[:min(*flagShrink, len(mismatches))] {
		small := shrink(t, b, r)
		t.Logf("%s, made smaller%s:\n%s\n%s", r.c.Name, c.madeSmaller, small.c.Text(), Report(c.differences(small), small.real, small.ours))
	}
	return compared{all, len(mismatches), again, took}
}

// check fails the test where a case did not run or differs. It returns false for what ours did differently.
func (c comparison) check(t *testing.T, r *ran) bool {
	t.Helper()
	if r.err != nil {
		t.Errorf("%s: %v", r.c.Name, r.err)
		return true
	}
	if r.recorded != nil {
		if diff := c.recorded(r); len(diff) > 0 {
			t.Errorf("%s: the real %s did not do what was recorded:\n  %s", r.c.Name, c.name, strings.Join(diff, "\n  "))
		}
	}
	diff := c.differences(r)
	if *flagOnly != "" {
		t.Log(r.c.Text())
	}
	if report := Report(diff, r.real, r.ours); len(diff) > 0 {
		t.Errorf("%s:\n%s", r.c.Name, report)
	} else if *flagOnly != "" {
		t.Log(report)
	}
	return len(diff) == 0
}
