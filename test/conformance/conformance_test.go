//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"os"
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
	if err := CannotRun(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s cannot run here: %v", t.Name(), err)
		}
		t.Skipf("%s cannot run here: %v", t.Name(), err)
	}
	b, err := NewBench(t.Context(), t.TempDir(), *flagParallel)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ran is a case and what came of it.
type ran struct {
	c          *Case
	real, ours Outcome
	err        error
	recorded   *scenario.Recording
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
	observed, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []*ran
	for _, o := range observed {
		rec, ok := o.Recordings[scenario.LibraryGlibc]
		if !ok || *flagOnly != "" && *flagOnly != o.Name {
			continue
		}
		c := FromObserved(o, scenario.LibraryGlibc)
		all = append(all, &ran{c: &c, recorded: &rec})
	}
	began := time.Now()
	runAll(t, b, all)
	mismatches := 0
	for _, r := range all {
		if r.err != nil {
			t.Errorf("%s: %v", r.c.Name, r.err)
			continue
		}
		if diff := RecordedDifferences(r.c, *r.recorded, r.real, b.config(r.c).Rotate); len(diff) > 0 {
			t.Errorf("%s: the real libc did not do what was recorded:\n  %s", r.c.Name, strings.Join(diff, "\n  "))
		}
		if diff := Differences(r.c, r.real, r.ours); len(diff) > 0 {
			mismatches++
			t.Errorf("%s:\n%s", r.c.Name, Report(diff, r.real, r.ours))
		} else if *flagOnly != "" {
			t.Log(Report(nil, r.real, r.ours))
		}
	}
	t.Logf("glibc %s: fixed %d, mismatches %d in %s", b.Version, len(all), mismatches, time.Since(began))
}
