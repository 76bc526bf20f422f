package tool

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

var server = netip.MustParseAddr("198.19.0.10")

// recorder is a Network that keeps what was sent.
type recorder struct {
	resolver.Network
	queries []resolver.Query
}

func (r *recorder) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	r.queries = append(r.queries, queries...)
	return r.Network.Send(s, to, queries...)
}

// run resolves over a world, and returns the resolution and the queries of it.
func run(t *testing.T, res resolver.Resolver, host string, family resolver.Family, w simnet.World) (probe.Resolution, []resolver.Query) {
	t.Helper()
	if w.Servers == nil {
		w.Servers = []simnet.Server{{Addr: server}}
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	n := &recorder{Network: simnet.New(t.Context(), &w, simnet.Options{})}
	var fold probe.Fold
	fold.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Host: host}})
	ended := 0
	result, err := res.Resolve(t.Context(), n, resolver.Request{Host: host, Family: family}, func(ev probe.Event) {
		ev.Resolution = "r"
		if ev.Kind == probe.KindEnded {
			ended++
		}
		fold.Add(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	r := *fold.Resolution("r")
	if ended != 1 || r.Outcome != result.Outcome {
		t.Errorf("%d ends, %s and %s", ended, r.Outcome, result.Outcome)
	}
	return r, n.queries
}

func conf(text string) resolver.System { return resolver.System{ResolvConf: text} }

const one = "search a.test b.test\nnameserver 198.19.0.10\n"

func TestDigsMessage(t *testing.T) {
	_, queries := run(t, NewDig(conf(one), true), "x.", resolver.Inet, simnet.World{})
	if len(queries) != 1 {
		t.Fatalf("%d queries", len(queries))
	}
	if q := queries[0]; !q.AD || q.EDNSSize != 1232 || len(q.Cookie) != 8 || q.Name != "x." || q.Type != probe.TypeA {
		t.Errorf("%+v", q)
	}
}

func TestDigKeepsItsCookieAndChangesItsID(t *testing.T) {
	_, queries := run(t, NewDig(conf(one), true), "x", resolver.Inet, simnet.World{})
	if len(queries) != 3 || !slices.Equal(queries[0].Cookie, queries[2].Cookie) || queries[0].ID == queries[1].ID {
		t.Errorf("%+v", queries)
	}
}

func TestDigAsksAgainOverTCP(t *testing.T) {
	w := simnet.World{Rules: []simnet.Rule{
		{Transport: probe.UDP, Do: []simnet.Action{{Kind: simnet.ActTC}}},
		{Do: []simnet.Action{{Kind: simnet.ActA, Addr: netip.MustParseAddr("203.0.113.7")}}},
	}}
	r, queries := run(t, NewDig(conf(one), false), "x", resolver.Inet, w)
	if r.Outcome != probe.OK || len(queries) != 2 || r.Attempts[0].Queries[0].Transmissions[1].Transport != probe.TCP {
		t.Errorf("%s with %d queries", r.Outcome, len(queries))
	}
	w.Servers = []simnet.Server{{Addr: server, NoTCP: true}}
	if r, _ = run(t, NewDig(conf(one), false), "x", resolver.Inet, w); r.Outcome != probe.Again || len(r.Notes) == 0 {
		t.Errorf("without TCP: %s, %q", r.Outcome, r.Notes)
	}
}

func TestDigLeavesAClosedPortAtOnce(t *testing.T) {
	r, _ := run(t, NewDig(conf("nameserver 198.19.0.9\nnameserver 198.19.0.10\n"), false), "x", resolver.Inet, simnet.World{})
	if r.Outcome != probe.NXDomain || r.Duration > probe.Millis(time.Second) {
		t.Errorf("%s after %v", r.Outcome, r.Duration)
	}
}

func TestDigPassesOverWhatIsNoAnswer(t *testing.T) {
	for _, kind := range []simnet.ActionKind{simnet.ActBadID, simnet.ActBadQuestion} {
		w := simnet.World{Rules: []simnet.Rule{{Nth: []int{1}, Do: []simnet.Action{{Kind: kind}}}}}
		r, queries := run(t, NewDig(conf(one), false), "x", resolver.Inet, w)
		if r.Outcome != probe.NXDomain || len(queries) != 2 || r.Duration < probe.Millis(5*time.Second) {
			t.Errorf("%s: %s after %v with %d queries", kind, r.Outcome, r.Duration, len(queries))
		}
	}
}

func TestBusyboxSendsOneSeriesAfterTheOther(t *testing.T) {
	r, queries := run(t, NewBusybox(conf(one)), "x", resolver.Unspec, simnet.World{})
	var got []string
	for _, q := range queries {
		got = append(got, string(q.Type)+" "+q.Name)
		if q.EDNSSize != 0 || q.AD {
			t.Errorf("%+v", q)
		}
	}
	if want := []string{"A x.a.test.", "A x.b.test.", "AAAA x.a.test.", "AAAA x.b.test."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			if q.Transmissions[0].Socket != 1 {
				t.Errorf("%s %s has another socket", q.Type, a.Name)
			}
		}
	}
}

func TestBusyboxAsksForADotlessNameAsItIsWithoutASearchList(t *testing.T) {
	_, queries := run(t, NewBusybox(conf("nameserver 198.19.0.10\n")), "x", resolver.Unspec, simnet.World{})
	if len(queries) != 2 || queries[0].Name != "x." || queries[1].Name != "x." {
		t.Errorf("%+v", queries)
	}
}

func TestBusyboxSendsAgainOnlyWhatIsOpen(t *testing.T) {
	w := simnet.World{Rules: []simnet.Rule{
		{Type: probe.TypeAAAA, Do: []simnet.Action{{Kind: simnet.ActDrop}}},
		{Do: []simnet.Action{{Kind: simnet.ActA, Addr: netip.MustParseAddr("203.0.113.7")}}},
	}}
	r, queries := run(t, NewBusybox(conf("nameserver 198.19.0.10\n")), "x.y", resolver.Unspec, w)
	if r.Outcome != probe.OK || len(queries) != 3 || queries[2].Type != probe.TypeAAAA || r.Duration != probe.Millis(5*time.Second) {
		t.Errorf("%s after %v with %d queries", r.Outcome, r.Duration, len(queries))
	}
}

func TestBusyboxTakesRefusedForAnAnswer(t *testing.T) {
	w := simnet.World{Rules: []simnet.Rule{{Do: []simnet.Action{{Kind: simnet.ActRcode, N: resolver.RcodeRefused}}}}}
	r, queries := run(t, NewBusybox(conf(one)), "x.y", resolver.Unspec, w)
	if r.Outcome != probe.Again || len(queries) != 2 {
		t.Errorf("%s with %d queries", r.Outcome, len(queries))
	}
}

func TestNamesThatNoMessageHolds(t *testing.T) {
	for name, res := range map[string]resolver.Resolver{"dig": NewDig(conf(one), false), "busybox": NewBusybox(conf(one))} {
		r, queries := run(t, res, "a..b", resolver.Unspec, simnet.World{})
		if len(queries) != 0 || r.Outcome != probe.Fail || len(r.Attempts) != 1 || r.Attempts[0].Outcome != probe.Unsent {
			t.Errorf("%s: %s, %+v", name, r.Outcome, r.Attempts)
		}
	}
}

func TestWithoutAServer(t *testing.T) {
	for name, res := range map[string]resolver.Resolver{"dig": NewDig(conf("nameserver 198.19.0.9\n"), false), "busybox": NewBusybox(conf("nameserver 198.19.0.9\n"))} {
		if r, _ := run(t, res, "x.y", resolver.Inet, simnet.World{}); r.Outcome != probe.Again {
			t.Errorf("%s: %s", name, r.Outcome)
		}
	}
}
