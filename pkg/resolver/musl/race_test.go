package musl

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// races are the scenarios in which two servers answer differently: which reply comes first decides what musl does, result and
// number of SERVFAIL retries included. A recording has one of the orders.
var races = map[string]string{
	"R14":  "one server says SERVFAIL, the other answers",
	"R14b": "one server says SERVFAIL to AAAA, the other answers",
	"R16":  "one server says NXDOMAIN, the other answers",
	"R17":  "one server is lame, the other answers",
	"X14":  "one server says SERVFAIL to A and NODATA to AAAA, the other answers",
	"O05t": "one server says SERVFAIL, the other answers",
	"O08b": "one server truncates, the other answers",
}

// compareRace compares a recording with our runs for every order of the replies, and wants one of them to be the same in everything.
func compareRace(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) []string {
	t.Helper()
	if len(o.World.Servers) != 2 {
		t.Fatalf("%d servers, want 2", len(o.World.Servers))
	}
	plain := o.World
	var best []string
	const steps = 4
	for n := range steps * steps * steps * steps {
		delays := map[replyOf]time.Duration{}
		for i, s := range plain.Servers {
			for j, q := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
				place := n
				for range 2*i + j {
					place /= steps
				}
				delays[replyOf{s.Addr, q}] = time.Duration(place%steps) * time.Millisecond
			}
		}
		o.World = delayed(plain, delays)
		differences := compareObserved(t, o, rec, version)
		if len(differences) == 0 {
			return nil
		}
		if best == nil || len(differences) < len(best) {
			best = differences
		}
	}
	return append([]string{"no order of the replies leads to what was observed; the nearest one differs in:"}, best...)
}

// replyOf names the replies of a server to one type.
type replyOf struct {
	server netip.Addr
	t      probe.QueryType
}

// delayed returns a world with the same servers, whose replies take these times.
func delayed(w simnet.World, delays map[replyOf]time.Duration) simnet.World {
	rules := append(slices.Clone(w.Rules), simnet.Rule{Do: []simnet.Action{{Kind: simnet.ActNXDomain}}})
	w.Rules = nil
	for _, r := range rules {
		for _, s := range w.Servers {
			for _, q := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
				if r.Server.IsValid() && r.Server != s.Addr || r.Type != "" && r.Type != q {
					continue
				}
				split := r
				split.Server, split.Type = s.Addr, q
				split.Do = append(slices.Clone(r.Do), simnet.Action{Kind: simnet.ActDelay, Delay: delays[replyOf{s.Addr, q}]})
				w.Rules = append(w.Rules, split)
			}
		}
	}
	return w
}
