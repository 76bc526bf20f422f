package musl

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// observedVersions are the versions that were recorded, and how often.
var observedVersions = []struct {
	library, version string
	recordings       int
}{
	{scenario.LibraryMusl124, "1.1.24", 144},
	{scenario.LibraryMusl123, "1.2.3", 147},
	{scenario.LibraryMusl125, "1.2.5", 147},
}

// observedCodes are getaddrinfo's return codes as the recordings have them.
var observedCodes = map[int]eai{0: eaiOK, -2: eaiNoName, -3: eaiAgain, -4: eaiFail, -5: eaiNoData, -11: eaiSystem}

// process is one run of a recorded scenario on simnet.
type process struct {
	packets []scenario.Packet
	results []resolver.Result
	elapsed []time.Duration
	runs    [][]probe.Event
}

func runObserved(t *testing.T, o scenario.Observed, version string) process {
	t.Helper()
	net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: 1})
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
		req := call.Request
		if call.NullHints {
			// Without hints there are no flags; the scenario has glibc's.
			req.AddrConfig, req.V4Mapped = false, false
		}
		before := net.Now()
		var events []probe.Event
		res, err := r.Resolve(context.Background(), rec, req, func(ev probe.Event) { events = append(events, ev) })
		if err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		p.results = append(p.results, res)
		p.elapsed = append(p.elapsed, net.Now().Sub(before))
		p.runs = append(p.runs, events)
		if res.Outcome == probe.Fail && res.Code == "" {
			break
		}
	}
	p.packets = rec.Packets()
	return p
}

// TestObserved compares our packets and results with what the real musl did on all recorded scenarios.
func TestObserved(t *testing.T) {
	all, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range observedVersions {
		t.Run(v.version, func(t *testing.T) {
			recordings, same := 0, 0
			for _, o := range all {
				rec, ok := o.Recordings[v.library]
				if !ok {
					continue
				}
				recordings++
				compare := compareObserved
				if _, race := races[o.Name]; race {
					compare = compareRace
				}
				if t.Run(o.Name, func(t *testing.T) { report(t, compare(t, o, rec, v.version)) }) {
					same++
				}
			}
			t.Logf("%d of %d recorded scenarios are the same", same, recordings)
			if recordings != v.recordings {
				t.Errorf("%d recordings, want %d", recordings, v.recordings)
			}
		})
	}
}

func report(t *testing.T, differences []string) {
	t.Helper()
	for _, d := range differences {
		t.Error(d)
	}
}

// compareObserved returns how our run differs from a recorded one.
//
// When a connection is opened and when another query's data goes out is not ordered: the recorded replies of a pair came one after
// the other and left time for a handshake in between, modelled ones come at once. So SYNs are compared by their number only.
func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) []string {
	t.Helper()
	p := runObserved(t, o, version)
	var out []string
	differ := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	data, syns := splitSYN(p.packets)
	for _, d := range scenario.Compare(rec.Packets, data) {
		differ("%v", d)
	}
	_, observed := splitSYN(rec.Packets)
	if fewer := o.Name == refusedStreams && observed > 0 && observed < syns; observed != syns && !fewer {
		differ("%d connections, observed %d", syns, observed)
	}
	for i, want := range rec.Results {
		if i >= len(p.results) {
			return append(out, fmt.Sprintf("%d results, observed %d", len(p.results), len(rec.Results)))
		}
		got := p.results[i]
		if code, known := observedCodes[want.Code]; !known || string(code) != got.Code {
			differ("call %d: code %q, observed %d", i+1, got.Code, want.Code)
		}
		if addrs := expectedAddresses(o.Calls[i], got.Addresses); !slices.Equal(addrs, want.Addresses) {
			differ("call %d: addresses %v, observed %v", i+1, addrs, want.Addresses)
		}
		if got.Canonical != want.Canonical {
			differ("call %d: canonical name %q, observed %q", i+1, got.Canonical, want.Canonical)
		}
		if !scenario.Near(want.Elapsed, p.elapsed[i]) {
			differ("call %d: took %v, observed %v", i+1, p.elapsed[i], want.Elapsed)
		}
	}
	last := p.results[len(p.results)-1]
	if died := last.Outcome == probe.Fail && last.Code == ""; died != (len(rec.Results) < len(o.Calls)) {
		differ("%d results of %d calls, ours ended with %+v", len(rec.Results), len(o.Calls), last)
	}
	for i, events := range p.runs {
		checkEvents(t, fmt.Sprintf("call %d", i+1), events, p.results[i])
	}
	return out
}

// refusedStreams is a scenario in which both replies are truncated and the TCP port is closed. If the first connection is
// refused before the second reply is there, musl never opens the second one.
const refusedStreams = "O08"

// splitSYN returns packets without SYNs, and the number of those.
func splitSYN(packets []scenario.Packet) (data []scenario.Packet, syns int) {
	for _, p := range packets {
		if p.Transport == scenario.SYN {
			syns++
			continue
		}
		data = append(data, p)
	}
	return data, syns
}
