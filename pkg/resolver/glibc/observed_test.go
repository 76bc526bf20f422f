package glibc

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

// observedCodes are getaddrinfo's return codes as the recordings have them.
var observedCodes = map[int]eai{
	0: eaiOK, -2: eaiNoName, -3: eaiAgain, -5: eaiNoData, -9: eaiAddrFamily, -11: eaiSystem, -105: eaiIDN,
}

// process is one run of a recorded scenario on simnet.
type process struct {
	packets []scenario.Packet
	results []resolver.Result
	elapsed []time.Duration
	runs    [][]probe.Event
}

func runObserved(t *testing.T, o scenario.Observed, firstServer int) process {
	t.Helper()
	net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: 1})
	rec := scenario.Record(net)
	start := net.Now()
	sys, script := o.System, o.Script
	r := New("2.36-9+deb12u14", sys)
	if firstServer >= 0 {
		r.rotation, r.rotationStarted = uint32(firstServer), true
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
		req := call.Request
		req.IDN = call.IDN
		before := net.Now()
		var events []probe.Event
		res, err := r.Resolve(context.Background(), rec, req, func(ev probe.Event) { events = append(events, ev) })
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

// firstServer is where a recorded process with rotate began, -1 without rotate.
func firstServer(o scenario.Observed, rec scenario.Recording) int {
	if !strings.Contains(o.System.ResolvConf, "rotate") || len(rec.Packets) == 0 {
		return -1
	}
	for i, s := range o.World.Servers {
		if s.Addr == rec.Packets[0].Server {
			return i
		}
	}
	return -1
}

// TestObserved compares our packets and results with what the real glibc did on all recorded scenarios.
func TestObserved(t *testing.T) {
	all, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, o := range all {
		rec, ok := o.Recordings[scenario.LibraryGlibc]
		if !ok {
			t.Errorf("%s was not recorded with glibc", o.Name)
			continue
		}
		if t.Run(o.Name, func(t *testing.T) { compareObserved(t, o, rec) }) {
			same++
		}
	}
	t.Logf("%d of %d recorded scenarios are the same", same, len(all))
	if len(all) != 172 {
		t.Errorf("%d scenarios, want 172", len(all))
	}
}

func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording) {
	t.Helper()
	p := runObserved(t, o, firstServer(o, rec))
	for _, d := range scenario.Compare(rec.Packets, p.packets) {
		t.Error(d)
	}
	for i, want := range rec.Results {
		if i >= len(p.results) {
			t.Fatalf("%d results, observed %d", len(p.results), len(rec.Results))
		}
		got := p.results[i]
		if code, known := observedCodes[want.Code]; !known || string(code) != got.Code {
			t.Errorf("call %d: code %q, observed %d", i+1, got.Code, want.Code)
		}
		if addrs := expectedAddresses(o.Calls[i], got.Addresses); !slices.Equal(addrs, want.Addresses) {
			t.Errorf("call %d: addresses %v, observed %v", i+1, addrs, want.Addresses)
		}
		if !scenario.Near(want.Elapsed, p.elapsed[i]) {
			t.Errorf("call %d: took %v, observed %v", i+1, p.elapsed[i], want.Elapsed)
		}
	}
	if rec.Killed {
		last := p.results[len(p.results)-1]
		if last.Outcome != probe.Fail || last.Code != "" {
			t.Errorf("the observed process hung, ours ended with %+v", last)
		}
	}
	for i, events := range p.runs {
		checkEvents(t, fmt.Sprintf("call %d", i+1), events, p.results[i])
	}
}

// expectedAddresses are the addresses as the recording program prints them: once for each socket type.
func expectedAddresses(call scenario.Call, addrs []netip.Addr) []netip.Addr {
	if !call.NullHints {
		return addrs
	}
	var out []netip.Addr
	for _, a := range addrs {
		out = append(out, a, a, a)
	}
	return out
}

// checkEvents checks that the events of a call fold into a trace without loose ends.
func checkEvents(t *testing.T, what string, events []probe.Event, res resolver.Result) {
	t.Helper()
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Libc: probe.Glibc, Variant: probe.VariantNow}})
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
	if len(r.Attempts) > 0 && r.AnsweredBy != "dns" && res.Outcome != probe.OK {
		t.Errorf("%s: %d attempts, answered by %q", what, len(r.Attempts), r.AnsweredBy)
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
	if len(r.Attempts) > 0 && r.AnsweredBy == "dns" && decided != 1 {
		t.Errorf("%s: %d attempts decided", what, decided)
	}
}
