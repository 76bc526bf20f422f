//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

var (
	flagCAres       = flag.String("cares", "-lcares", "what gcc needs to compile with the real c-ares")
	flagCAresRandom = flag.Int("cares-random", 200, "random cases with c-ares")
	flagCAresSlow   = flag.Bool("cares-slow", false, "also run recorded scenarios that wait for more than ten seconds")
)

// caresRaces are recorded scenarios that end in one way or another.
var caresRaces = map[string]map[string]string{scenario.LibraryCAres118: {
	"O08": CAresRefused,
}, scenario.LibraryCAres134: {
	"S21":  CAresApart,
	"X13":  CAresApart,
	"R14":  CAresApart,
	"R15":  CAresApart,
	"R07":  CAresTogether,
	"R11":  CAresTogether,
	"R12b": CAresTogether,
	"R13":  CAresTogether,
	"R14b": CAresTogether,
	"X14":  CAresTogether,
	"S27":  "the recording server answered names that are too long, the one here drops them",
}}

// caresSlow is how long a recorded scenario may take.
const caresSlow = 10 * time.Second

func caresBench(t *testing.T) *Bench {
	t.Helper()
	err := CannotRun()
	var b *Bench
	if err == nil {
		b, err = NewCAresBench(t.Context(), t.TempDir(), *flagParallel, CAres{Flags: *flagCAres})
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s cannot run here: %v", t.Name(), err)
		}
		t.Skipf("%s cannot run here: %v", t.Name(), err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestCAres(t *testing.T) {
	b := caresBench(t)
	excluded := map[string]int{}
	fixed := caresFixedCases(t, b, excluded)
	random := caresRandomCases(t, b.Library, *flagCAresRandom, excluded)
	all := slices.DeleteFunc(slices.Concat(fixed, random), func(r *ran) bool {
		return *flagOnly != "" && *flagOnly != r.c.Name
	})
	began := time.Now()
	runAll(t, b, all)
	again := measureAgain(t, b, all)
	took := time.Since(began)
	var mismatches []*ran
	for _, r := range all {
		if r.err != nil {
			t.Errorf("%s: %v", r.c.Name, r.err)
			continue
		}
		if r.recorded != nil {
			r.recorded.Packets = byName(r.recorded.Packets)
			if diff := RecordedDifferences(r.c, *r.recorded, r.real, false); len(diff) > 0 {
				t.Errorf("%s: the real c-ares did not do what was recorded:\n  %s", r.c.Name, strings.Join(diff, "\n  "))
			}
		}
		if diff := caresDifferences(r); len(diff) > 0 {
			mismatches = append(mismatches, r)
			t.Errorf("%s:\n%s", r.c.Name, Report(diff, r.real, r.ours))
			if *flagOnly != "" {
				t.Log(r.c.Text())
			}
		} else if *flagOnly != "" {
			t.Logf("%s\n%s", r.c.Text(), Report(nil, r.real, r.ours))
		}
	}
	for _, r := range mismatches[:min(*flagShrink, len(mismatches))] {
		small := shrink(t, b, r)
		t.Logf("%s, made smaller:\n%s\n%s", r.c.Name, small.c.Text(), Report(caresDifferences(small), small.real, small.ours))
	}
	fmt.Printf("conformance: c-ares %s: fixed %d, random %d (seed %d), mismatches %d, measured twice %d, excluded %d%s, in %s\n",
		b.Version, len(fixed), len(random), *flagSeed, len(mismatches), again, total(excluded), reasons(excluded), took.Round(time.Second))
}

// byName counts sockets and ids of recorded packets within each name, as packetsOf does.
func byName(packets []scenario.Packet) []scenario.Packet {
	type key struct {
		n    int
		name string
		kind probe.QueryType
	}
	sockets, ids := map[key]int{}, map[key]int{}
	out := slices.Clone(packets)
	for i := range out {
		p := &out[i]
		name := ""
		if p.Transport == probe.UDP {
			name = p.Name
		}
		p.Socket = classOf(sockets, key{n: p.Socket, name: name})
		if p.Transport != scenario.SYN {
			p.ID = classOf(ids, key{p.ID, p.Name, p.Type})
		}
	}
	return out
}

// caresDifferences also compares how often names share a socket, which c-ares does on purpose.
func caresDifferences(r *ran) []Difference {
	diff := Differences(r.c, r.real, r.ours)
	if r.real.Shared != r.ours.Shared {
		diff = append(diff, Difference{Text: fmt.Sprintf("sockets shared by names: observed %d, ours %d", r.real.Shared, r.ours.Shared)})
	}
	return diff
}

// caresFixedCases returns the recorded scenarios of the version that is nearer. Where it is the same, the recordings come with
// them, to be compared with what the real library does here.
func caresFixedCases(t *testing.T, b *Bench, excluded map[string]int) []*ran {
	t.Helper()
	observed, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	library := scenario.LibraryCAres134
	if strings.HasPrefix(b.Version, "1.18.") {
		library = scenario.LibraryCAres118
	}
	same := "c-ares-"+b.Version == library
	var out []*ran
	for _, o := range observed {
		rec, ok := o.Recordings[library]
		if !ok {
			continue
		}
		c := FromObserved(o, library)
		byChance, err := caresByChance(&c, b.Library)
		switch {
		case err != nil:
			t.Fatal(err)
		case byChance:
			excluded[CAresDice]++
			continue
		case caresRaces[library][o.Name] != "":
			excluded[caresRaces[library][o.Name]]++
			continue
		case rec.Elapsed > caresSlow && !*flagCAresSlow:
			excluded[fmt.Sprintf("it takes longer than %s", caresSlow)]++
			continue
		}
		r := &ran{c: &c}
		if same {
			r.recorded = &rec
		}
		out = append(out, r)
	}
	return out
}

// caresRandomCases returns as many usable random cases as asked for, and counts why others were left out.
func caresRandomCases(t *testing.T, l Library, want int, excluded map[string]int) (out []*ran) {
	t.Helper()
	for n := 0; len(out) < want; n++ {
		c := generateCAres(*flagSeed, n, l.Version)
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
	return out
}
