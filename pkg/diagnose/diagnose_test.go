package diagnose

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// verdictClasses is the list of classes that the project's cases are graded by.
var verdictClasses = strings.Fields(`search-walk ndots-too-low wildcard-search nxdomain-hijack nodata-in-search
	servfail-in-search refused-in-search timeout-in-search search-limit resolvconf-invalid
	namespace-shadow half-pair-loss dead-backend rollout-window
	aaaa-blackhole aaaa-servfail aaaa-nxdomain family-mismatch upstream-servfail
	upstream-inconsistent upstream-rate-limit server-overload no-endpoints egress-blocked
	egress-blocked-udp tcp53-blocked truncated-no-tc large-udp-lost edns-rejected
	nameserver-limit dead-nameserver multi-nameserver lame-nodata stub-loopback
	wrong-dns-policy kubelet-dns-config stale-resolvconf wrong-cluster-domain
	not-ready-endpoints external-name negative-cache hosts-file mesh-dns nodelocal-upstream nodelocal-blocked
	autopath-mismatch overlay-udp conntrack-full client-library client-queue tool-artifact windows-names
	probe-not-allowed no-such-name healthy`)

func TestEveryRuleHasAClassOfTheListAndOnlyOne(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		if !slices.Contains(verdictClasses, r.class) {
			t.Errorf("%q is no verdict class", r.class)
		}
		if seen[r.class] {
			t.Errorf("%q has two rules", r.class)
		}
		seen[r.class] = true
	}
	if rules[len(rules)-1].class != "healthy" {
		t.Error("healthy has to be judged last: it depends on what else was found")
	}
}

func TestNothingIsFoundInNothing(t *testing.T) {
	for name, in := range map[string]Input{
		"the zero run":            {},
		"settings only":           {Run: probe.Run{Settings: kubernetes(5)}},
		"a host not resolved yet": {Hosts: []string{"x"}, Run: probe.Run{Settings: kubernetes(5)}},
		"only a variant": input(kubernetes(5), trace{host: "api.stripe.com", variant: "ndots:2", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
		}}),
	} {
		t.Run(name, func(t *testing.T) {
			got := Diagnose(in)
			if got == nil || len(got) != 0 {
				t.Errorf("got %#v, want an empty list that is not nil", got)
			}
		})
	}
}

func TestFindingsAreWholeInJSON(t *testing.T) {
	text, err := json.Marshal(Diagnose(input(kubernetes(5), classic())))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("a list is null: %s", text)
	}
}

func TestTheFirstResolutionOfAHostIsJudged(t *testing.T) {
	again := classic()
	again.id = "second"
	for _, f := range Diagnose(input(kubernetes(5), classic(), again)) {
		for _, e := range f.Evidence {
			if e.Resolution == "second" {
				t.Errorf("evidence points at the repetition: %+v", e)
			}
		}
	}
}

func TestDiagnoseChangesNothing(t *testing.T) {
	in := input(kubernetes(5), classic())
	before, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	first := told(Diagnose(in))
	if second := told(Diagnose(in)); first != second {
		t.Errorf("two verdicts on one run:\n%s", cmp.Diff(first, second))
	}
	after, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the input was changed")
	}
}

// All silent (as in O11): one pod cannot tell a blocked path from a dead server, so nothing is claimed.
func TestTotalSilenceIsNoVerdict(t *testing.T) {
	silence := []message{lost(), lost()}
	tr := trace{host: "db.orders", outcome: probe.Again, code: "EAI_AGAIN", tries: []try{
		{name: "db.orders.shop.svc.cluster.local.", search: 0, outcome: probe.Timeout, a: silence, aaaa: silence},
		{name: "db.orders.", search: -1, outcome: probe.Timeout, a: silence, aaaa: silence},
	}}
	again, third := tr, tr
	again.id, third.id = "second", "third"
	if findings := Diagnose(input(kubernetes(5), tr, again, third)); len(findings) != 0 {
		t.Error(told(findings))
	}
}

// A half of a pair lost once (O05) is one sample of many things.
func TestOneLostHalfIsNoVerdict(t *testing.T) {
	tr := trace{host: "pay.example.net", outcome: probe.OK, tries: []try{
		{name: "pay.example.net.", search: -1, outcome: probe.OK, a: []message{found(ms, "198.51.100.40")}, aaaa: []message{lost(), empty(ms)}},
	}}
	if findings := Diagnose(input(kubernetes(1), tr)); len(findings) != 0 {
		t.Error(told(findings))
	}
}

func TestHostileTextComesOutHarmless(t *testing.T) {
	evil := "a\x1b[31m\u202e" + strings.Repeat("x", 2000) + ".example"
	tr := classic()
	tr.id, tr.host = "evil", evil
	for i := range tr.tries {
		tr.tries[i].name = evil + ".\x07"
	}
	tr.tries[4].name = evil + "."
	in := input(kubernetes(5), tr)
	in.Run.Patch = &probe.Patch{Kind: "Deployment", Name: "\x1b]0;x", Variant: "ndots:2", Names: []probe.PatchName{{Name: "\x1b"}}}
	in.Run.WhatIf = []probe.WhatIf{{Host: evil, Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 2, SameAnswer: true}}
	findings := Diagnose(in)
	if classes(findings) != "search-walk healthy" {
		t.Fatal(classes(findings))
	}
	text := told(findings)
	if strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("raw control characters in %.200q", text)
	}
	if len(text) > 16000 {
		t.Errorf("findings of %d bytes about one host", len(text))
	}
}

func TestBrokenTracesDoNotPanic(t *testing.T) {
	full := classic()
	full.tries[2].a = []message{lost(), lost()}
	events := full.events()
	settings := kubernetes(5)
	// A stream can be cut anywhere, and any event can be missing.
	for i := range events {
		for _, rest := range [][]probe.Event{events[:i], slices.Concat(events[:i], events[i+1:])} {
			var f probe.Fold
			f.Add(probe.Event{Kind: probe.KindSettings, Settings: &settings})
			for _, ev := range rest {
				f.Add(ev)
			}
			for _, finding := range Diagnose(Input{Run: f.Run()}) {
				if finding.Title == "" || finding.Class == "" {
					t.Errorf("without event %d: an empty finding", i)
				}
			}
		}
	}
}

func TestOnlyWhatSomebodyAskedForIsJudged(t *testing.T) {
	in := input(kubernetes(5), classic(), nowhere())
	for i := range in.Run.Resolutions {
		if in.Run.Resolutions[i].Host == "ledger.core" {
			in.Run.Resolutions[i].Purpose = probe.PurposeAlso
		}
	}
	if got := classes(Diagnose(in)); got != "search-walk healthy" {
		t.Errorf("found %q", got)
	}
}

func TestAnotherLibcIsNoEvidence(t *testing.T) {
	alone := Diagnose(input(kubernetes(5), classic()))
	in := input(kubernetes(5), classic(), nowhere())
	other := &in.Run.Resolutions[len(in.Run.Resolutions)-1]
	other.Host, other.Libc, other.Purpose = in.Run.Resolutions[0].Host, probe.Musl, probe.PurposeCompare
	in.Hosts = []string{other.Host}
	if diff := cmp.Diff(alone, Diagnose(in)); diff != "" {
		t.Errorf("what musl saw changes the verdicts on glibc (-without +with):\n%s", diff)
	}
}
