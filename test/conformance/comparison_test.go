//go:build linux

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// comparison is how cases are run and compared with one real library.
type comparison struct {
	// name is the library's in errors, and that of its folder in testdata/regressions.
	name string
	// recorded returns how the real library differs from what was recorded.
	recorded func(*ran) []string
	// differences returns how ours differs from the real one; nil is Differences.
	differences func(*ran) []Difference
	// again picks cases to be run once more that only the machine made differ, beyond those that differ in times alone. nil picks none.
	again func(*ran) bool
	// chances is how often such a case is run again while it differs; 0 is once.
	chances int
	// apart is set for a library that never has two names share a socket on purpose.
	apart bool
}

// compared is what came of a comparison.
type compared struct {
	all                         []*ran
	fixed, regressions          int
	random                      drawn
	mismatches, again, modelled int
	took                        time.Duration
}

// run runs all cases, or the one that -only names, fails the test where ours differs, and makes some of those cases smaller.
func (c comparison) run(t *testing.T, b *Bench, fixed []*ran, random drawn) compared {
	t.Helper()
	if c.differences == nil {
		c.differences = func(r *ran) []Difference { return Differences(r.c, r.real, r.ours) }
	}
	regressions := regressionCases(t, c.name)
	if *flagFrom > 0 {
		fixed, regressions = nil, nil
	}
	n := compared{fixed: len(fixed), regressions: len(regressions), random: random}
	n.all = slices.DeleteFunc(slices.Concat(fixed, regressions, random.cases), func(r *ran) bool {
		return *flagOnly != "" && *flagOnly != r.c.Name
	})
	began := time.Now()
	runAll(t, b, n.all)
	n.again = c.measureAgain(t, b, n.all)
	n.took = time.Since(began)
	var mismatches []*ran
	for _, r := range n.all {
		if !c.check(t, r) {
			mismatches = append(mismatches, r)
		}
	}
	n.mismatches = len(mismatches)
	for _, r := range mismatches[:min(*flagShrink, len(mismatches))] {
		small := shrink(t, b, r, c.differences)
		t.Logf("%s, made smaller, for testdata/regressions:\n%s\n%s", r.c.Name, small.c.Text(), Report(c.differences(small), small.real, small.ours))
	}
	if c.apart {
		checkShared(t, n.all)
	}
	n.modelled = checkModel(t, b, n.all)
	return n
}

// print prints the line by which a library's comparison is known. what says what of the library, excluded why fixed cases were left out.
func (n compared) print(what string, excluded map[string]int) {
	left := n.random.excluded
	if n.fixed == 0 {
		excluded = nil
	}
	for reason, count := range excluded {
		left[reason] += count
	}
	fmt.Printf("conformance: %s: fixed %d, regressions %d, random %d (seed %d, numbers %d to %d), mismatches %d, measured twice %d, on the model alike %d of %d, left out %d%s, in %s\n",
		what, n.fixed, n.regressions, len(n.random.cases), *flagSeed, *flagFrom, n.random.end-1, n.mismatches, n.again, n.modelled, len(n.all),
		total(left), reasons(left), n.took.Round(time.Second))
}

// measureAgain runs the cases once more that differ in nothing but times and what is drawn, and those that are picked, with nothing beside them: times
// are measurements, and on a busy machine one of some ten thousand is off. A resolver that is late is late again.
func (c comparison) measureAgain(t *testing.T, b *Bench, all []*ran) int {
	t.Helper()
	late := c.doubtful(all)
	if most := lateAlways + len(all)/lateOne; len(late) > most {
		t.Errorf("%d cases differ in what a busy machine can make differ, that is more than %d", len(late), most)
		return 0
	}
	left := late
	for range max(1, c.chances) {
		if len(left) == 0 {
			break
		}
		if err := b.room.Alone(t.Context(), func() { runThrough(t, left, b.both) }); err != nil {
			t.Error(err)
			break
		}
		left = c.doubtful(left)
	}
	return len(late)
}

// doubtful returns the cases that differ in what a machine can make differ.
func (c comparison) doubtful(all []*ran) (out []*ran) {
	for _, r := range all {
		if r.err != nil {
			continue
		}
		diff := c.differences(r)
		if len(diff) > 0 && (OnlyTimes(diff) || drewTwice(diff) || c.again != nil && c.again(r)) {
			out = append(out, r)
		}
	}
	return out
}

// drewTwice says that nothing differs but which packets share a socket or an id, and times: by chance the kernel gives a later socket
// the port of one that was closed, and dice the same id again. A resolver that shares them shares them again.
func drewTwice(diff []Difference) bool {
	return !slices.ContainsFunc(withoutTimes(diff), func(d Difference) bool {
		aboutClasses := strings.HasPrefix(d.Text, "packet ") && (strings.Contains(d.Text, ": socket: ") || strings.Contains(d.Text, ": id: "))
		return !aboutClasses && !strings.HasPrefix(d.Text, sharedByNames)
	})
}

// So many cases can be measured again: some, and one of so many.
const (
	lateAlways = 10
	lateOne    = 200
)

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
		t.Errorf("%s%s:\n%s", r.c.Name, r.repeat(t), report)
	} else if *flagOnly != "" {
		t.Log(report)
	}
	return len(diff) == 0
}

// repeat says how to run a random case by itself.
func (r *ran) repeat(t *testing.T) string {
	if r.number < 0 {
		return ""
	}
	return fmt.Sprintf(" (-run '^%s$' -seed %d -from %d -random 1)", t.Name(), *flagSeed, r.number)
}

func TestDrewTwice(t *testing.T) {
	for want, diffs := range map[bool][][]Difference{
		true: {
			{{Text: "packet 7: socket: observed 3, ours 4"}, {Text: "packet 8: id: observed 1, ours 2"}},
			{{Text: "packet 7: socket: observed 3, ours 4"}, {Text: "at 1 s", Time: true}},
			{{Text: sharedByNames + "observed 1, ours 0"}},
		},
		false: {
			{{Text: "packet 7: socket: observed 3, ours 4"}, {Text: "packet 7: server: observed 127.0.0.2, ours 127.0.0.3"}},
			{{Text: "call 1 (a): addresses: observed [], ours [10.0.0.1]"}},
		},
	} {
		for _, diff := range diffs {
			if drewTwice(diff) != want {
				t.Errorf("%v: %v", diff, !want)
			}
		}
	}
}
