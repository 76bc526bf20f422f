//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

var (
	flagCAres     = flag.String("cares", "-lcares", "what gcc needs to compile with the real c-ares")
	flagCAresSlow = flag.Bool("cares-slow", false, "also run recorded scenarios that wait for more than ten seconds")
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
	endIfCannot(t, CannotRun())
	b, err := NewCAresBench(t.Context(), t.TempDir(), room(), CAres{Flags: *flagCAres})
	endIfCannot(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestCAres(t *testing.T) {
	t.Parallel()
	b := caresBench(t)
	excluded := map[string]int{}
	fixed := caresFixedCases(t, b, excluded)
	c := comparison{name: "c-ares", differences: caresDifferences, again: raced}
	c.recorded = func(r *ran) []string {
		r.recorded.Packets = byName(r.recorded.Packets)
		return RecordedDifferences(r.c, *r.recorded, r.real, false)
	}
	c.run(t, b, fixed, randomCases(t, b.Library, *flagRandom)).print("c-ares "+b.Version, excluded)
}

// raced picks recorded scenarios: unlike random cases they have not been left out where the replies to the queries of a pair
// race, which on a busy machine end otherwise now and then (O07: both are truncated, and share a TCP connection if the second is
// seen before the first one's is closed). A resolver that is wrong is wrong again.
func raced(r *ran) bool { return r.number < 0 }

// sharedByNames begins the difference in how often names share a socket.
const sharedByNames = "sockets shared by names: "

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
		diff = append(diff, Difference{Text: fmt.Sprintf(sharedByNames+"observed %d, ours %d", r.real.Shared, r.ours.Shared)})
	}
	return diff
}

// caresFixedCases returns the recorded scenarios of the version that is nearer. Where it is the same, the recordings come with
// them, to be compared with what the real library does here.
func caresFixedCases(t *testing.T, b *Bench, excluded map[string]int) []*ran {
	t.Helper()
	library := scenario.LibraryCAres134
	if strings.HasPrefix(b.Version, "1.18.") {
		library = scenario.LibraryCAres118
	}
	same := "c-ares-"+b.Version == library
	return recordedCases(t, library, excluded, func(o scenario.Observed, rec scenario.Recording, c *Case) string {
		byChance, err := caresByChance(c, b.Library)
		switch {
		case err != nil:
			t.Fatal(err)
		case byChance:
			return CAresDice
		case caresRaces[library][o.Name] != "":
			return caresRaces[library][o.Name]
		case rec.Elapsed > caresSlow && !*flagCAresSlow:
			return fmt.Sprintf("it takes longer than %s", caresSlow)
		}
		return ""
	}, func(string) bool { return same })
}
