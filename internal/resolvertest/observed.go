package resolvertest

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Recorded runs a test on every scenario that was recorded with a library, each as a subtest, and wants this many of them. It
// returns how many scenarios there are with any library.
func Recorded(t *testing.T, library string, want int, test func(t *testing.T, o scenario.Observed, rec scenario.Recording)) int {
	t.Helper()
	all, err := scenario.ObservedAll()
	if err != nil {
		t.Fatal(err)
	}
	recorded, same := 0, 0
	for _, o := range all {
		rec, ok := o.Recordings[library]
		if !ok {
			continue
		}
		recorded++
		if t.Run(o.Name, func(t *testing.T) { test(t, o, rec) }) {
			same++
		}
	}
	t.Logf("%d of %d scenarios recorded with %s are the same", same, recorded, library)
	if recorded != want {
		t.Errorf("%d scenarios were recorded with %s, want %d", recorded, library, want)
	}
	return len(all)
}

// Process is one run of a recorded scenario on modelled servers.
type Process struct {
	Packets []scenario.Packet
	// Results, Elapsed and Events are by call.
	Results []resolver.Result
	Elapsed []time.Duration
	Events  [][]probe.Event
}

// Resolver is a resolver whose files can change.
type Resolver interface {
	resolver.Resolver
	SetSystem(sys resolver.System)
}

// Run makes the calls of a scenario. request tells what a call is to this libc; nil leaves it as it is. The process is over with
// a call that never returns: a failure without a code.
func Run(t *testing.T, r Resolver, o scenario.Observed, seed uint64, request func(scenario.Call) resolver.Request) Process {
	t.Helper()
	net := simnet.New(context.Background(), &o.World, simnet.Options{Seed: seed})
	rec := scenario.Record(net)
	start := net.Now()
	sys, script := o.System, o.Script
	var p Process
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
		if request != nil {
			req = request(call)
		}
		before := net.Now()
		var events []probe.Event
		res, err := r.Resolve(context.Background(), rec, req, func(ev probe.Event) { events = append(events, ev) })
		if err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		p.Results = append(p.Results, res)
		p.Elapsed = append(p.Elapsed, net.Now().Sub(before))
		p.Events = append(p.Events, events)
		if res.Outcome == probe.Fail && res.Code == "" {
			break
		}
	}
	p.Packets = rec.Packets()
	return p
}

// CheckEvents checks the events of every call, and calls more, unless it is nil, with every trace.
func (p *Process) CheckEvents(t *testing.T, libc probe.Libc, more func(t *testing.T, what string, trace probe.Resolution)) {
	t.Helper()
	for i, events := range p.Events {
		what := fmt.Sprintf("call %d", i+1)
		trace := CheckEvents(t, libc, what, events, p.Results[i])
		if more != nil {
			more(t, what, trace)
		}
	}
}

// Comparison is how the results of a libc are compared with recorded ones.
type Comparison struct {
	// Code is the code that a recorded result means, empty for success.
	Code func(scenario.CallResult) string
	// SocketTypes is how often the recording program prints each address in a call without hints: once for each type of socket.
	// 0 is once.
	SocketTypes int
	// AnyOrder leaves the order of addresses out, Untimed what calls take.
	AnyOrder, Untimed bool
	// Canonical compares canonical names, too.
	Canonical bool
}

// Codes are recorded codes by their number.
func Codes[C ~string](codes map[int]C) func(scenario.CallResult) string {
	return func(r scenario.CallResult) string {
		if code, ok := codes[r.Code]; ok {
			return string(code)
		}
		return fmt.Sprintf("unknown code %d", r.Code)
	}
}

// Results returns how the results of a run differ from the recorded ones.
func (c Comparison) Results(o scenario.Observed, rec scenario.Recording, p Process) (differences []string) {
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	for i, want := range rec.Results {
		if i >= len(p.Results) {
			differ("%d results, observed %d", len(p.Results), len(rec.Results))
			break
		}
		got := p.Results[i]
		if code := c.Code(want); code != got.Code {
			differ("call %d: code %q, observed %q (%d %s)", i+1, got.Code, code, want.Code, want.Text)
		}
		if ours, observed := c.addresses(o.Calls[i], got.Addresses), c.ordered(want.Addresses); !slices.Equal(ours, observed) {
			differ("call %d: addresses %v, observed %v", i+1, ours, observed)
		}
		if c.Canonical && got.Canonical != want.Canonical {
			differ("call %d: canonical name %q, observed %q", i+1, got.Canonical, want.Canonical)
		}
		if !c.Untimed && !scenario.Near(want.Elapsed, p.Elapsed[i]) {
			differ("call %d: took %v, observed %v", i+1, p.Elapsed[i], want.Elapsed)
		}
	}
	return differences
}

// addresses are ours as the recording program prints them.
func (c Comparison) addresses(call scenario.Call, addrs []netip.Addr) []netip.Addr {
	if !call.NullHints || c.SocketTypes < 2 {
		return c.ordered(addrs)
	}
	var out []netip.Addr
	for _, a := range addrs {
		out = append(out, slices.Repeat([]netip.Addr{a}, c.SocketTypes)...)
	}
	return out
}

// ordered makes lists comparable where the order does not count.
func (c Comparison) ordered(addrs []netip.Addr) []netip.Addr {
	if !c.AnyOrder {
		return addrs
	}
	addrs = slices.Clone(addrs)
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs
}

// Report fails the test with every difference.
func Report[D any](t *testing.T, differences []D) {
	t.Helper()
	for _, d := range differences {
		t.Error(d)
	}
}
