//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

var (
	flagParallel = flag.Int("parallel-cases", 24, "cases that run at once; most of them wait for timeouts")
	flagRandom   = flag.Int("random", 500, "random cases")
	flagSeed     = flag.Uint64("seed", 1, "seed of the random cases")
	flagShrink   = flag.Int("shrink", 3, "mismatches that are made smaller")
	flagOnly     = flag.String("only", "", "run only the case of this name, and show both outcomes")
)

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
	b, err := NewBench(t.Context(), t.TempDir(), *flagParallel)
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
	// index is its place among the cases that it was made with.
	index int
}

// runAll runs cases at once, the long ones first, and returns them in their order.
func runAll(t *testing.T, b *Bench, all []*ran) {
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
			r.real, r.ours, r.err = b.Both(t.Context(), r.c)
		}()
	}
	wg.Wait()
}

func TestGlibc(t *testing.T) {
	b := bench(t)
	fixed, regressions := fixedCases(t), regressionCases(t)
	random, excluded := randomCases(t, b.Library, *flagRandom)
	c := comparison{name: "libc", madeSmaller: ", for testdata/regressions"}
	c.recorded = func(r *ran) []string { return RecordedDifferences(r.c, *r.recorded, r.real, b.config(r.c).Rotate) }
	n := c.run(t, b, fixed, regressions, random)
	checkShared(t, n.all)
	modelled := checkModel(t, b, n.all)
	fmt.Printf("conformance: glibc %s: fixed %d, regressions %d, random %d (seed %d), mismatches %d, measured twice %d, excluded %d%s, on the model alike %d, in %s\n",
		b.Version, len(fixed), len(regressions), len(random), *flagSeed, n.mismatches, n.again, total(excluded), reasons(excluded), modelled,
		n.took.Round(time.Second))
}

// measureAgain runs the cases once more that differ in nothing but times: times are measurements, and on a busy machine one of
// some ten thousand is off. A resolver that is late is late again.
func measureAgain(t *testing.T, b *Bench, all []*ran) int {
	t.Helper()
	var late []*ran
	for _, r := range all {
		if r.err == nil && OnlyTimes(Differences(r.c, r.real, r.ours)) {
			late = append(late, r)
		}
	}
	if len(late) > maxLate {
		t.Errorf("%d cases differ in their times", len(late))
		return 0
	}
	runAll(t, b, late)
	return len(late)
}

// maxLate bounds the cases that are measured again.
const maxLate = 10

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
		r := &ran{c: &c}
		if asRecorded(o.Name) {
			r.recorded = &rec
		}
		out = append(out, r)
	}
	return out
}

func regressionCases(t *testing.T) []*ran {
	t.Helper()
	cases, err := ReadCases("testdata/regressions")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ran
	for i := range cases {
		out = append(out, &ran{c: &cases[i]})
	}
	return out
}

// randomCases returns as many usable random cases as asked for, and why others were left out.
func randomCases(t *testing.T, l Library, want int) (out []*ran, excluded map[string]int) {
	t.Helper()
	excluded = map[string]int{}
	for n := 0; len(out) < want; n++ {
		c := l.generate(*flagSeed, n)
		reason, err := Usable(&c, l)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.Name, err, c.Text())
		}
		if reason != "" {
			excluded[reason]++
			continue
		}
		out = append(out, &ran{c: &c})
	}
	return out, excluded
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
func shrink(t *testing.T, b *Bench, r *ran) *ran {
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
			all = append(all, &ran{c: &batch[i], index: i})
		}
		runAll(t, b, all)
		for _, s := range all {
			if s.err == nil && len(Differences(s.c, s.real, s.ours)) > 0 {
				smallest = s
				return s.index
			}
		}
		return -1
	})
	return smallest
}
