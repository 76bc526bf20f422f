package cares

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// observedCodes are c-ares's status codes as the recordings have them (ares.h).
var observedCodes = map[int]status{
	0: success, 1: noData, 2: formErr, 3: servFail, 4: notFound, 5: notImp, 6: refused, 8: badName, 10: badResp, 11: connRefused, 12: timedOut,
}

func runObserved(t *testing.T, o scenario.Observed, version string, seed uint64) resolvertest.Process {
	t.Helper()
	p := resolvertest.Run(t, New(version, o.System), o, seed, nil)
	p.CheckEvents(t, probe.CAres, checkTrace)
	return p
}

// TestObserved compares our packets and results with what the real c-ares did on all scenarios that it was recorded on.
func TestObserved(t *testing.T) {
	for library, want := range map[string]struct {
		version string
		count   int
	}{scenario.LibraryCAres134: {"1.34.8", 87}, scenario.LibraryCAres118: {"1.18.1", 75}} {
		t.Run(library, func(t *testing.T) {
			var byChance []string
			resolvertest.Recorded(t, library, want.count, func(t *testing.T, o scenario.Observed, rec scenario.Recording) {
				if compareObserved(t, o, rec, want.version) {
					byChance = append(byChance, o.Name)
				}
			})
			t.Logf("in %d of them c-ares throws dice, compared up to there: %v", len(byChance), byChance)
		})
	}
}

// seeds are runs that must agree for something not to depend on chance.
const seeds = 8

// compareObserved compares everything that does not depend on chance, which is what all seeds agree on: mostly all of it. Where
// `rotate` throws dice a seed is looked for that throws the same ones. It returns whether chance had a part.
func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) (chance bool) {
	t.Helper()
	if strings.Contains(o.System.ResolvConf, "rotate") && !featuresOf(version).old {
		compareRun(t, o, rec, sameDice(t, o, rec, version))
		return true
	}
	runs := make([]resolvertest.Process, seeds)
	for i := range runs {
		runs[i] = runObserved(t, o, version, uint64(i+1))
	}
	p, agreed := runs[0], len(runs[0].Packets)
	for _, other := range runs[1:] {
		agreed = min(agreed, agreeing(p.Packets, other.Packets))
	}
	if agreed == len(p.Packets) && !slices.ContainsFunc(runs, func(r resolvertest.Process) bool { return len(r.Packets) != agreed }) &&
		!slices.ContainsFunc(runs, func(r resolvertest.Process) bool { return !slices.Equal(r.Elapsed, p.Elapsed) }) {
		compareRun(t, o, rec, p)
		return false
	}
	t.Logf("chance has a part after %d of %d packets", agreed, len(rec.Packets))
	if agreed == 0 || agreed > len(rec.Packets) {
		t.Fatalf("%d packets can be compared with %d observed", agreed, len(rec.Packets))
	}
	resolvertest.Report(t, scenario.Compare(rec.Packets[:agreed], p.Packets[:agreed]))
	sameCount := !slices.ContainsFunc(runs, func(r resolvertest.Process) bool { return len(r.Packets) != len(p.Packets) })
	if sameCount && !rec.Killed && len(rec.Packets) != len(p.Packets) {
		t.Errorf("%d packets, observed %d", len(p.Packets), len(rec.Packets))
	}
	compareResults(t, o, rec, p, false)
	return true
}

// agreeing counts packets from the start that are the same in two runs of ours, times included.
func agreeing(a, b []scenario.Packet) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].At == b[n].At && len(scenario.Compare(a[n:n+1], b[n:n+1])) == 0 {
		n++
	}
	return n
}

// sameDice returns a run in which the dice of `rotate` fell as they did for the real library.
func sameDice(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) resolvertest.Process {
	t.Helper()
	for seed := range uint64(200_000) {
		net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: seed})
		recorder := scenario.Record(net)
		r := New(version, o.System)
		for i, call := range o.Calls {
			if _, err := r.Resolve(context.Background(), recorder, call.Request, func(probe.Event) {}); err != nil {
				t.Fatal(err)
			}
			if ours := recorder.Packets(); len(ours) != 2*(i+1) || ours[2*i].Server != rec.Packets[2*i].Server || ours[2*i+1].Server != rec.Packets[2*i+1].Server {
				break
			}
			if i == len(o.Calls)-1 {
				return runObserved(t, o, version, seed)
			}
		}
	}
	t.Fatal("no seed leads to the servers that were observed")
	return resolvertest.Process{}
}

func compareRun(t *testing.T, o scenario.Observed, rec scenario.Recording, p resolvertest.Process) {
	t.Helper()
	ours := p.Packets
	if rec.Killed {
		// The real process was killed before its tries were used up. It ran late by a little more with every timeout, so that
		// what we send right before that may be missing.
		for n := len(ours); n > len(rec.Packets) && (ours[n-1].At > rec.Elapsed || scenario.Near(rec.Elapsed, ours[n-1].At)); n-- {
			ours = ours[:n-1]
		}
	}
	resolvertest.Report(t, scenario.Compare(rec.Packets, ours))
	compareResults(t, o, rec, p, true)
}

func compareResults(t *testing.T, o scenario.Observed, rec scenario.Recording, p resolvertest.Process, timed bool) {
	t.Helper()
	comparison := resolvertest.Comparison{Code: resolvertest.Codes(observedCodes), Untimed: !timed}
	resolvertest.Report(t, comparison.Results(o, rec, p))
	if !rec.Killed && len(rec.Results) != len(o.Calls) {
		t.Errorf("%d calls, observed %d", len(o.Calls), len(rec.Results))
	}
}
