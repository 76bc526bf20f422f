package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

var glibc = probe.Resolver{Libc: probe.Glibc, Version: "2.36"}

// place is where resolutions really happen in these tests: the real resolver on modelled servers that nobody has learned yet.
type place struct {
	t     *testing.T
	conf  string
	world simnet.World
}

func (p *place) system() resolver.System {
	nsswitch := "hosts: files dns\n"
	return resolver.System{ResolvConf: p.conf, NSSwitch: &nsswitch, Hostname: "pod"}
}

func (p *place) settings() probe.Settings { return engine.Settings(p.system(), glibc, "target") }

func (p *place) engine() *engine.Engine {
	return &engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return p.system(), nil },
		Resolver: glibc,
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &p.world, simnet.Options{}), nil
		},
		Source: probe.Measured,
	}
}

func (p *place) resolve(host string, v probe.Variant) probe.Resolution {
	p.t.Helper()
	if err := p.world.Check(); err != nil {
		p.t.Fatal(err)
	}
	r, err := p.engine().Resolve(p.t.Context(), "r-"+host+v.Label(), probe.Ask{Host: host, Variant: v}, func(probe.Event) {})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// learn resolves hosts as the settings are and returns what that taught.
func (p *place) learn(hosts ...string) (Model, probe.Run) {
	run := probe.Run{Settings: p.settings(), Resolver: glibc}
	for _, h := range hosts {
		run.Resolutions = append(run.Resolutions, p.resolve(h, probe.Variant{}))
	}
	return Learn(run), run
}

func actions(t *testing.T, words ...string) []simnet.Action {
	t.Helper()
	list, err := simnet.ParseActions(words)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func servers(addrs ...string) []simnet.Server {
	var out []simnet.Server
	for _, a := range addrs {
		out = append(out, simnet.Server{Addr: netip.MustParseAddr(a)})
	}
	return out
}

const podConf = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 198.19.0.10\noptions ndots:5\n"

func classicPlace(t *testing.T) *place {
	t.Helper()
	return &place{t: t, conf: podConf, world: simnet.World{
		Servers: servers("198.19.0.10"), Delay: time.Millisecond,
		Rules: []simnet.Rule{
			{Name: "api.stripe.com", Type: probe.TypeA, Do: actions(t, "ttl:30", "cname:edge.example.net", "a:203.0.113.7", "a:203.0.113.8", "delay:4")},
			{Name: "api.stripe.com", Do: actions(t, "cname:edge.example.net", "soa:17", "delay:6")},
			{Name: "ledger.shop.svc.cluster.local", Type: probe.TypeA, Do: actions(t, "a:10.96.20.1")},
			{Name: "ledger.shop.svc.cluster.local", Do: actions(t, "nodata")},
		},
	}}
}

func TestTheModelRepeatsWhatItWasTaught(t *testing.T) {
	p := classicPlace(t)
	m, run := p.learn("api.stripe.com", "ledger")
	predictor := NewPredictor(m, p.settings(), glibc)
	for _, now := range run.Resolutions {
		again, unknown, err := predictor.Predict(t.Context(), probe.Ask{Host: now.Host}, now)
		if err != nil || len(unknown) > 0 {
			t.Fatalf("%s: unknown %v, %v", now.Host, unknown, err)
		}
		if again.Source != probe.Predicted {
			t.Errorf("%s: source %q", now.Host, again.Source)
		}
		if diff := cmp.Diff(shape(now), shape(again)); diff != "" {
			t.Errorf("%s: %s", now.Host, diff)
		}
	}
}

// shape is all of a resolution that a prediction has to get right.
func shape(r probe.Resolution) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %v %v %d/%d/%d\n", r.Host, r.Outcome, r.Code, r.Addresses, r.Duration.Duration(), r.QueriesSent, r.QueriesWasted, r.TransmissionsSent)
	for _, a := range r.Attempts {
		fmt.Fprintf(&b, "%d %s %s %d %s %v %v\n", a.N, a.Name, a.Origin, a.SearchIndex, a.Outcome, a.Start.Duration(), a.Duration.Duration())
		for _, q := range a.Queries {
			fmt.Fprintf(&b, "  %s %s %v\n", q.Type, q.Rcode, q.Answers)
			for _, x := range q.Transmissions {
				soa := "-"
				if x.SOAMinimum != nil {
					soa = fmt.Sprint(*x.SOAMinimum)
				}
				fmt.Fprintf(&b, "    %d %s %s %d %v %s soa %s %s\n", x.Try, x.Server, x.Transport, x.Socket, x.Sent.Duration(), x.Reply, soa, x.Use)
			}
		}
	}
	return b.String()
}

func TestWhatIsPredictedComesTrue(t *testing.T) {
	p := classicPlace(t)
	m, run := p.learn("api.stripe.com", "ledger")
	predictor := NewPredictor(m, p.settings(), glibc)
	for _, v := range []probe.Variant{Ndots(2), Ndots(1), {Name: probe.VariantDot, TrailingDot: true}, {Name: "no-aaaa", Options: []string{"no-aaaa"}}, {Name: "single", Options: []string{"single-request"}}} {
		predicted, unknown, err := predictor.Predict(t.Context(), probe.Ask{Host: "api.stripe.com", Variant: v}, run.Resolutions[0])
		if err != nil || len(unknown) > 0 {
			t.Fatalf("%s: unknown %v, %v", v.Label(), unknown, err)
		}
		if diff := cmp.Diff(shape(p.resolve("api.stripe.com", v)), shape(predicted)); diff != "" {
			t.Errorf("%s: %s", v.Label(), diff)
		}
	}
}

func TestWhatWasNeverAskedIsUnknown(t *testing.T) {
	p := classicPlace(t)
	m, run := p.learn("ledger")
	predictor := NewPredictor(m, p.settings(), glibc)
	tests := map[string]struct {
		ask  probe.Ask
		want []string
	}{
		"as it is":        {probe.Ask{Host: "ledger"}, nil},
		"a final dot":     {probe.Ask{Host: "ledger", Variant: probe.Variant{Name: "dot", TrailingDot: true}}, []string{"ledger."}},
		"another host":    {probe.Ask{Host: "other"}, []string{"other.shop.svc.cluster.local.", "other."}},
		"another way":     {probe.Ask{Host: "ledger", Variant: probe.Variant{Name: "tcp", Options: []string{"use-vc"}}}, []string{"ledger.shop.svc.cluster.local."}},
		"upper case asks": {probe.Ask{Host: "LEDGER"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, unknown, err := predictor.Predict(t.Context(), tt.ask, run.Resolutions[0])
			if err != nil {
				t.Fatal(err)
			}
			// What comes after a name that is not known is not known either, so only the first one has to be right.
			if len(tt.want) == 0 && len(unknown) > 0 || len(tt.want) > 0 && (len(unknown) == 0 || unknown[0] != tt.want[0]) {
				t.Errorf("unknown %q, want %q first", unknown, tt.want)
			}
		})
	}
}

func TestServersThatDoNotReply(t *testing.T) {
	conf := "search node.example.com\nnameserver 198.19.0.10\nnameserver 198.19.0.11\noptions ndots:1\n"
	tests := map[string]struct {
		world    simnet.World
		duration time.Duration
	}{
		"silent":  {simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("198.19.0.10"), Silent: true}, servers("198.19.0.11")[0]}}, 5 * time.Second},
		"refused": {simnet.World{Servers: servers("198.19.0.11")}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.world.Rules = []simnet.Rule{{Name: "mail.example.net", Type: probe.TypeA, Do: actions(t, "a:198.51.100.70")}, {Name: "mail.example.net", Do: actions(t, "nodata")}}
			p := &place{t: t, conf: conf, world: tt.world}
			m, run := p.learn("mail.example.net")
			again, unknown, err := NewPredictor(m, p.settings(), glibc).Predict(t.Context(), probe.Ask{Host: "mail.example.net"}, run.Resolutions[0])
			if err != nil || len(unknown) > 0 {
				t.Fatalf("unknown %v, %v", unknown, err)
			}
			if diff := cmp.Diff(shape(run.Resolutions[0]), shape(again)); diff != "" {
				t.Error(diff)
			}
			if d := again.Duration.Duration(); d < tt.duration || d > tt.duration+time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestAnAccidentIsNotPredicted(t *testing.T) {
	p := classicPlace(t)
	p.world.Rules = slices.Insert(p.world.Rules, 0, simnet.Rule{Name: "api.stripe.com", Type: probe.TypeAAAA, Nth: []int{1}, Do: actions(t, "drop")})
	m, run := p.learn("api.stripe.com")
	if d := run.Resolutions[0].Duration.Duration(); d < 5*time.Second {
		t.Fatalf("nothing was lost: %v", d)
	}
	again, unknown, err := NewPredictor(m, p.settings(), glibc).Predict(t.Context(), probe.Ask{Host: "api.stripe.com"}, run.Resolutions[0])
	if err != nil || len(unknown) > 0 || again.Duration.Duration() > time.Second || again.Outcome != probe.OK {
		t.Errorf("%s after %v, unknown %v, %v", again.Outcome, again.Duration.Duration(), unknown, err)
	}
}

// O15: what disagrees with itself cannot be predicted.
func TestRepliesThatDisagreeAreUnknown(t *testing.T) {
	p := classicPlace(t)
	p.world.Rules = slices.Insert(p.world.Rules, 0, simnet.Rule{Name: "api.stripe.com", Nth: []int{3, 4}, Do: actions(t, "nx")})
	first := p.resolve("api.stripe.com", probe.Variant{})
	second := first
	second.Attempts = slices.Clone(first.Attempts)
	last := &second.Attempts[len(second.Attempts)-1]
	last.Queries = slices.Clone(last.Queries)
	for i := range last.Queries {
		last.Queries[i].Rcode, last.Queries[i].Answers = "NXDOMAIN", nil
		last.Queries[i].Transmissions = slices.Clone(last.Queries[i].Transmissions)
		for j := range last.Queries[i].Transmissions {
			last.Queries[i].Transmissions[j].Reply = "NXDOMAIN"
		}
	}
	m := Learn(probe.Run{Resolutions: []probe.Resolution{first, second}})
	if got := m.Unknown(first); len(got) != 1 || got[0] != "api.stripe.com." {
		t.Errorf("unknown %q", got)
	}
}

func TestTheModelKeepsItsBounds(t *testing.T) {
	run := probe.Run{}
	at := probe.Millis(1)
	for i := range simnet.MaxRules + 10 {
		run.Resolutions = append(run.Resolutions, probe.Resolution{Attempts: []probe.Attempt{{Name: fmt.Sprintf("n%d.", i), Queries: []probe.Query{{
			Type: probe.TypeA, Rcode: "NXDOMAIN",
			Transmissions: []probe.Transmission{{Server: fmt.Sprintf("10.0.%d.%d:53", i/200%10, i%200), Transport: probe.UDP, Reply: "NXDOMAIN", Received: &at}},
		}}}}})
	}
	many := make([]probe.Answer, simnet.MaxActions)
	for i := range many {
		many[i] = probe.Answer{Type: "A", Data: "192.0.2.1"}
	}
	odd := []probe.Query{
		{Type: probe.TypeA, Answers: many, Transmissions: []probe.Transmission{{Server: "10.0.0.1:53", Reply: "NOERROR", Received: &at}}},
		{Type: probe.TypeAAAA, Transmissions: []probe.Transmission{{Server: "10.0.0.1:53", Reply: "BADVERS", Received: &at}, {Server: "nonsense", Reply: "NOERROR", Received: &at}, {Server: "10.0.0.1:5353", Reply: "NOERROR", Received: &at}}},
	}
	run.Resolutions = append(run.Resolutions, probe.Resolution{Attempts: []probe.Attempt{{Name: "odd.", Queries: odd}, {Name: "*.", Queries: odd[:1]}}})
	m := Learn(run)
	if err := m.World.Check(); err != nil {
		t.Error(err)
	}
	for i, want := range []int{0, len(run.Resolutions) - 2, len(run.Resolutions) - 1} {
		if unknown := m.Unknown(run.Resolutions[want]); (len(unknown) == 0) != (i == 0) {
			t.Errorf("resolution %d: unknown %q", want, unknown)
		}
	}
}

func TestNothingIsLearnedFromNothing(t *testing.T) {
	m := Learn(probe.Run{})
	if len(m.World.Servers)+len(m.World.Rules) != 0 {
		t.Errorf("%+v", m.World)
	}
	if got := m.Unknown(probe.Resolution{}); got != nil {
		t.Errorf("%q", got)
	}
}

// TestRandomPredictionsComeTrue lets random worlds be learned from one walk, and holds every prediction that claims to know
// against what then happens.
func TestRandomPredictionsComeTrue(t *testing.T) {
	words := [][]string{{"nx"}, {"nodata"}, {"a:192.0.2.1"}, {"aaaa:2001:db8::1"}, {"servfail"}, {"refused"}, {"drop"}, {"cname:x.example", "a:192.0.2.9"}, {"nx", "delay:7"}, {"formerr"}, {"notimp"}, {"lame"}}
	dice := rand.New(rand.NewPCG(3, 14))
	held, asked := 0, 0
	for range 400 {
		p := &place{t: t, conf: fmt.Sprintf("search a.svc.zone svc.zone zone\nnameserver 198.19.0.10\nnameserver 198.19.0.11\noptions ndots:%d timeout:1\n", 1+dice.IntN(5))}
		p.world.Servers, p.world.Delay = servers("198.19.0.10", "198.19.0.11"), time.Millisecond
		host := []string{"x", "x.y", "x.y.z", "x.y.z."}[dice.IntN(4)]
		for _, suffix := range []string{"", ".a.svc.zone", ".svc.zone", ".zone"} {
			for _, kind := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
				for _, server := range p.world.Servers {
					p.world.Rules = append(p.world.Rules, simnet.Rule{
						Name: strings.TrimSuffix(host, ".") + suffix, Type: kind, Server: server.Addr, Do: actions(t, words[dice.IntN(len(words))]...),
					})
				}
			}
		}
		m, run := p.learn(host)
		predictor := NewPredictor(m, p.settings(), glibc)
		for _, v := range []probe.Variant{{}, Ndots(1), Ndots(2), Ndots(4), {Name: "single", Options: []string{"single-request"}}, {Name: "dot", TrailingDot: true}} {
			predicted, unknown, err := predictor.Predict(t.Context(), probe.Ask{Host: host, Variant: v}, run.Resolutions[0])
			if err != nil {
				t.Fatal(err)
			}
			asked++
			if len(unknown) > 0 {
				continue
			}
			held++
			if diff := cmp.Diff(shape(p.resolve(host, v)), shape(predicted)); diff != "" {
				t.Fatalf("%s with %s, settings %q, servers:\n%s\n%s", host, v.Label(), p.conf, rules(p.world), diff)
			}
		}
	}
	t.Logf("%d of %d predictions claimed to know", held, asked)
	if held < asked/4 {
		t.Errorf("only %d of %d predictions claimed to know: the test proves too little", held, asked)
	}
}

func rules(w simnet.World) string {
	var b strings.Builder
	for _, r := range w.Rules {
		fmt.Fprintf(&b, "%s %s %s %v\n", r.Server, r.Name, r.Type, r.Do)
	}
	return b.String()
}
