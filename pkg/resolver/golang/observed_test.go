package golang

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

// observedVersion is the Go that the scenarios were recorded with.
const observedVersion = "1.26.8"

// process is one run of a recorded scenario on simnet.
type process struct {
	packets []scenario.Packet
	results []resolver.Result
	elapsed []time.Duration
	runs    [][]probe.Event
}

// runObserved runs a scenario. In each pair the query goes out first that did so in the recording.
func runObserved(t *testing.T, o scenario.Observed, firsts []probe.QueryType) process {
	t.Helper()
	net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: 1})
	rec := scenario.Record(net)
	start := net.Now()
	sys, script := o.System, o.Script
	r := New(observedVersion, sys)
	pairs := 0
	r.first = func(int) probe.QueryType {
		if pairs++; pairs <= len(firsts) {
			return firsts[pairs-1]
		}
		return probe.TypeA
	}
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
		p.runs = append(p.runs, events)
	}
	p.packets = rec.Packets()
	return p
}

// rotation are the servers that take turns in a scenario with rotate.
func rotation(o scenario.Observed) []netip.Addr {
	var servers []netip.Addr
	if strings.Contains(o.System.ResolvConf, "rotate") {
		for _, s := range o.World.Servers {
			servers = append(servers, s.Addr)
		}
	}
	return servers
}

// TestObserved compares our packets and results with what the real package net did on all recorded scenarios.
func TestObserved(t *testing.T) {
	all, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	recorded, same := 0, 0
	for _, o := range all {
		rec, ok := o.Recordings[scenario.LibraryGo]
		if !ok {
			continue
		}
		recorded++
		if t.Run(o.Name, func(t *testing.T) { compareObserved(t, o, rec) }) {
			same++
		}
	}
	t.Logf("%d of %d recorded scenarios are the same", same, recorded)
	if recorded != 147 {
		t.Errorf("%d scenarios were recorded, want 147", recorded)
	}
}

func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording) {
	t.Helper()
	p := runObserved(t, o, scenario.FirstTypes(rec.Packets, rotation(o)))
	for _, d := range scenario.Compare(scenario.ByType(rec.Packets), scenario.ByType(p.packets)) {
		t.Error(d)
	}
	if len(rec.Results) != len(p.results) {
		t.Fatalf("%d results, observed %d", len(p.results), len(rec.Results))
	}
	for i, want := range rec.Results {
		got := p.results[i]
		if text := observedError(want); text != got.Code {
			t.Errorf("call %d: error %q, observed %q (%s)", i+1, got.Code, text, want.Text)
		}
		if ours, observed := sorted(got.Addresses), sorted(want.Addresses); !slices.Equal(ours, observed) {
			t.Errorf("call %d: addresses %v, observed %v", i+1, ours, observed)
		}
		if !scenario.Near(want.Elapsed, p.elapsed[i]) {
			t.Errorf("call %d: took %v, observed %v", i+1, p.elapsed[i], want.Elapsed)
		}
		checkEvents(t, fmt.Sprintf("call %d", i+1), p.runs[i], got)
	}
}

// observedError takes what our codes have out of an error's text: not names, addresses, ports and flags.
func observedError(r scenario.CallResult) string {
	if r.Text == "<nil>" {
		return ""
	}
	text, _, _ := strings.Cut(r.Text, " notfound=")
	return text[strings.LastIndex(text, ": ")+2:]
}

// sorted makes lists comparable: addresses that sort equal stay in the order of arrival.
func sorted(addrs []netip.Addr) []netip.Addr {
	addrs = slices.Clone(addrs)
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs
}

// checkEvents checks that the events of a call fold into a trace without loose ends.
func checkEvents(t *testing.T, what string, events []probe.Event, res resolver.Result) {
	t.Helper()
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Libc: probe.Go, Variant: probe.VariantNow}})
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
				if tr.Reply == "" {
					t.Errorf("%s: attempt %d %s try %d: nothing came of it", what, a.N, q.Type, tr.Try)
				}
				if tr.Received != nil && *tr.Received < tr.Sent {
					t.Errorf("%s: attempt %d %s try %d: answered before it was sent", what, a.N, q.Type, tr.Try)
				}
			}
		}
	}
	if len(r.Attempts) > 0 && r.AnsweredBy == byDNS && decided != 1 {
		t.Errorf("%s: %d attempts decided", what, decided)
	}
}
