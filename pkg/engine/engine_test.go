package engine

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

const podConf = "search shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal\nnameserver 198.19.0.10\noptions ndots:5\n"

// model returns an engine over one server on which these names have an address, in virtual time.
func model(t *testing.T, resolvConf string, w simnet.World) *Engine {
	t.Helper()
	if w.Servers == nil {
		w.Servers = []simnet.Server{{Addr: netip.MustParseAddr("198.19.0.10")}}
	}
	if w.Rules == nil {
		w.Rules = []simnet.Rule{{Name: "api.stripe.com", Do: []simnet.Action{{Kind: simnet.ActA, Addr: netip.MustParseAddr("203.0.113.7")}}}}
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	nsswitch := "hosts: files dns\n"
	return &Engine{
		System: func(context.Context) (resolver.System, error) {
			return resolver.System{ResolvConf: resolvConf, NSSwitch: &nsswitch, Hostname: "pod"}, nil
		},
		Resolver:   probe.Resolver{Libc: probe.Glibc, Version: "2.36", Build: "2.36-9+deb12u14"},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) { return simnet.New(ctx, &w, simnet.Options{}), nil },
		Source:     probe.Predicted,
	}
}

// resolve carries out an ask and checks what every resolution has to keep to.
func resolve(t *testing.T, e *Engine, ask probe.Ask) probe.Resolution {
	t.Helper()
	var events []probe.Event
	r, err := e.Resolve(t.Context(), "r1", ask, func(ev probe.Event) { events = append(events, ev) })
	if err != nil {
		t.Fatal(err)
	}
	if len(events) < 2 || events[0].Kind != probe.KindBegin || events[len(events)-1].Kind != probe.KindEnded {
		t.Fatalf("events do not go from begin to ended: %+v", events)
	}
	for _, ev := range events {
		if ev.Resolution != "r1" {
			t.Errorf("event without its resolution: %+v", ev)
		}
	}
	if r.Outcome == "" || r.Source != e.Source || r.StartedAt.IsZero() {
		t.Errorf("%+v", r)
	}
	return r
}

func TestResolveWalksTheSearchList(t *testing.T) {
	r := resolve(t, model(t, podConf, simnet.World{}), probe.Ask{Host: "api.stripe.com"})
	if r.Outcome != probe.OK || len(r.Attempts) != 5 || r.QueriesSent != 10 || r.QueriesWasted != 8 || r.Variant != probe.VariantNow || r.Libc != probe.Glibc {
		t.Errorf("%s, %d attempts, %d queries, %d wasted, %s", r.Outcome, len(r.Attempts), r.QueriesSent, r.QueriesWasted, r.Variant)
	}
}

func TestResolveAppliesVariants(t *testing.T) {
	e := model(t, podConf, simnet.World{})
	for _, c := range []struct {
		variant  probe.Variant
		attempts int
		queries  int
	}{
		{probe.Variant{Name: "ndots:2", Options: []string{"ndots:2"}}, 1, 2},
		{probe.Variant{Name: "trailing dot", TrailingDot: true}, 1, 2},
		{probe.Variant{Name: "no ndots", Options: []string{"-ndots"}}, 1, 2},
		{probe.Variant{Name: "no-aaaa", Options: []string{"no-aaaa"}}, 5, 5},
		{probe.Variant{Name: "one domain", Search: []string{"cluster.local"}}, 2, 4},
		{probe.Variant{Name: "one domain and ndots:1", Search: []string{"cluster.local"}, Options: []string{"ndots:1"}}, 1, 2},
		{probe.Variant{Name: "no search list", Search: []string{}}, 1, 2},
	} {
		r := resolve(t, e, probe.Ask{Host: "api.stripe.com", Variant: c.variant})
		if len(r.Attempts) != c.attempts || r.QueriesSent != c.queries || r.Variant != c.variant.Name || r.Host != "api.stripe.com" || r.Outcome != probe.OK {
			t.Errorf("%s: %s %s, %d attempts, %d queries", c.variant.Name, r.Host, r.Outcome, len(r.Attempts), r.QueriesSent)
		}
	}
}

func TestResolveAsksTheNameserversOfAVariant(t *testing.T) {
	e := model(t, podConf, simnet.World{})
	r := resolve(t, e, probe.Ask{Host: "api.stripe.com.", Variant: probe.Variant{Name: "another server", Nameservers: []string{"198.19.0.99"}}})
	if got := r.Attempts[0].Queries[0].Transmissions[0]; got.Server != "198.19.0.99:53" || got.Reply != probe.ReplyICMPRefused || r.Outcome == probe.OK {
		t.Errorf("%+v, %s", got, r.Outcome)
	}
}

func TestResolveAsksForTypes(t *testing.T) {
	e := model(t, podConf, simnet.World{})
	for _, c := range []struct {
		types   []probe.QueryType
		queries int
		outcome probe.Outcome
	}{
		{[]probe.QueryType{probe.TypeA}, 5, probe.OK},
		{[]probe.QueryType{probe.TypeAAAA}, 5, probe.NoData},
		{[]probe.QueryType{probe.TypeAAAA, probe.TypeA}, 10, probe.OK},
	} {
		if r := resolve(t, e, probe.Ask{Host: "api.stripe.com", Types: c.types}); r.QueriesSent != c.queries || r.Outcome != c.outcome {
			t.Errorf("%v: %d queries, %s", c.types, r.QueriesSent, r.Outcome)
		}
	}
	if _, err := e.Resolve(t.Context(), "r", probe.Ask{Host: "x", Types: []probe.QueryType{"MX"}}, func(probe.Event) {}); err == nil {
		t.Error("type MX was taken")
	}
}

func TestResolveStartsAFreshProcess(t *testing.T) {
	// glibc turns to one query at a time after half a pair was lost, and keeps to it in that thread.
	w := simnet.World{Rules: []simnet.Rule{
		{Name: "x.test", Type: probe.TypeAAAA, Do: []simnet.Action{{Kind: simnet.ActDrop}}},
		{Name: "x.test", Do: []simnet.Action{{Kind: simnet.ActA, Addr: netip.MustParseAddr("192.0.2.1")}}},
	}}
	e := model(t, "nameserver 198.19.0.10\n", w)
	first, second := resolve(t, e, probe.Ask{Host: "x.test."}), resolve(t, e, probe.Ask{Host: "x.test."})
	if first.Duration.Duration() != 15*time.Second || second.Duration != first.Duration || second.TransmissionsSent != first.TransmissionsSent {
		t.Errorf("first %s with %d messages, second %s with %d", first.Duration.Duration(), first.TransmissionsSent, second.Duration.Duration(), second.TransmissionsSent)
	}
}

func TestResolveKeepsToItsBound(t *testing.T) {
	silent := simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("198.19.0.10"), Silent: true}}}
	r := resolve(t, model(t, podConf, silent), probe.Ask{Host: "x", Timeout: probe.Millis(7 * time.Second)})
	if r.Outcome != probe.Again || r.Duration.Duration() != 7*time.Second || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "7s") {
		t.Errorf("%s after %s: %v", r.Outcome, r.Duration.Duration(), r.Notes)
	}
	r = resolve(t, model(t, podConf, silent), probe.Ask{Host: "x"})
	if r.Outcome != probe.Again || r.Duration.Duration() != 20*time.Second {
		t.Errorf("without a bound: %s after %s", r.Outcome, r.Duration.Duration())
	}
}

func TestResolveTellsOfAHang(t *testing.T) {
	// glibc reads from TCP without a timeout: over a server that accepts and stays silent it hangs.
	w := simnet.World{Rules: []simnet.Rule{{Name: "*", Do: []simnet.Action{{Kind: simnet.ActDrop}}}}}
	r := resolve(t, model(t, "nameserver 198.19.0.10\noptions use-vc\n", w), probe.Ask{Host: "x."})
	if r.Outcome == probe.OK || len(r.Notes) == 0 {
		t.Errorf("%s: %v", r.Outcome, r.Notes)
	}
}

func TestResolveErrors(t *testing.T) {
	nothing := func(probe.Event) {}
	e := model(t, podConf, simnet.World{})
	if _, err := e.Resolve(t.Context(), "r", probe.Ask{Host: strings.Repeat("x", 5000)}, nothing); err == nil {
		t.Error("a host of any length is taken")
	}
	var unsupported *UnsupportedError
	if _, err := e.Resolve(t.Context(), "r", probe.Ask{Host: "x", Libc: "bsd"}, nothing); !errors.As(err, &unsupported) || unsupported.NextStep() == "" {
		t.Errorf("unknown libc: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Resolve(ctx, "r", probe.Ask{Host: "x"}, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("broken")
	noSystem, noNetwork := *e, *e
	noSystem.System = func(context.Context) (resolver.System, error) { return resolver.System{}, broken }
	noNetwork.NewNetwork = func(context.Context) (resolver.Network, error) { return nil, broken }
	for name, engine := range map[string]*Engine{"settings": &noSystem, "network": &noNetwork} {
		if _, err := engine.Resolve(t.Context(), "r", probe.Ask{Host: "x"}, nothing); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type shutting struct {
	resolver.Network
	shut *int
}

func (s shutting) Shut() { *s.shut++ }

func TestResolveShutsItsNetwork(t *testing.T) {
	e := model(t, podConf, simnet.World{})
	open, shut := e.NewNetwork, 0
	e.NewNetwork = func(ctx context.Context) (resolver.Network, error) {
		n, err := open(ctx)
		return shutting{n, &shut}, err
	}
	resolve(t, e, probe.Ask{Host: "x"})
	if shut != 1 {
		t.Errorf("shut %d times", shut)
	}
}

func TestProberNumbersItsResolutions(t *testing.T) {
	var fold probe.Fold
	p := model(t, podConf, simnet.World{}).Prober("r", fold.Add)
	for _, want := range []string{"r1", "r2"} {
		r, err := p.Resolve(t.Context(), probe.Ask{Host: "api.stripe.com"})
		if err != nil || r.ID != want {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
	if got := fold.Run().Resolutions; len(got) != 2 {
		t.Errorf("%d resolutions were reported", len(got))
	}
}

func TestSettings(t *testing.T) {
	sys := resolver.System{ResolvConf: podConf, Env: map[string]string{"RES_OPTIONS": "timeout:3"}}
	s := Settings(sys, probe.Resolver{Libc: probe.Glibc, Version: "2.36"}, "target")
	if s.Ndots != 5 || len(s.Search) != 4 || s.Nameservers[0] != "198.19.0.10" || s.TimeoutSeconds != 3 || s.Attempts != 2 || s.Raw != podConf || s.Source != "target" {
		t.Errorf("%+v", s)
	}
	if s.Warnings == nil || s.Options == nil {
		t.Error("a list is null in JSON")
	}
	s = Settings(sys, probe.Resolver{Libc: probe.Musl, Version: "1.2.5"}, "target")
	if s.TimeoutSeconds != 5 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Effect, "musl does not look at this variable") {
		t.Errorf("musl: %+v", s)
	}
	s = Settings(sys, probe.Resolver{Libc: "bionic"}, "target")
	if len(s.Warnings) == 0 {
		t.Error("the settings of a libc that is not known are shown as glibc reads them, without a word")
	}
}

func TestResolveFollowsTheLibcOfTheAsk(t *testing.T) {
	// musl never searches for a name with ndots dots.
	e := model(t, "nameserver 198.19.0.10\nsearch a.test\noptions ndots:1\n", simnet.World{})
	for libc, want := range map[probe.Libc]int{probe.Glibc: 2, probe.Musl: 1, probe.Go: 2} {
		r, err := e.Resolve(t.Context(), "r", probe.Ask{Host: "x.y", Libc: libc}, func(probe.Event) {})
		if err != nil || r.Libc != libc || len(r.Attempts) != want {
			t.Errorf("%s: %d attempts, want %d; %v", libc, len(r.Attempts), want, err)
		}
	}
}

func TestResolveLetsAGoProgramWithCgoChooseAnew(t *testing.T) {
	e := model(t, podConf, simnet.World{})
	glibc := e.Resolver
	e.Resolver = probe.Resolver{
		Libc: probe.Go, Version: "1.26.8", Cgo: &probe.CgoProgram{Program: "app", GoVersion: "1.26.8", Libc: glibc},
	}
	for _, c := range []struct {
		ask     probe.Ask
		libc    probe.Libc
		queries int
	}{
		{probe.Ask{Host: "api.stripe.com"}, probe.Go, 10},
		{probe.Ask{Host: "api.stripe.com", Variant: probe.Variant{Options: []string{"ndots:2"}}}, probe.Go, 2},
		// Go knows no-aaaa as little as a typing error: libc it is, which does know it.
		{probe.Ask{Host: "api.stripe.com", Variant: probe.Variant{Options: []string{"no-aaaa"}}}, probe.Glibc, 5},
		{probe.Ask{Host: "api.stripe.com", Variant: probe.Variant{Options: []string{"no-aaaa"}}, Libc: probe.Go}, probe.Go, 10},
		// Go asks libc for IPv4 addresses, too, when it wants IPv6.
		{probe.Ask{Host: "api.stripe.com.", Types: []probe.QueryType{probe.TypeAAAA}, Variant: probe.Variant{Options: []string{"inet6"}}}, probe.Glibc, 2},
		{probe.Ask{Host: "100%"}, probe.Glibc, 0},
	} {
		r := resolve(t, e, c.ask)
		if r.Libc != c.libc || r.QueriesSent != c.queries {
			t.Errorf("%s %v: %d queries by %s, want %d by %s", c.ask.Host, c.ask.Variant.Options, r.QueriesSent, r.Libc, c.queries, c.libc)
		}
	}
}

func TestFallback(t *testing.T) {
	detected := probe.Resolver{Libc: probe.Glibc, Version: "2.31", Source: probe.SourceDetected}
	if Fallback(detected) != detected {
		t.Error("a libc that can be followed is replaced")
	}
	musl := probe.Resolver{Libc: probe.Musl, Version: "1.2.5", Source: probe.SourceDetected}
	if Fallback(musl) != musl {
		t.Error("musl is replaced")
	}
	got := Fallback(probe.Resolver{Libc: "bionic", Version: "1.2.5", Source: probe.SourceDetected, Why: "read"})
	if got.Libc != probe.Glibc || got.Version != "2.36" || got.Source != probe.SourceAssumed || !strings.Contains(got.Why, "bionic 1.2.5") {
		t.Errorf("%+v", got)
	}
}
