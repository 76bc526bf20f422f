package diagnose

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// world is a random world with the real resolver on it: what a finding claims about it can be looked up.
type world struct {
	t     *testing.T
	conf  string
	world simnet.World
	state *simnet.State
}

func (w *world) system() resolver.System {
	nsswitch := "hosts: files dns\n"
	return resolver.System{ResolvConf: w.conf, NSSwitch: &nsswitch, Hostname: "pod"}
}

func (w *world) resolve(id, host string) probe.Resolution {
	w.t.Helper()
	e := engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return w.system(), nil },
		Resolver: probe.Resolver{Libc: probe.Glibc, Version: "2.36"},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &w.world, simnet.Options{State: w.state}), nil
		},
		Source: probe.Measured,
	}
	r, err := e.Resolve(w.t.Context(), id, probe.Ask{Host: host}, func(probe.Event) {})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// says is what the servers of a world have to say about a name and type, in words of simnet.
func (w *world) says(name string, kind probe.QueryType, server netip.Addr) []simnet.ActionKind {
	for _, r := range w.world.Rules {
		if r.Type == kind && r.Server == server && strings.EqualFold(r.Name, strings.TrimSuffix(name, ".")) {
			var kinds []simnet.ActionKind
			for _, a := range r.Do {
				kinds = append(kinds, a.Kind)
			}
			return kinds
		}
	}
	return []simnet.ActionKind{simnet.ActNXDomain}
}

func randomWorld(t *testing.T, dice *rand.Rand) (*world, string) {
	t.Helper()
	words := [][]string{{"nx"}, {"nx"}, {"nx"}, {"nodata"}, {"a:192.0.2.1"}, {"servfail"}, {"refused"}, {"drop"}, {"nx", "delay:7"}, {"a:192.0.2.7", "delay:1500"}}
	servers := []string{"198.19.0.10", "198.19.0.11"}[:1+dice.IntN(2)]
	conf := fmt.Sprintf("search shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal\noptions ndots:%d timeout:1\n", 1+dice.IntN(5))
	w := &world{t: t, state: simnet.NewState(dice.Uint64())}
	for _, s := range servers {
		conf += "nameserver " + s + "\n"
		w.world.Servers = append(w.world.Servers, simnet.Server{Addr: netip.MustParseAddr(s), Silent: dice.IntN(6) == 0})
	}
	w.conf, w.world.Delay = conf, time.Millisecond
	host := []string{"x", "x.y", "api.stripe.com", "x.y.z.w.v", "x.y.z."}[dice.IntN(5)]
	for _, suffix := range []string{"", ".shop.svc.cluster.local", ".svc.cluster.local", ".cluster.local", ".ec2.internal"} {
		same := words[dice.IntN(len(words))]
		for _, kind := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
			if dice.IntN(8) == 0 {
				same = words[dice.IntN(len(words))]
			}
			for _, s := range w.world.Servers {
				actions, err := simnet.ParseActions(same)
				if err != nil {
					t.Fatal(err)
				}
				w.world.Rules = append(w.world.Rules, simnet.Rule{Name: strings.TrimSuffix(host, ".") + suffix, Type: kind, Server: s.Addr, Do: actions})
			}
		}
	}
	return w, host
}

// TestFindingsAreTrue makes random worlds, and looks up in each whether what was found is so.
func TestFindingsAreTrue(t *testing.T) {
	dice := rand.New(rand.NewPCG(27, 18))
	seen := map[string]int{}
	for round := range 3000 {
		w, host := randomWorld(t, dice)
		in := Input{Hosts: []string{host}, Run: probe.Run{Settings: engine.Settings(w.system(), probe.Resolver{Libc: probe.Glibc, Version: "2.36"}, "target")}}
		for i := range 1 + round%3 {
			in.Run.Resolutions = append(in.Run.Resolutions, w.resolve(fmt.Sprintf("r%d", i), host))
		}
		for _, f := range Diagnose(in) {
			seen[f.Class]++
			if problem := w.contradicts(f, in.Run); problem != "" {
				t.Fatalf("%s is not true: %s\n%s\nsettings %q\nrules %v", f.Class, problem, told([]probe.Finding{f}), w.conf, w.world.Rules)
			}
			checkShape(t, f, in.Run)
		}
	}
	for _, class := range []string{
		"search-walk", "healthy", "no-such-name", "ndots-too-low", "servfail-in-search", "refused-in-search", "timeout-in-search",
		"dead-nameserver", "upstream-servfail", "aaaa-nxdomain",
	} {
		if seen[class] < 5 {
			t.Errorf("%s was found %d times: too few to prove anything", class, seen[class])
		}
	}
	for _, class := range []string{"upstream-inconsistent", "stub-loopback", "wrong-dns-policy", "wildcard-search", "tcp53-blocked"} {
		if seen[class] > 0 {
			t.Errorf("%s was found %d times in worlds that have no such thing", class, seen[class])
		}
	}
	t.Logf("%v", seen)
}

// contradicts says what in the world speaks against a finding, empty when nothing does.
func (w *world) contradicts(f probe.Finding, run probe.Run) string {
	first := run.Resolutions[0]
	every := func(kind simnet.ActionKind, a *probe.Attempt) string {
		for _, s := range w.world.Servers {
			// What was not asked (AAAA after a rejected A in glibc's serial mode) is not spoken about.
			for _, q := range a.Queries {
				if says := w.says(a.Name, q.Type, s.Addr); !s.Silent && !slices.Contains(says, kind) {
					return fmt.Sprintf("%s %s at %s is %v", a.Name, q.Type, s.Addr, says)
				}
			}
		}
		return ""
	}
	attempt := func() *probe.Attempt {
		for i := range first.Attempts {
			if first.Attempts[i].N == f.Evidence[0].Attempt {
				return &first.Attempts[i]
			}
		}
		return nil
	}
	switch f.Class {
	case "search-walk":
		for _, e := range f.Evidence {
			for _, a := range first.Attempts {
				if a.N == e.Attempt && w.hasAddress(a.Name) {
					return a.Name + " has an address"
				}
			}
		}
	case "no-such-name":
		for i := range first.Attempts {
			if problem := every(simnet.ActNXDomain, &first.Attempts[i]); problem != "" {
				return problem
			}
		}
	case "servfail-in-search", "refused-in-search", "upstream-servfail":
		return every(simnet.ActRcode, attempt())
	case "timeout-in-search":
		return every(simnet.ActDrop, attempt())
	case "dead-nameserver":
		dead := strings.Fields(f.Title)[1]
		for _, s := range w.world.Servers {
			if s.Addr.String() == dead && !s.Silent && !w.dropsEverything(run, s.Addr) {
				return dead + " is alive"
			}
		}
	case "healthy":
		for _, a := range first.Attempts {
			for _, s := range w.world.Servers[:1] {
				for _, q := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
					says := w.says(a.Name, q, s.Addr)
					if s.Silent || slices.Contains(says, simnet.ActDrop) || slices.Contains(says, simnet.ActRcode) {
						return fmt.Sprintf("%s %s at %s is %v", a.Name, q, s.Addr, says)
					}
				}
			}
		}
	}
	return ""
}

func (w *world) hasAddress(name string) bool {
	for _, s := range w.world.Servers {
		if slices.Contains(w.says(name, probe.TypeA, s.Addr), simnet.ActA) {
			return true
		}
	}
	return false
}

// dropsEverything says whether a server has nothing to say about any name that was asked.
func (w *world) dropsEverything(run probe.Run, server netip.Addr) bool {
	for _, r := range run.Resolutions {
		for _, a := range r.Attempts {
			for _, q := range a.Queries {
				if !slices.Contains(w.says(a.Name, q.Type, server), simnet.ActDrop) {
					return false
				}
			}
		}
	}
	return true
}

// checkShape holds a finding to what every finding has to be.
func checkShape(t *testing.T, f probe.Finding, run probe.Run) {
	t.Helper()
	if f.Title == "" || f.Explain == "" || len(f.Evidence) == 0 {
		t.Errorf("%s has no title, explanation or evidence: %+v", f.Class, f)
	}
	if !slices.Contains([]probe.Severity{probe.Info, probe.Warning, probe.Critical}, f.Severity) {
		t.Errorf("%s has severity %q", f.Class, f.Severity)
	}
	for _, e := range f.Evidence {
		if e.Attempt == 0 {
			continue
		}
		found := false
		for _, r := range run.Resolutions {
			for _, a := range r.Attempts {
				found = found || r.ID == e.Resolution && a.N == e.Attempt
			}
		}
		if !found {
			t.Errorf("%s points at attempt %d of %q, which is not there", f.Class, e.Attempt, e.Resolution)
		}
	}
	for _, text := range []string{f.Title, f.Explain} {
		if strings.Contains(text, "%!") || strings.Contains(text, "  ") || strings.Contains(text, "..") && !strings.Contains(text, "...") {
			t.Errorf("%s reads badly: %q", f.Class, text)
		}
	}
	for _, r := range f.Remedies {
		if r.Text == "" || strings.Contains(r.Text+r.Gain+r.Caveat, "%!") {
			t.Errorf("%s has a remedy that reads badly: %+v", f.Class, r)
		}
	}
}
