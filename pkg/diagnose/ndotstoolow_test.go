package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNdotsTooLowInFull(t *testing.T) {
	in := input(kubernetes(1), trace{host: "ledger.core", outcome: probe.OK, tries: []try{
		denied("ledger.core.", -1, 9*ms),
		denied("ledger.core.shop.svc.cluster.local.", 0, ms),
		pair("ledger.core.svc.cluster.local.", 1, probe.OK, found(ms, "10.96.44.7"), empty(ms)),
	}})
	want := `ndots-too-low (info) ledger.core. was asked as it is first, which cannot succeed: the name has 1 dot, ndots is 1.
  ledger.core is found as ledger.core.svc.cluster.local. Asking for ledger.core. before costs 2 queries and 9.0 ms here. That query leaves the cluster, and whoever registers this name outside gets the traffic.
  - ledger.core.: NXDOMAIN for A and AAAA, 9.0 ms, left the cluster [r-ledger.core-now #1]
  - ledger.core.svc.cluster.local.: found, 1.0 ms [r-ledger.core-now #3]
  > Let the application ask for a longer name, such as ledger.core.svc.cluster.local. | With at least 1 dot it is asked as it is, and that exists. | 
healthy (info) 198.19.0.10 answers in 1.0 ms (p50 of 4 replies for names of the cluster). Scaling CoreDNS would not help.
  Every message was answered, the slowest after 9.0 ms. ledger.core is short for ledger.core.svc.cluster.local: dig, nslookup of busybox and clients that do not walk the search list (nginx and Kong with ` + "`resolver`" + `, Node's dns.resolve) need the full name, and their exit code says nothing about libc.
  - ledger.core: found as ledger.core.svc.cluster.local. with 6 queries in 11.0 ms [r-ledger.core-now #3]
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestNdotsTooLowIsNotClaimedWhere(t *testing.T) {
	serviceFound := pair("ledger.core.svc.cluster.local.", 1, probe.OK, found(ms, "10.96.44.7"), empty(ms))
	tests := map[string]trace{
		"the search list came first": {host: "ledger.core", outcome: probe.OK, tries: []try{denied("ledger.core.shop.svc.cluster.local.", 0, ms), serviceFound}},
		"the host itself exists":     {host: "ledger.core", outcome: probe.OK, tries: []try{pair("ledger.core.", -1, probe.OK, found(ms, "192.0.2.1"), empty(ms))}},
		"nothing exists":             {host: "ledger.core", outcome: probe.NXDomain, tries: []try{denied("ledger.core.", -1, ms), denied("ledger.core.svc.cluster.local.", 1, ms)}},
		"the first try was lost": {host: "ledger.core", outcome: probe.OK, tries: []try{
			{name: "ledger.core.", search: -1, outcome: probe.Timeout, a: []message{lost(), lost()}, aaaa: []message{lost(), lost()}}, serviceFound,
		}},
		"the first try got SERVFAIL": {host: "ledger.core", outcome: probe.OK, tries: []try{
			pair("ledger.core.", -1, probe.ServFail, rcode("SERVFAIL", ms), rcode("SERVFAIL", ms)), serviceFound,
		}},
		"the root is a search domain": {host: "ledger.core", outcome: probe.OK, tries: []try{
			denied("ledger.core.", -1, ms), pair("ledger.core.", 0, probe.OK, found(ms, "192.0.2.1"), empty(ms)),
		}},
		"nothing was asked": {host: "10.0.0.1", outcome: probe.OK, decidedBy: -1, by: "literal"},
	}
	for name, tr := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(1), tr))); strings.Contains(got, "ndots-too-low") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestNdotsTooLowProposesTheCheckedValue(t *testing.T) {
	in := input(kubernetes(1), trace{host: "ledger.core", outcome: probe.OK, tries: []try{
		denied("ledger.core.", -1, ms), pair("ledger.core.svc.cluster.local.", 1, probe.OK, found(ms, "10.96.44.7"), empty(ms)),
	}})
	in.Run.WhatIf = []probe.WhatIf{{Host: "ledger.core", Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 2, SameAnswer: true, Source: probe.Measured}}
	in.Run.Patch = &probe.Patch{Kind: "Deployment", Name: "payments", Variant: "ndots:2"}
	remedies := Diagnose(in)[0].Remedies
	if len(remedies) != 2 || remedies[0].Text != "Set ndots to 2 in the dnsConfig of Deployment payments." {
		t.Errorf("%+v", remedies)
	}
}

func TestNdotsTooLowOutsideOfAClusterSaysNothingOfLeaving(t *testing.T) {
	settings := probe.Settings{Search: []string{"corp.example"}, Ndots: 1}
	findings := Diagnose(input(settings, trace{host: "wiki.it", outcome: probe.OK, tries: []try{
		denied("wiki.it.", -1, ms), pair("wiki.it.corp.example.", 0, probe.OK, found(ms, "192.0.2.1"), empty(ms)),
	}}))
	if classes(findings) != "ndots-too-low" || strings.Contains(told(findings), "leaves the cluster") || strings.Contains(told(findings), "left the cluster") {
		t.Error(told(findings))
	}
}
