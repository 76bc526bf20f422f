//go:build linux

package conformance

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

var (
	flagMuslGCC     = flag.String("musl-gcc", "musl-gcc", "musl's compiler")
	flagMuslVersion = flag.String("musl-version", "", "the version of musl that -musl-gcc links; empty asks dpkg")
)

// muslExcluded are the recorded scenarios that are not run with the real musl here, and why.
var muslExcluded = map[string]string{
	"R14":  muslRace,
	"R14b": muslRace,
	"R16":  muslRace,
	"R17":  muslRace,
	"X14":  muslRace,
	"O05t": muslRace,
	"O08b": muslRace,
	"T16d": "it waits for 60 s",
}

// muslRefusals are the scenarios that are not run with a musl that knows TCP: whether the second of two connections is opened
// before the first is refused is a race.
var muslRefusals = []string{"O08", "O08a"}

const muslRefusal = "a refused connection races with a reply"

const muslRace = "two servers answer differently: the order of their replies decides"

// muslNotAsRecorded are the scenarios in which the real musl does something else here than when it was recorded.
var muslNotAsRecorded = map[string]string{
	"S11": "the recording server answered messages that are malformed, the one here drops them",
	"S12": "the recording server answered messages that are malformed, the one here drops them",
}

func muslBench(t *testing.T) *Bench {
	t.Helper()
	m := Musl{Compiler: *flagMuslGCC, Version: *flagMuslVersion}
	endIfCannot(t, m.CannotRun())
	b, err := NewMuslBench(t.Context(), t.TempDir(), room(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestMusl(t *testing.T) {
	t.Parallel()
	b := muslBench(t)
	excluded := map[string]int{}
	fixed := muslFixedCases(t, b, excluded)
	c := comparison{name: "musl", again: missedRound, apart: true}
	c.recorded = func(r *ran) []string {
		r.recorded.Packets = settleSYN(r.recorded.Packets)
		return RecordedDifferences(r.c, *r.recorded, r.real, false)
	}
	c.run(t, b, fixed, randomCases(t, b.Library, *flagRandom)).print("musl "+b.Version, excluded)
}

// waitedLong is a wait for a processor that can cost musl one of its rounds, of which there can be ten in a second.
const waitedLong = 20 * time.Millisecond

// missedRound picks cases in which either side waited long for a processor: how many rounds fit into musl's timeout is a
// measurement, too. A resolver that is wrong is wrong again.
func missedRound(r *ran) bool { return max(r.real.Waited, r.ours.Waited) > waitedLong }

// muslFixedCases returns the recorded scenarios. Where the version here is the one that was recorded, the recordings come with
// them, to be compared with what the real library does here.
func muslFixedCases(t *testing.T, b *Bench, excluded map[string]int) []*ran {
	t.Helper()
	library := scenario.LibraryMusl125
	for recorded, version := range map[string]string{scenario.LibraryMusl123: "1.2.3", scenario.LibraryMusl124: "1.1.24"} {
		if strings.HasPrefix(b.Version, version) {
			library = recorded
		}
	}
	version, _ := resolvconf.ParseMuslVersion(b.Version)
	same := strings.HasPrefix(b.Version, strings.TrimPrefix(library, "musl-"))
	return recordedCases(t, library, excluded, func(o scenario.Observed, _ scenario.Recording, _ *Case) string {
		if slices.Contains(muslRefusals, o.Name) && version.AtLeast(1, 2, 4) {
			return muslRefusal
		}
		return muslExcluded[o.Name]
	}, func(name string) bool {
		_, other := muslNotAsRecorded[name]
		return same && !other
	})
}
