package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestServFailInSearchInFull(t *testing.T) {
	settings := kubernetes(5)
	settings.Search = []string{"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "WORKGROUP"}
	name := "tenants.default.svc.cluster.local."
	in := input(settings, trace{host: strings.TrimSuffix(name, "."), outcome: probe.OK, tries: []try{
		denied(name+"default.svc.cluster.local.", 0, ms), denied(name+"svc.cluster.local.", 1, ms), denied(name+"cluster.local.", 2, ms),
		{
			name: name + "WORKGROUP.", search: 3, outcome: probe.ServFail,
			a:    []message{rcode("SERVFAIL", ms), rcode("SERVFAIL", ms)},
			aaaa: []message{rcode("SERVFAIL", ms), rcode("SERVFAIL", ms)},
		},
		pair(name, -1, probe.OK, found(ms, "10.152.183.60"), empty(ms)),
	}})
	in.Run.WhatIf = []probe.WhatIf{{Host: strings.TrimSuffix(name, "."), Variant: "ndots:4", Outcome: probe.OK, QueriesSent: 2, SameAnswer: true, Source: probe.Predicted}}
	in.Run.Patch = &probe.Patch{Kind: "StatefulSet", Name: "tenants", Variant: "ndots:4"}
	findings := Diagnose(in)
	if classes(findings) != "servfail-in-search search-walk" {
		t.Fatal(told(findings))
	}
	want := `servfail-in-search (warning) tenants.default.svc.cluster.local.WORKGROUP. gets SERVFAIL from search domain 4 of 4, tenants.default.svc.cluster.local resolves all the same after 6.0 ms.
  The server could not find out whether the name exists: often the search domain is one that no server on the way is responsible for, such as a workgroup name from the node's resolv.conf.
  - tenants.default.svc.cluster.local.WORKGROUP.: SERVFAIL for A and AAAA, 2.0 ms, left the cluster [r-tenants.default.svc.cluster.local-now #4]
  > Set ndots to 4 in the dnsConfig of StatefulSet tenants. | 10 → 2 queries, 6.0 ms → 0.0 ms (predicted) | Hosts with fewer dots still meet this search domain. No other name was checked: give those that the pod uses with --also.
  > Let that server answer NXDOMAIN for names that it does not know, or take the domain out of the search list (the node's resolv.conf, or dnsPolicy None with a list of your own). |  | 
`
	if diff := cmp.Diff(want, told(findings[:1])); diff != "" {
		t.Error(diff)
	}
}

// O19: glibc leaves the search list at the first REFUSED, and so misses the domain that has the name.
func TestRefusedInSearchSaysWhatWasNeverAsked(t *testing.T) {
	refused := func(name string, search int) try {
		return pair(name, search, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms))
	}
	settings := kubernetes(5)
	settings.Search = settings.Search[:3]
	findings := Diagnose(input(settings, trace{host: "ledger.billing", outcome: probe.Again, code: "EAI_AGAIN", tries: []try{
		refused("ledger.billing.shop.svc.cluster.local.", 0), refused("ledger.billing.", -1),
	}}))
	if classes(findings) != "refused-in-search" || findings[0].Severity != probe.Critical {
		t.Fatal(told(findings))
	}
	if !strings.HasSuffix(findings[0].Explain, " glibc then left the search list: svc.cluster.local and cluster.local were never asked.") {
		t.Error(findings[0].Explain)
	}
	if !strings.HasSuffix(findings[0].Title, ", ledger.billing does not resolve.") {
		t.Error(findings[0].Title)
	}

	settings.Search = settings.Search[:2]
	findings = Diagnose(input(settings, trace{host: "queue.example.net", outcome: probe.OK, tries: []try{
		refused("queue.example.net.shop.svc.cluster.local.", 0),
		pair("queue.example.net.", -1, probe.OK, found(ms, "198.51.100.30"), empty(ms)),
	}}))
	if classes(findings) != "refused-in-search" || findings[0].Severity != probe.Warning {
		t.Fatal(told(findings))
	}
	if !strings.HasSuffix(findings[0].Explain, "svc.cluster.local was never asked.") {
		t.Error(findings[0].Explain)
	}
}

func TestRejectionIsOnlyClaimedWhenEveryReplySaysSo(t *testing.T) {
	bad := rcode("SERVFAIL", ms)
	for name, a := range map[string]try{
		"one half NXDOMAIN":     pair("x.ec2.internal.", 3, probe.NXDomain, bad, nx(ms)),
		"one try lost":          {name: "x.ec2.internal.", search: 3, outcome: probe.ServFail, a: []message{bad, lost()}, aaaa: []message{bad, bad}},
		"another server denies": {name: "x.ec2.internal.", search: 3, outcome: probe.NXDomain, a: []message{bad, by(dns1, nx(ms))}, aaaa: []message{bad, by(dns1, nx(ms))}},
		"mixed rcodes":          pair("x.ec2.internal.", 3, probe.ServFail, bad, rcode("REFUSED", ms)),
		"a root element":        pair("x.", 3, probe.ServFail, bad, bad),
	} {
		t.Run(name, func(t *testing.T) {
			findings := Diagnose(input(kubernetes(5), trace{host: "x", outcome: probe.Again, tries: []try{a}}))
			if len(findings) != 0 {
				t.Error(told(findings))
			}
		})
	}
}

func TestTheFirstRejectingDomainIsNamedAndNoOther(t *testing.T) {
	bad := func(name string, search int) try {
		return pair(name, search, probe.ServFail, rcode("SERVFAIL", ms), rcode("SERVFAIL", ms))
	}
	findings := Diagnose(input(kubernetes(5), trace{host: "x.example", outcome: probe.OK, tries: []try{
		denied("x.example.shop.svc.cluster.local.", 0, ms), bad("x.example.svc.cluster.local.", 1), bad("x.example.cluster.local.", 2), bad("x.example.ec2.internal.", 3),
		pair("x.example.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}))
	if classes(findings) != "servfail-in-search search-walk" {
		t.Fatal(told(findings))
	}
	if f := findings[0]; !strings.Contains(f.Title, "search domain 2 of 4") || strings.Contains(f.Explain, "never asked") {
		t.Errorf("%s\n%s", f.Title, f.Explain)
	}
	// Only what was denied counts as wasted.
	if !strings.HasPrefix(findings[1].Title, "2 of 10 queries cannot succeed") {
		t.Error(findings[1].Title)
	}
}

func TestEachHostHasItsOwnVerdictOnASearchDomain(t *testing.T) {
	refused := func(host string) trace {
		return trace{host: host, outcome: probe.Again, tries: []try{
			pair(host+".shop.svc.cluster.local.", 0, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms)),
			pair(host+".", -1, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms)),
		}}
	}
	findings := Diagnose(input(kubernetes(5), refused("a.b"), refused("c.d")))
	if classes(findings) != "refused-in-search refused-in-search" || !strings.HasPrefix(findings[0].Title, "a.b.") || !strings.HasPrefix(findings[1].Title, "c.d.") {
		t.Error(told(findings))
	}
}

func TestSearchDomainsThatWereNeverAsked(t *testing.T) {
	v := &view{run: probe.Run{Settings: kubernetes(5)}}
	tests := map[string]struct {
		tries []try
		want  string
	}{
		"none tried":       {nil, "shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal"},
		"the first":        {[]try{denied("x.shop.svc.cluster.local.", 0, ms)}, "svc.cluster.local cluster.local ec2.internal"},
		"all but one":      {[]try{denied("x.a.", 0, ms), denied("x.b.", 1, ms), denied("x.d.", 3, ms)}, "cluster.local"},
		"found on the way": {[]try{denied("x.a.", 0, ms), pair("x.b.", 1, probe.OK, found(ms, "192.0.2.1"), empty(ms))}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			run := input(kubernetes(5), trace{host: "x", outcome: probe.Again, decidedBy: -1, tries: tt.tries}).Run
			if got := strings.Join(v.skipped(&run.Resolutions[0]), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A search domain behind the one that fails can have a wildcard: the host itself is the better witness, and a name of the cluster before it.
func TestTheBestWitnessOfWhatWasNeverAsked(t *testing.T) {
	const host = "mirror.example.net"
	failed := trace{host: host, libc: probe.Musl, outcome: probe.Again, tries: []try{
		pair(host+".shop.svc.cluster.local.", 0, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms)),
	}}
	itself := said("198.19.0.10", host, probe.OK, "198.51.100.21")
	wild := said("198.19.0.10", host+".ec2.internal", probe.OK, "203.0.113.80")
	inside := said("198.19.0.10", host+".cluster.local", probe.OK, "10.96.0.9")
	for name, tt := range map[string]struct {
		said []trace
		want string
	}{
		"itself":            {[]trace{wild, itself}, "Set ndots to 2: "},
		"the cluster's":     {[]trace{wild, itself, inside}, "Let the application ask for the full name, \"mirror.example.net.cluster.local.\" with its final dot."},
		"nothing is proven": {nil, "Let that server answer NXDOMAIN"},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Diagnose(judging(input(kubernetes(5), append([]trace{failed}, tt.said...)...), host))
			if len(findings) != 1 || !strings.HasPrefix(findings[0].Remedies[0].Text, tt.want) {
				t.Error(told(findings))
			}
		})
	}
}
