package cares

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// observedCodes are c-ares's status codes as the recordings have them (ares.h).
var observedCodes = map[int]status{
	0: success, 1: noData, 2: formErr, 3: servFail, 4: notFound, 5: notImp, 6: refused, 8: badName, 10: badResp, 11: connRefused, 12: timedOut,
}

// process is one run of a recorded scenario on simnet.
type process struct {
	packets []scenario.Packet
	results []resolver.Result
	elapsed []time.Duration
}

func runObserved(t *testing.T, o scenario.Observed, version string, seed uint64) process {
	t.Helper()
	net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: seed})
	rec := scenario.Record(net)
	start := net.Now()
	sys, script := o.System, o.Script
	r := New(version, sys)
	var p process
	for i, call := range o.Calls {
		if i > 0 {
			if err := net.Sleep(o.Pause); err != nil {
				t.Fatal(err)
			}
		}
		for len(script) > 0 && script[0].At <= net.Now().Sub(start) {
			sys.ResolvConf, script = script[0].ResolvConf, script[1:]
			r.SetSystem(sys)
		}
		before := net.Now()
		var events []probe.Event
		res, err := r.Resolve(context.Background(), rec, call.Request, func(ev probe.Event) { events = append(events, ev) })
		if err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		p.results = append(p.results, res)
		p.elapsed = append(p.elapsed, net.Now().Sub(before))
		checkEvents(t, fmt.Sprintf("call %d", i+1), events, res)
	}
	p.packets = rec.Packets()
	return p
}

// TestObserved compares our packets and results with what the real c-ares did on all scenarios that it was recorded on.
func TestObserved(t *testing.T) {
	all, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	for library, want := range map[string]struct {
		version string
		count   int
	}{scenario.LibraryCAres134: {"1.34.8", 87}, scenario.LibraryCAres118: {"1.18.1", 75}} {
		t.Run(library, func(t *testing.T) {
			recorded := 0
			var byChance []string
			for _, o := range all {
				rec, ok := o.Recordings[library]
				if !ok {
					continue
				}
				recorded++
				t.Run(o.Name, func(t *testing.T) {
					if compareObserved(t, o, rec, want.version) {
						byChance = append(byChance, o.Name)
					}
				})
			}
			if recorded != want.count {
				t.Errorf("%d recorded scenarios, want %d", recorded, want.count)
			}
			t.Logf("%d recorded scenarios; in %d of them c-ares throws dice, compared up to there: %v", recorded, len(byChance), byChance)
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
	runs := make([]process, seeds)
	for i := range runs {
		runs[i] = runObserved(t, o, version, uint64(i+1))
	}
	p, agreed := runs[0], len(runs[0].packets)
	for _, other := range runs[1:] {
		agreed = min(agreed, agreeing(p.packets, other.packets))
	}
	if agreed == len(p.packets) && !slices.ContainsFunc(runs, func(r process) bool { return len(r.packets) != agreed }) &&
		!slices.ContainsFunc(runs, func(r process) bool { return !slices.Equal(r.elapsed, p.elapsed) }) {
		compareRun(t, o, rec, p)
		return false
	}
	t.Logf("chance has a part after %d of %d packets", agreed, len(rec.Packets))
	if agreed == 0 || agreed > len(rec.Packets) {
		t.Fatalf("%d packets can be compared with %d observed", agreed, len(rec.Packets))
	}
	for _, d := range scenario.Compare(rec.Packets[:agreed], p.packets[:agreed]) {
		t.Error(d)
	}
	sameCount := !slices.ContainsFunc(runs, func(r process) bool { return len(r.packets) != len(p.packets) })
	if sameCount && !rec.Killed && len(rec.Packets) != len(p.packets) {
		t.Errorf("%d packets, observed %d", len(p.packets), len(rec.Packets))
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
func sameDice(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) process {
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
	return process{}
}

func compareRun(t *testing.T, o scenario.Observed, rec scenario.Recording, p process) {
	t.Helper()
	ours := p.packets
	if rec.Killed {
		// The real process was killed before its tries were used up. It ran late by a little more with every timeout, so that
		// what we send right before that may be missing.
		for n := len(ours); n > len(rec.Packets) && (ours[n-1].At > rec.Elapsed || scenario.Near(rec.Elapsed, ours[n-1].At)); n-- {
			ours = ours[:n-1]
		}
	}
	for _, d := range scenario.Compare(rec.Packets, ours) {
		t.Error(d)
	}
	compareResults(t, o, rec, p, true)
}

func compareResults(t *testing.T, o scenario.Observed, rec scenario.Recording, p process, timed bool) {
	t.Helper()
	for i, want := range rec.Results {
		if i >= len(p.results) {
			t.Fatalf("%d results, observed %d", len(p.results), len(rec.Results))
		}
		got := p.results[i]
		if code, known := observedCodes[want.Code]; !known || string(code) != got.Code {
			t.Errorf("call %d: code %q, observed %d (%s)", i+1, got.Code, want.Code, want.Text)
		}
		if !slices.Equal(got.Addresses, want.Addresses) {
			t.Errorf("call %d: addresses %v, observed %v", i+1, got.Addresses, want.Addresses)
		}
		if timed && !scenario.Near(want.Elapsed, p.elapsed[i]) {
			t.Errorf("call %d: took %v, observed %v", i+1, p.elapsed[i], want.Elapsed)
		}
	}
	if !rec.Killed && len(rec.Results) != len(o.Calls) {
		t.Errorf("%d calls, observed %d", len(o.Calls), len(rec.Results))
	}
}

// checkEvents checks that the events of a call fold into a trace without loose ends.
func checkEvents(t *testing.T, what string, events []probe.Event, res resolver.Result) {
	t.Helper()
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Libc: probe.CAres, Variant: probe.VariantNow}})
	sent := 0
	for _, ev := range events {
		ev.Resolution = "r"
		f.Add(ev)
		if ev.Kind == probe.KindSent {
			sent++
		}
	}
	if len(events) == 0 || events[len(events)-1].Kind != probe.KindEnded {
		t.Fatalf("%s: the last of %d events is not the end", what, len(events))
	}
	r := f.Resolution("r")
	if r.Outcome != res.Outcome || r.Code != res.Code || len(r.Addresses) != len(res.Addresses) {
		t.Errorf("%s: the trace says %s %q %v, the result %+v", what, r.Outcome, r.Code, r.Addresses, res)
	}
	if r.TransmissionsSent != sent {
		t.Errorf("%s: %d of %d transmissions are in the trace", what, r.TransmissionsSent, sent)
	}
	if (res.Outcome == probe.OK) != (len(res.Addresses) > 0) {
		t.Errorf("%s: %s with %d addresses", what, res.Outcome, len(res.Addresses))
	}
	decided := 0
	for _, a := range r.Attempts {
		if a.Outcome == "" {
			t.Errorf("%s: attempt %d (%s) has no outcome", what, a.N, a.Name)
		}
		if a.Decided {
			decided++
		}
		for _, q := range a.Queries {
			for _, tr := range q.Transmissions {
				if tr.Received != nil && *tr.Received < tr.Sent {
					t.Errorf("%s: attempt %d %s try %d: answered before it was sent", what, a.N, q.Type, tr.Try)
				}
				if tr.Server == "" || tr.Reply == "" {
					t.Errorf("%s: attempt %d %s try %d: nothing came of it", what, a.N, q.Type, tr.Try)
				}
			}
		}
	}
	if len(r.Attempts) > 0 && r.AnsweredBy == byDNS && decided != 1 {
		t.Errorf("%s: %d attempts decided", what, decided)
	}
	for _, addr := range res.Addresses {
		if addr == (netip.Addr{}) {
			t.Errorf("%s: an address is none", what)
		}
	}
}
