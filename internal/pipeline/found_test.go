package pipeline

import (
	"slices"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestFoundNamesDecideOnThePatch(t *testing.T) {
	p := newPod(t, "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
		rule(t, "A/api.partner.example.net", "a:203.0.113.10"), rule(t, "api.partner.example.net"),
		rule(t, "A/ledger.billing.svc.cluster.local", "a:10.96.44.7"), rule(t, "ledger.billing.svc.cluster.local"),
	)
	in := p.in("api.partner.example.net")
	// A container with musl beside it never searches for a name of two dots with ndots:2.
	in.Libcs = []probe.Resolver{{Libc: probe.Musl, Version: "1.2.5"}}
	in.Found = []string{"ledger.billing.svc", "api.partner.example.net", "ledger.billing.svc"}
	run := p.run(in)
	if run.Patch == nil || run.Patch.Variant != "ndots:3" || len(run.Patch.Names) != 2 {
		t.Fatalf("patch %+v\n%s", run.Patch, table(run))
	}
}

func TestFoundNamesThatDoNotResolveAreLeftOut(t *testing.T) {
	p := classicPod(t)
	p.world.Rules = slices.Insert(p.world.Rules, 0, rule(t, "slow.orders.svc.cluster.local", "drop"))
	p.before = func(ask probe.Ask) error {
		if ask.Host == "broken" {
			return errGone
		}
		return nil
	}
	in := p.in("api.partner.example.net")
	in.Found = []string{"broken", "gone", "slow.orders", "ledger"}
	run := p.run(in)
	if run.Patch == nil || len(run.Problems) > 0 {
		t.Fatalf("patch %v, problems %q", run.Patch, run.Problems)
	}
	var checked []string
	for _, n := range run.Patch.Names {
		checked = append(checked, n.Name)
	}
	if !slices.Equal(checked, []string{"api.partner.example.net", "ledger"}) {
		t.Errorf("checked on %v", checked)
	}
	asked := 0
	for _, ask := range p.asks {
		if ask.Host == "slow.orders" {
			asked++
			if ask.Timeout != slow {
				t.Errorf("waited %s for a name that nobody asked for", ask.Timeout.Duration())
			}
		}
	}
	if asked != 1 {
		t.Errorf("the slow name was asked for %d times", asked)
	}
}

func TestABareRunAsksForNoFoundNames(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Found, in.Bare = []string{"ledger"}, true
	p.run(in)
	if len(p.asks) != 1 {
		t.Errorf("asks %+v", p.asks)
	}
}
