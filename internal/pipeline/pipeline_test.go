package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// pod is a pod on a modelled cluster: the real resolver over modelled servers, in virtual time.
type pod struct {
	t      *testing.T
	conf   string
	hosts  string
	world  simnet.World
	libc   probe.Resolver
	events []probe.Event
	asks   []probe.Ask
	fold   probe.Fold
	prober experiment.Prober
	// before is called with every ask; an error is what the Prober returns instead.
	before func(probe.Ask) error
}

// rule is a line of a case's server table: a name, then words of simnet. A word before "/" limits it to a type.
func rule(t *testing.T, name string, words ...string) simnet.Rule {
	t.Helper()
	r := simnet.Rule{Name: name}
	if kind, rest, ok := strings.Cut(name, "/"); ok {
		r.Type, r.Name = probe.QueryType(kind), rest
	}
	var err error
	if r.Do, err = simnet.ParseActions(words); err != nil {
		t.Fatal(err)
	}
	return r
}

// newPod returns a pod with this resolv.conf, on servers at the addresses that it names. Other names get NXDOMAIN in 1 ms.
func newPod(t *testing.T, conf string, rules ...simnet.Rule) *pod {
	t.Helper()
	p := &pod{t: t, conf: conf, libc: probe.Resolver{Libc: probe.Glibc, Version: "2.36", Source: probe.SourceDetected}}
	for line := range strings.SplitSeq(conf, "\n") {
		if addr, ok := strings.CutPrefix(line, "nameserver "); ok {
			p.world.Servers = append(p.world.Servers, simnet.Server{Addr: netip.MustParseAddr(addr)})
		}
	}
	p.world.Rules, p.world.Delay = rules, time.Millisecond
	if err := p.world.Check(); err != nil {
		t.Fatal(err)
	}
	nsswitch := "hosts: files dns\n"
	e := &engine.Engine{
		System: func(context.Context) (resolver.System, error) {
			return resolver.System{ResolvConf: p.conf, Hosts: p.hosts, NSSwitch: &nsswitch, Hostname: "payments-7d4"}, nil
		},
		Resolver: p.libc,
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &p.world, simnet.Options{}), nil
		},
		Source: probe.Measured,
	}
	p.prober = e.Prober("r", p.add)
	return p
}

func (p *pod) add(ev probe.Event) {
	p.events = append(p.events, ev)
	p.fold.Add(ev)
}

func (p *pod) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	p.asks = append(p.asks, ask)
	if p.before != nil {
		if err := p.before(ask); err != nil {
			return probe.Resolution{}, err
		}
	}
	return p.prober.Resolve(ctx, ask)
}

// in is a run in the pod, owned by a Deployment.
func (p *pod) in(hosts ...string) In {
	nsswitch := "hosts: files dns\n"
	settings := engine.Settings(resolver.System{ResolvConf: p.conf, Hosts: p.hosts, NSSwitch: &nsswitch}, p.libc, "target")
	three := int32(3)
	return In{
		Prober: p, Settings: settings, Resolver: p.libc, Hosts: hosts, Target: probe.Target{Namespace: "shop", Pod: "payments-7d4"},
		Workload: &patch.Workload{Owner: probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "payments", Replicas: &three}, Namespace: "shop"},
	}
}

// run carries a run through and returns what its events tell.
func (p *pod) run(in In) probe.Run {
	p.t.Helper()
	if err := Run(p.t.Context(), in, p.add); err != nil {
		p.t.Fatal(err)
	}
	return p.fold.Run()
}

// classes are the classes of the findings, in order.
func classes(run probe.Run) string {
	var words []string
	for _, f := range run.Findings {
		words = append(words, f.Class)
	}
	return strings.Join(words, " ")
}

// table writes the what-if table a row a line.
func table(run probe.Run) string {
	var b strings.Builder
	for _, w := range run.WhatIf {
		fmt.Fprintf(&b, "%s %s: %s, %d queries, same %v, %s; %s\n", w.Host, w.Variant, w.Outcome, w.QueriesSent, w.SameAnswer, w.Source, w.Note)
	}
	return b.String()
}

// names writes the names of a patch a line each.
func names(p *probe.Patch) string {
	var b strings.Builder
	for _, n := range p.Names {
		fmt.Fprintf(&b, "%s: %s %d -> %s %d, same %v, %s\n", n.Name, n.Before.Outcome, n.Before.QueriesSent, n.After.Outcome, n.After.QueriesSent, n.Same, n.After.Source)
	}
	return b.String()
}

const classic = `search shop.svc.cluster.local svc.cluster.local cluster.local eu-west-9.compute.internal
nameserver 10.96.0.10
options ndots:5
`

// O01: the classic walk.
func classicPod(t *testing.T) *pod {
	t.Helper()
	return newPod(t, classic,
		rule(t, "A/api.partner.example.net", "a:203.0.113.10", "delay:4"), rule(t, "api.partner.example.net", "nodata", "delay:4"),
		rule(t, "A/ledger.shop.svc.cluster.local", "a:10.96.20.1"), rule(t, "ledger.shop.svc.cluster.local"),
		rule(t, "A/ledger.billing.svc.cluster.local", "a:10.96.44.7"), rule(t, "ledger.billing.svc.cluster.local"),
		rule(t, "*.eu-west-9.compute.internal", "nx", "delay:9"),
	)
}

func TestClassicWalk(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger", "ledger.billing"}
	run := p.run(in)

	first := run.Resolutions[0]
	if len(first.Attempts) != 5 || first.QueriesSent != 10 || first.QueriesWasted != 8 || first.Outcome != probe.OK {
		t.Fatalf("%s: %d attempts, %d queries, %d wasted", first.Outcome, len(first.Attempts), first.QueriesSent, first.QueriesWasted)
	}
	if classes(run) != "search-walk healthy" {
		t.Errorf("findings %q", classes(run))
	}
	walk := run.Findings[0]
	if walk.Title != "8 of 10 queries cannot succeed: the name has 3 dots, ndots is 5. Costs 12.0 of 16.0 ms here." {
		t.Error(walk.Title)
	}
	if !strings.Contains(walk.Explain, "2 of the wasted queries leave the cluster: api.partner.example.net.eu-west-9.compute.internal.") {
		t.Error(walk.Explain)
	}
	wantRemedy := probe.Remedy{
		Text: "Set ndots to 2 in the dnsConfig of Deployment payments.", Gain: "10 → 2 queries, 16.0 ms → 4.0 ms (measured); same answer for ledger and ledger.billing",
		Caveat: "The Deployment rolls its 3 pods.",
	}
	if diff := cmp.Diff(wantRemedy, walk.Remedies[0]); diff != "" {
		t.Error(diff)
	}
	want := `api.partner.example.net now: ok, 10 queries, same true, measured; 
api.partner.example.net ndots:2: ok, 2 queries, same true, measured; ledger, ledger.billing checked: same answer
api.partner.example.net ndots:1: ok, 2 queries, same true, measured; ledger.billing: 2 more queries, leaves the cluster; ledger unchanged
api.partner.example.net trailing dot: ok, 2 queries, same true, measured; only as a test: breaks TLS names in some clients
api.partner.example.net without eu-west-9.compute.internal: ok, 8 queries, same true, predicted; ledger, ledger.billing unchanged
`
	if diff := cmp.Diff(want, table(run)); diff != "" {
		t.Error(diff)
	}
	if run.Patch == nil || run.Patch.Variant != "ndots:2" || run.Patch.Undo != "kubectl -n shop rollout undo deployment/payments" {
		t.Fatalf("patch %+v", run.Patch)
	}
	want = `api.partner.example.net: ok 10 -> ok 2, same true, measured
ledger: ok 2 -> ok 2, same true, measured
ledger.billing: ok 4 -> ok 4, same true, measured
`
	if diff := cmp.Diff(want, names(run.Patch)); diff != "" {
		t.Error(diff)
	}
	if len(run.Problems) != 0 {
		t.Errorf("problems %q", run.Problems)
	}
}

// TestFindingsComeAsSoonAsTheHostIsResolved keeps the first screen quick: nothing else may be sent before.
func TestFindingsComeAsSoonAsTheHostIsResolved(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger"}
	p.run(in)
	var kinds []string
	for _, ev := range p.events {
		kind := string(ev.Kind)
		switch ev.Kind {
		case probe.KindBegin:
			kind = "begin " + ev.Begin.Host + " " + ev.Begin.Variant
		case probe.KindWhatIf:
			kind += " " + ev.WhatIf[len(ev.WhatIf)-1].Source
		case probe.KindEnded, probe.KindFindings, probe.KindPatch:
		default:
			continue
		}
		kinds = append(kinds, kind)
	}
	want := []string{
		"begin api.partner.example.net now", "ended", "findings",
		"begin ledger now", "ended",
		"what-if predicted",
		"begin api.partner.example.net now", "ended",
	}
	if len(kinds) < len(want) || !slices.Equal(kinds[:len(want)], want) {
		t.Errorf("began with\n%s", strings.Join(kinds[:min(len(kinds), len(want))], "\n"))
	}
	if tail := kinds[len(kinds)-2:]; !slices.Equal(tail, []string{"patch", "findings"}) {
		t.Errorf("ended with %q", tail)
	}
}

func TestMeasurementsAreInterleavedAndFew(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger", "ledger.billing"}
	p.run(in)
	var got []string
	for _, ask := range p.asks {
		got = append(got, ask.Host+" "+ask.Variant.Label())
	}
	host := "api.partner.example.net "
	round := []string{host + "now", host + "ndots:2", host + "ndots:1", host + "trailing dot"}
	want := slices.Concat([]string{host + "now", "ledger now", "ledger.billing now"}, round,
		[]string{"ledger.billing ndots:1"}, round, round, []string{"ledger ndots:2", "ledger.billing ndots:2"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBareSendsOnlyTheResolution(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net", "ledger")
	in.Also, in.Bare = []string{"ledger.billing"}, true
	run := p.run(in)
	if len(p.asks) != 2 || len(run.WhatIf) != 0 || run.Patch != nil {
		t.Errorf("%d asks, %d rows, patch %v", len(p.asks), len(run.WhatIf), run.Patch)
	}
	if classes(run) != "search-walk healthy" {
		t.Error(classes(run))
	}
}

// O02 on glibc: a cluster name with two dots is in use. With ndots:2 it is asked for as it is first, and found all the same; musl
// would not find it, and gets ndots:3 (testdata/cases).
func TestNdotsIsChosenByTheNamesInUse(t *testing.T) {
	p := newPod(t, "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
		rule(t, "A/api.partner.example.net", "a:203.0.113.10"), rule(t, "api.partner.example.net"),
		rule(t, "A/ledger.billing.svc.cluster.local", "a:10.96.44.7"), rule(t, "ledger.billing.svc.cluster.local"),
	)
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger.billing.svc"}
	run := p.run(in)
	if run.Patch == nil || run.Patch.Variant != "ndots:2" {
		t.Fatalf("patch %+v\n%s", run.Patch, table(run))
	}
	if !strings.Contains(table(run), "ndots:2: ok, 2 queries, same true, measured; ledger.billing.svc: 2 more queries, leaves the cluster") {
		t.Error(table(run))
	}
}

// A name outside of the cluster that is also a Service (O26): with ndots:1 the name in use would get another address.
func TestAPatchThatGivesANameAnotherAddressIsNotProposed(t *testing.T) {
	p := newPod(t, "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
		rule(t, "A/github.example", "a:203.0.113.9"), rule(t, "github.example"),
		rule(t, "A/status.example.svc.cluster.local", "a:10.96.33.3"), rule(t, "status.example.svc.cluster.local"),
		rule(t, "A/status.example", "a:198.51.100.77"), rule(t, "status.example"),
	)
	in := p.in("github.example")
	in.Also = []string{"status.example"}
	run := p.run(in)
	if run.Patch != nil {
		t.Errorf("proposed %s", run.Patch.Variant)
	}
	if !strings.Contains(table(run), "ndots:1: ok, 2 queries, same true, measured; status.example: gets another address") {
		t.Error(table(run))
	}
	for _, r := range run.Findings[0].Remedies {
		if strings.Contains(r.Text, "ndots") {
			t.Errorf("remedy %q", r.Text)
		}
	}
}

func TestOneDotHost(t *testing.T) {
	p := newPod(t, classic, rule(t, "A/example.org", "a:203.0.113.9"), rule(t, "example.org"))
	run := p.run(p.in("example.org"))
	if run.Patch == nil || run.Patch.Variant != "ndots:1" {
		t.Fatalf("patch %+v\n%s", run.Patch, table(run))
	}
	if got := run.Findings[0].Remedies[0].Caveat; got != "No other name was checked: give those that the pod uses with --also. The Deployment rolls its 3 pods." {
		t.Error(got)
	}
}

// runsWithoutWhatIf are hosts for which no setting of ndots matters.
func TestNothingIsTriedWhere(t *testing.T) {
	tests := map[string]struct {
		conf, hosts string
		host        string
		want        string
		asks        int
	}{
		"ndots is 2 already":         {strings.Replace(classic, "ndots:5", "ndots:2", 1), "", "api.partner.example.net", "healthy", 1},
		"the host has a final dot":   {classic, "", "api.partner.example.net.", "healthy", 1},
		"a literal":                  {classic, "", "10.1.2.3", "healthy", 1},
		"a name of /etc/hosts":       {classic, "10.0.0.9 db.internal.example\n", "db.internal.example", "hosts-file", 1},
		"a host that does not exist": {classic, "", "nowhere.example.net", "no-such-name", 1},
		"a Service":                  {classic, "", "ledger", "healthy", 1},
		// Whether somebody outside has the name, too, is asked.
		"a Service elsewhere (O27)": {classic, "", "ledger.billing", "healthy", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := classicPod(t)
			p.conf, p.hosts = tt.conf, tt.hosts
			run := p.run(p.in(tt.host))
			if classes(run) != tt.want {
				t.Errorf("findings %q, want %q", classes(run), tt.want)
			}
			if len(run.WhatIf) != 0 || run.Patch != nil || len(run.Problems) != 0 || len(p.asks) != tt.asks {
				t.Errorf("%d rows, patch %v, problems %q, %d asks", len(run.WhatIf), run.Patch, run.Problems, len(p.asks))
			}
			for _, f := range run.Findings {
				for _, r := range f.Remedies {
					if strings.Contains(r.Text, "ndots") {
						t.Errorf("remedy %q", r.Text)
					}
				}
			}
		})
	}
}

// resolved are the asks that are no question to a server.
func (p *pod) resolved() []probe.Ask {
	return slices.DeleteFunc(slices.Clone(p.asks), func(a probe.Ask) bool { return a.Question != nil })
}

// O11 as far as a run without facts can see it.
func TestAllSilent(t *testing.T) {
	p := newPod(t, classic)
	p.world.Servers[0].Silent = true
	run := p.run(p.in("db.orders"))
	if r := run.Resolutions[0]; r.Outcome != probe.Again || r.Duration.Duration() != 20*time.Second {
		t.Errorf("%s after %v", r.Outcome, r.Duration.Duration())
	}
	if classes(run) != "" || run.Patch != nil || len(run.WhatIf) != 0 || len(p.resolved()) != 1 {
		t.Errorf("findings %q, patch %v, %d asks", classes(run), run.Patch, len(p.resolved()))
	}
	if len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "no verdict on why 10.96.0.10 stays silent: 0 replies to 8 messages") ||
		!strings.Contains(run.Problems[0], "next: look for NetworkPolicies") {
		t.Errorf("problems %q", run.Problems)
	}
}

// TestAllSilentOnAMachine: outside of a pod there are no NetworkPolicies to look for.
func TestAllSilentOnAMachine(t *testing.T) {
	for _, silent := range []bool{true, false} {
		p := newPod(t, classic)
		if p.world.Servers[0].Silent = silent; !silent {
			p.world.Servers = nil // a closed port
		}
		in := p.in("db.orders")
		in.Target, in.Workload = probe.Target{Via: "local"}, nil
		run := p.run(in)
		if len(run.Problems) != 1 || strings.Contains(run.Problems[0], "kubectl") || !strings.Contains(run.Problems[0], "next: look whether the server runs") {
			t.Errorf("silent %v: problems %q", silent, run.Problems)
		}
	}
}

// TestAllSilentAsksNothingMore: the other names would take 20 s each, and nothing could come of it.
func TestAllSilentAsksNothingMore(t *testing.T) {
	p := newPod(t, classic)
	p.world.Servers[0].Silent = true
	in := p.in("db.orders")
	in.Also = []string{"ledger"}
	run := p.run(in)
	if len(p.resolved()) != 1 || len(run.Problems) != 1 {
		t.Errorf("%d asks, problems %q", len(p.resolved()), run.Problems)
	}
}

func TestWhatABareRunCannotExplainIsSaidToo(t *testing.T) {
	p := newPod(t, classic)
	p.world.Servers = nil
	in := p.in("db.orders")
	in.Bare = true
	run := p.run(in)
	if len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "10.96.0.10 cannot be reached (ICMP says so)") {
		t.Errorf("problems %q", run.Problems)
	}
}

func TestAHostThatIsNoName(t *testing.T) {
	for _, host := range []string{"a b", "http:", "x..y"} {
		p := classicPod(t)
		run := p.run(p.in(host))
		if classes(run) != "" || len(run.Problems) != 1 || !strings.HasPrefix(run.Problems[0], "no query was sent for "+host+": glibc does not take it") {
			t.Errorf("%q: findings %q, problems %q", host, classes(run), run.Problems)
		}
	}
}

// O29: the silent server is confirmed before it is called dead.
func TestDeadNameserverIsConfirmed(t *testing.T) {
	p := newPod(t, "search node.example.com\nnameserver 10.20.0.53\nnameserver 10.20.0.54\noptions ndots:1\n",
		rule(t, "A/mail.example.net", "a:198.51.100.70"), rule(t, "mail.example.net"))
	p.world.Servers[0].Silent = true
	run := p.run(p.in("mail.example.net"))
	const without = "dnsPolicy None without nameserver 10.20.0.53"
	if classes(run) != "dead-nameserver" || len(p.asks) != 4 || p.asks[3].Variant.Label() != without {
		t.Fatalf("findings %q after %d asks", classes(run), len(p.asks))
	}
	if run.Patch == nil || run.Patch.Variant != without || !strings.Contains(run.Patch.YAML, "nameservers:\n        - 10.20.0.54\n        options:") {
		t.Errorf("patch %+v", run.Patch)
	}
	if got := run.Findings[0].Title; got != "nameserver 10.20.0.53 never replied: 0 replies to 4 messages. 10.20.0.54 replied to 2 of 2." {
		t.Error(got)
	}
	for _, ev := range p.events {
		if ev.Kind == probe.KindFindings {
			if len(ev.Findings) != 0 {
				t.Errorf("found %s after one sample", ev.Findings[0].Class)
			}
			break
		}
	}
}

// A search domain that nobody answers for: glibc leaves the list after 10 s each time.
func TestSilentSearchDomainIsConfirmed(t *testing.T) {
	p := newPod(t, classic,
		rule(t, "A/api.partner.example.net", "a:203.0.113.10"), rule(t, "api.partner.example.net"),
		rule(t, "*.compute.internal", "drop"))
	run := p.run(p.in("api.partner.example.net"))
	if classes(run) != "timeout-in-search search-walk" {
		t.Fatalf("findings %q", classes(run))
	}
	if got := run.Findings[0].Title; got != "api.partner.example.net.eu-west-9.compute.internal. gets no reply from search domain 4 of 4, "+
		"api.partner.example.net resolves all the same after 10.00 s." {
		t.Error(got)
	}
	if run.Patch == nil || run.Patch.Variant != "ndots:2" {
		t.Errorf("patch %+v", run.Patch)
	}
	// One resolution, two to confirm it, ndots:2 and the final dot. How it is now took seconds, and is known.
	if len(p.asks) != 5 {
		t.Errorf("%d asks", len(p.asks))
	}
}

// O07: one half is never answered. What it takes to say so is asked of the server; repeating 15 s would prove nothing.
func TestAHalfThatIsLostIsNotRepeated(t *testing.T) {
	p := newPod(t, strings.Replace(classic, "ndots:5", "ndots:1", 1),
		rule(t, "A/pay.example.net", "a:198.51.100.40"), rule(t, "AAAA/pay.example.net", "drop"))
	run := p.run(p.in("pay.example.net"))
	// The second one is no-aaaa, which is predicted to help.
	if asks := p.resolved(); classes(run) != "aaaa-blackhole" || len(asks) != 2 || asks[1].Variant.Label() != "no-aaaa" || run.Resolutions[0].Duration.Duration() != 15*time.Second {
		t.Errorf("findings %q, %d asks, %v", classes(run), len(asks), run.Resolutions[0].Duration.Duration())
	}
}

// O08 on glibc: the walk is survived, but its SERVFAIL is the first finding.
func TestServFailInSearch(t *testing.T) {
	p := newPod(t, "search default.svc.cluster.local svc.cluster.local cluster.local WORKGROUP\nnameserver 10.152.183.10\noptions ndots:5\n",
		rule(t, "A/tenants.default.svc.cluster.local", "a:10.152.183.60"), rule(t, "tenants.default.svc.cluster.local"), rule(t, "*.workgroup", "servfail"))
	run := p.run(p.in("tenants.default.svc.cluster.local"))
	if classes(run) != "servfail-in-search search-walk" {
		t.Errorf("findings %q", classes(run))
	}
	if run.Patch == nil || run.Patch.Variant != "ndots:4" {
		t.Errorf("patch %+v\n%s", run.Patch, table(run))
	}
}

// O19 on glibc: REFUSED makes it leave the search list. The outside name resolves, the name of the cluster does not.
func TestRefusedInSearch(t *testing.T) {
	conf := "search edge.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.10\noptions ndots:5\n"
	policy := func() *pod {
		return newPod(t, conf,
			rule(t, "A/queue.example.net", "a:198.51.100.30"), rule(t, "queue.example.net"),
			rule(t, "A/ledger.billing.svc.cluster.local", "a:10.0.44.7"), rule(t, "ledger.billing.svc.cluster.local"),
			rule(t, "*", "refused"))
	}
	p := policy()
	run := p.run(p.in("queue.example.net"))
	if classes(run) != "refused-in-search" || run.Findings[0].Severity != probe.Warning {
		t.Errorf("findings %q", classes(run))
	}
	if run.Patch == nil || run.Patch.Variant != "ndots:2" {
		t.Errorf("patch %+v\n%s", run.Patch, table(run))
	}
	p = policy()
	run = p.run(p.in("ledger.billing"))
	if classes(run) != "refused-in-search" || run.Findings[0].Severity != probe.Critical || run.Patch != nil {
		t.Errorf("findings %q, patch %v\n%s", classes(run), run.Patch, table(run))
	}
}

// O03: the lookup succeeds with the wrong address.
// random is the label that finds out about wildcards.
var random = regexp.MustCompile(`dnsprobe-[a-z2-7]{10}\.`)

func TestWildcardIsProvenWithARandomName(t *testing.T) {
	p := newPod(t, "search ci.svc.cluster.local svc.cluster.local cluster.local lab.example.org\nnameserver 10.43.0.10\noptions ndots:5\n",
		rule(t, "A/codehost.example", "a:198.51.100.20"), rule(t, "codehost.example"),
		rule(t, "A/*.lab.example.org", "a:203.0.113.80"), rule(t, "*.lab.example.org"))
	run := p.run(p.in("codehost.example"))
	if classes(run) != "wildcard-search" || run.Patch == nil {
		t.Fatalf("findings %q, patch %v", classes(run), run.Patch)
	}
	if n := run.Patch.Names[0]; n.Same || !n.Wanted || n.After.Addresses[0] != "198.51.100.20" || run.Patch.Variant != "dnsPolicy None without lab.example.org" {
		t.Errorf("%s: %+v", run.Patch.Variant, n)
	}
	inDomain := func(a probe.Ask) bool {
		return random.MatchString(a.Host) && strings.HasSuffix(a.Host, ".lab.example.org.") && a.Purpose == probe.PurposeTest
	}
	itself := func(a probe.Ask) bool { return a.Host == "codehost.example" && a.Variant.Label() == probe.VariantDot }
	if first := p.asks[0]; first.Host != "codehost.example" || first.Variant.Label() != probe.VariantNow {
		t.Errorf("first ask: %+v", first)
	}
	if !slices.ContainsFunc(p.asks, inDomain) || !slices.ContainsFunc(p.asks, itself) {
		t.Errorf("neither a random name in the domain nor the host itself was asked for: %+v", p.asks)
	}
}

// A search domain outside of the cluster that has the name and denies others is what search domains are for.
func TestASearchDomainWithoutAWildcardIsHealthy(t *testing.T) {
	p := newPod(t, "search ci.svc.cluster.local svc.cluster.local cluster.local corp.example.org\nnameserver 10.43.0.10\noptions ndots:5\n",
		rule(t, "A/wiki.corp.example.org", "a:203.0.113.80"), rule(t, "wiki.corp.example.org"))
	run := p.run(p.in("wiki"))
	if classes(run) != "healthy" || len(run.Problems) != 0 {
		t.Errorf("findings %q, problems %q", classes(run), run.Problems)
	}
}

func TestExistingOptionsReachThePatch(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	one, five := "1", "5"
	in.Workload.DNSConfig = &patch.DNSConfig{Options: []patch.Option{{Name: "timeout", Value: &one}, {Name: "ndots", Value: &five}, {Name: "edns0"}}}
	run := p.run(in)
	want := `{"options":[{"name":"timeout","value":"1"},{"name":"ndots","value":"2"},{"name":"edns0"}]}`
	if run.Patch == nil || !strings.Contains(run.Patch.Command, want) {
		t.Errorf("patch %+v", run.Patch)
	}
}

func TestWithoutAWorkloadThereIsNoPatch(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Workload = nil
	run := p.run(in)
	if run.Patch != nil || len(run.WhatIf) != 4 || classes(run) != "search-walk healthy" {
		t.Errorf("patch %v, %d rows, findings %q", run.Patch, len(run.WhatIf), classes(run))
	}
}

func TestVariantsOfTheUserAreTried(t *testing.T) {
	p := classicPod(t)
	in := p.in("ledger")
	in.Variants = []probe.Variant{{Name: "use-vc", Options: []string{"use-vc"}}}
	run := p.run(in)
	want := "ledger now: ok, 2 queries, same true, measured; \nledger use-vc: ok, 2 queries, same true, measured; \n"
	if diff := cmp.Diff(want, table(run)); diff != "" {
		t.Error(diff)
	}
	if run.Patch != nil {
		t.Errorf("patch %+v", run.Patch)
	}
}

func TestNamesGivenTwiceAreTakenOnce(t *testing.T) {
	p := classicPod(t)
	in := p.in("ledger", "ledger")
	in.Also = []string{"ledger.billing", "ledger", "ledger.billing"}
	p.run(in)
	if len(p.asks) != 2 {
		t.Errorf("%d asks", len(p.asks))
	}
}

var errGone = errors.New("the session has ended")

func TestNoHostCouldBeTried(t *testing.T) {
	p := classicPod(t)
	p.before = func(probe.Ask) error { return errGone }
	if err := Run(t.Context(), p.in("a.example", "b.example"), p.add); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
	if len(p.events) != 0 {
		t.Errorf("%d events about nothing", len(p.events))
	}
}

func TestOneHostCouldNotBeTried(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Host == "b.example" {
			return errGone
		}
		return nil
	}
	run := p.run(p.in("api.partner.example.net", "b.example"))
	if len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "b.example") || classes(run) != "search-walk healthy" {
		t.Errorf("problems %q, findings %q", run.Problems, classes(run))
	}
	if run.Patch != nil {
		t.Error("a patch is proposed although a name in use was never tried")
	}
}

// TestAnAlsoNameThatCouldNotBeTriedForbidsThePatch: nobody knows what the patch would do to it.
func TestAnAlsoNameThatCouldNotBeTriedForbidsThePatch(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Host == "ledger" {
			return errGone
		}
		return nil
	}
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger"}
	run := p.run(in)
	if run.Patch != nil || len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "no patch is proposed") {
		t.Errorf("patch %v, problems %q", run.Patch, run.Problems)
	}
}

func TestAMeasurementThatFailsLeavesThePrediction(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Variant.Label() == "ndots:2" {
			return errGone
		}
		return nil
	}
	run := p.run(p.in("api.partner.example.net"))
	if len(run.Problems) == 0 || !strings.Contains(strings.Join(run.Problems, "\n"), "only predicted") {
		t.Errorf("problems %q", run.Problems)
	}
	if run.Patch == nil || run.Patch.Names[0].After.Source != probe.Predicted {
		t.Errorf("patch %+v", run.Patch)
	}
	if !strings.Contains(table(run), "ndots:2: ok, 2 queries, same true, predicted") {
		t.Error(table(run))
	}
}

// TestAMeasurementOverrulesThePrediction lets the world change after the first resolution.
func TestAMeasurementOverrulesThePrediction(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Variant.Label() != probe.VariantNow {
			p.world.Rules[0].Do = []simnet.Action{{Kind: simnet.ActNXDomain}}
		}
		return nil
	}
	run := p.run(p.in("api.partner.example.net"))
	if run.Patch != nil {
		t.Errorf("proposed %s although it failed when measured\n%s", run.Patch.Variant, table(run))
	}
}

func TestTheBudgetIsKept(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger", "ledger.billing"}
	in.Budget = experiment.Budget{Rounds: 100, Resolutions: 7}
	p.run(in)
	// Three names as they are, seven for the experiment, two to check the patch.
	if len(p.asks) > 3+7+2 {
		t.Errorf("%d asks", len(p.asks))
	}
}

func TestCancelledWhileItRuns(t *testing.T) {
	for _, at := range []int{1, 2, 4, 6} {
		t.Run(fmt.Sprint("ask ", at), func(t *testing.T) {
			p := classicPod(t)
			ctx, cancel := context.WithCancel(t.Context())
			p.before = func(probe.Ask) error {
				if len(p.asks) == at {
					cancel()
				}
				return nil
			}
			in := p.in("api.partner.example.net")
			in.Also = []string{"ledger"}
			if err := Run(ctx, in, p.add); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			run := p.fold.Run()
			if len(p.asks) > at || len(run.Problems) != 0 || run.Patch != nil {
				t.Errorf("%d asks, problems %q, patch %v", len(p.asks), run.Problems, run.Patch)
			}
		})
	}
}

// TestWhatTimeCutShortIsNoMeasurement: the engine ends a resolution whose time is up as "again", which says nothing about
// the variant.
func TestWhatTimeCutShortIsNoMeasurement(t *testing.T) {
	p := classicPod(t)
	in := p.in("api.partner.example.net")
	in.Budget = experiment.Budget{Time: time.Nanosecond}
	run := p.run(in)
	for _, w := range run.WhatIf {
		if w.Outcome != probe.OK || w.Variant != probe.VariantNow && w.Source != probe.Predicted {
			t.Errorf("%+v", w)
		}
	}
	if run.Patch == nil || len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "no time left; it is only predicted") {
		t.Errorf("patch %v, problems %q", run.Patch, run.Problems)
	}
}

func TestProblemsAreSafeToPrint(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Host == "ledger" {
			return errors.New("the session said \x1b[2J and\nmore")
		}
		return nil
	}
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger"}
	if run := p.run(in); len(run.Problems) != 1 || strings.ContainsAny(run.Problems[0], "\x1b\n") {
		t.Errorf("problems %q", run.Problems)
	}
}

type stepError struct{}

func (stepError) Error() string    { return "no way in" }
func (stepError) NextStep() string { return "open the door" }

func TestAnErrorThatKnowsItsNextStepIsBelieved(t *testing.T) {
	p := classicPod(t)
	p.before = func(ask probe.Ask) error {
		if ask.Host == "ledger" {
			return stepError{}
		}
		return nil
	}
	in := p.in("api.partner.example.net")
	in.Also = []string{"ledger"}
	run := p.run(in)
	if len(run.Problems) != 1 || !strings.HasSuffix(run.Problems[0], "no way in; next: open the door") {
		t.Errorf("problems %q", run.Problems)
	}
}
