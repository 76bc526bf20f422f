//go:build linux

package conformance

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

var (
	flagParallel = flag.Int("parallel-cases", 48, "cases of all libraries that run at once; many of them wait for timeouts")
	flagRandom   = flag.Int("random", 2000, "random cases with each library")
	flagSeed     = flag.Uint64("seed", 1, "seed of the random cases")
	flagFrom     = flag.Int("from", 0, "number of the first random case: a large amount can be run in portions, of which the first has the fixed cases, too")
	flagShrink   = flag.Int("shrink", 3, "mismatches that are made smaller")
	flagOnly     = flag.String("only", "", "run only the case of this name, and show both outcomes")
)

// room is that of this machine.
var room = sync.OnceValue(func() *Room { return NewRoom(*flagParallel) })

func TestMain(m *testing.M) {
	if os.Getenv(HelperEnv) != "" {
		if err := Help(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench returns a Bench, or ends the test by name when this machine cannot run one.
func bench(t *testing.T) *Bench {
	t.Helper()
	endIfCannot(t, CannotRun())
	b, err := NewBench(t.Context(), t.TempDir(), room())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// endIfCannot ends a test by name that cannot run here, and fails it in CI.
func endIfCannot(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s cannot run here: %v", t.Name(), err)
	default:
		t.Skipf("%s cannot run here: %v", t.Name(), err)
	}
}

// ran is a case and what came of it.
type ran struct {
	c          *Case
	real, ours Outcome
	err        error
	recorded   *scenario.Recording
	// number is that of a random case; otherwise it is below 0.
	number int
	// index is its place among the cases that it was made with.
	index int
}

// runAll runs cases beside those of other libraries.
func runAll(t *testing.T, b *Bench, all []*ran) {
	t.Helper()
	runThrough(t, all, b.Both)
}

// runThrough runs cases at once, the long ones first.
func runThrough(t *testing.T, all []*ran, both func(context.Context, *Case) (real, ours Outcome, err error)) {
	t.Helper()
	var cases []*Case
	byCase := map[*Case]*ran{}
	for _, r := range all {
		cases = append(cases, r.c)
		byCase[r.c] = r
	}
	var wg sync.WaitGroup
	for _, c := range byDuration(cases, func(c *Case) time.Duration { return millis(c.LimitMillis) }) {
		r := byCase[c]
		wg.Add(1)
		go func() {
			defer wg.Done()
			r.real, r.ours, r.err = both(t.Context(), r.c)
		}()
	}
	wg.Wait()
}

func TestGlibc(t *testing.T) {
	t.Parallel()
	b := bench(t)
	c := comparison{name: "glibc", apart: true}
	c.recorded = func(r *ran) []string { return RecordedDifferences(r.c, *r.recorded, r.real, b.config(r.c).Rotate) }
	c.run(t, b, fixedCases(t), randomCases(t, b.Library, *flagRandom)).print("glibc "+b.Version, nil)
}

func fixedCases(t *testing.T) []*ran {
	t.Helper()
	all := func(scenario.Observed, scenario.Recording, *Case) string { return "" }
	return recordedCases(t, scenario.LibraryGlibc, nil, all, func(string) bool { return true })
}

// recordedCases returns the scenarios recorded with a library but those that leaveOut has a reason against, which are counted by
// their reasons. Where the real library does here what was recorded, the recording comes with the case, to be compared.
func recordedCases(t *testing.T, library string, excluded map[string]int,
	leaveOut func(scenario.Observed, scenario.Recording, *Case) string, asRecorded func(scenario string) bool,
) []*ran {
	t.Helper()
	observed, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []*ran
	for _, o := range observed {
		rec, ok := o.Recordings[library]
		if !ok {
			continue
		}
		c := FromObserved(o, library)
		if reason := leaveOut(o, rec, &c); reason != "" {
			excluded[reason]++
			continue
		}
		r := &ran{c: &c, number: -1}
		if asRecorded(o.Name) {
			r.recorded = &rec
		}
		out = append(out, r)
	}
	return out
}

// regressionCases returns the cases that once differed with a library.
func regressionCases(t *testing.T, library string) []*ran {
	t.Helper()
	cases, err := ReadCases(filepath.Join("testdata/regressions", library))
	if err != nil {
		t.Fatal(err)
	}
	var out []*ran
	for i := range cases {
		out = append(out, &ran{c: &cases[i], number: -1})
	}
	return out
}

// drawn are random cases.
type drawn struct {
	cases []*ran
	// excluded says how many others were left out, by reasons.
	excluded map[string]int
	// end is the number behind that of the last case.
	end int
}

// randomCases returns as many usable random cases as asked for.
func randomCases(t *testing.T, l Library, want int) drawn {
	t.Helper()
	d := drawn{excluded: map[string]int{}, end: *flagFrom}
	for ; len(d.cases) < want; d.end++ {
		c := l.generate(*flagSeed, d.end)
		reason, err := Usable(&c, l)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Name, err, c.Text())
		}
		if reason != "" {
			d.excluded[reason]++
			continue
		}
		d.cases = append(d.cases, &ran{c: &c, number: d.end})
	}
	return d
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func reasons(excluded map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(excluded)) {
		parts = append(parts, fmt.Sprintf("%d: %s", excluded[reason], reason))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// checkShared looks for sockets shared by different names over all cases: glibc never does that on purpose, and by chance a
// source port comes twice in about one of a thousand cases.
func checkShared(t *testing.T, all []*ran) {
	t.Helper()
	real, ours := 0, 0
	for _, r := range all {
		real, ours = real+r.real.Shared, ours+r.ours.Shared
	}
	if most := 4 + len(all)/50; real > most || ours > most {
		t.Errorf("queries that shared a socket with a query about another name: observed %d, ours %d, by chance at most %d", real, ours, most)
	}
}

// Bounds of making one case smaller.
const (
	shrinkTime  = 40 * time.Second
	shrinkSteps = 40
)

// shrink makes a case smaller as long as it differs, and as long as there is time.
func shrink(t *testing.T, b *Bench, r *ran, differences func(*ran) []Difference) *ran {
	t.Helper()
	smallest := r
	end := time.Now().Add(shrinkTime)
	Shrink(*r.c, shrinkSteps, func(batch []Case) int {
		if time.Now().After(end) {
			return -1
		}
		var all []*ran
		for i := range batch {
			if reason, err := Usable(&batch[i], b.Library); err != nil || reason != "" {
				continue
			}
			all = append(all, &ran{c: &batch[i], number: -1, index: i})
		}
		runAll(t, b, all)
		for _, s := range all {
			if s.err == nil && len(differences(s)) > 0 {
				smallest = s
				return s.index
			}
		}
		return -1
	})
	return smallest
}
