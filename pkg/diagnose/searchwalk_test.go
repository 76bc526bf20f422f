package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const ms = time.Millisecond

func TestClassicWalkInFull(t *testing.T) {
	got := told(Diagnose(input(kubernetes(5), classic())))
	want := `search-walk (warning) 8 of 10 queries cannot succeed: the name has 2 dots, ndots is 5. Costs 43.2 of 47.2 ms here.
  Not an outage: api.stripe.com resolves. But every lookup of it sends 10 queries where 2 would do, and each of them can be lost. 2 of the wasted queries leave the cluster: api.stripe.com.ec2.internal.
  - api.stripe.com.shop.svc.cluster.local.: NXDOMAIN for A and AAAA, 0.4 ms [r-api.stripe.com-now #1]
  - api.stripe.com.svc.cluster.local.: NXDOMAIN for A and AAAA, 0.4 ms [r-api.stripe.com-now #2]
  - api.stripe.com.cluster.local.: NXDOMAIN for A and AAAA, 0.4 ms [r-api.stripe.com-now #3]
  - api.stripe.com.ec2.internal.: NXDOMAIN for A and AAAA, 42.0 ms, left the cluster [r-api.stripe.com-now #4]
  > Let the application keep its connections open (keep-alive, a pool): fewer connections are fewer lookups. |  | Each new connection still walks.
  > Run NodeLocal DNSCache: what the walk asks again and again is then answered on the node. |  | A change of the whole cluster, and the number of queries stays the same.
  > As a test only, ask for api.stripe.com. with a final dot. |  | Not a fix: the dot reaches TLS and HTTP as part of the name, which some clients and servers refuse.
healthy (info) 198.19.0.10 answers in 0.4 ms (p50 of 6 replies for names of the cluster). Scaling CoreDNS would not help.
  Every message was answered, the slowest after 42.0 ms.
  - api.stripe.com: found as api.stripe.com. with 10 queries in 47.2 ms [r-api.stripe.com-now #5]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGainOfNdotsComesFromTheCheckedPatch(t *testing.T) {
	in := input(kubernetes(5), classic())
	in.Run.WhatIf = []probe.WhatIf{
		{Host: "api.stripe.com", Variant: "now", Outcome: probe.OK, Duration: probe.Millis(46 * ms), QueriesSent: 10, SameAnswer: true, Source: probe.Measured},
		{Host: "api.stripe.com", Variant: "ndots:2", Outcome: probe.OK, Duration: probe.Millis(4 * ms), QueriesSent: 2, SameAnswer: true, Source: probe.Predicted},
		{Host: "api.stripe.com", Variant: "ndots:2", Outcome: probe.OK, Duration: probe.Millis(5 * ms), QueriesSent: 2, SameAnswer: true, Source: probe.Measured},
		{Host: "api.stripe.com", Variant: "trailing dot", Outcome: probe.OK, Duration: probe.Millis(4 * ms), QueriesSent: 2, SameAnswer: true, Source: probe.Predicted},
	}
	in.Run.Patch = &probe.Patch{Kind: "Deployment", Name: "payments", Variant: "ndots:2", Effect: "the Deployment rolls its 3 pods", Names: []probe.PatchName{
		{Name: "api.stripe.com", Before: probe.NameResult{QueriesSent: 10}, After: probe.NameResult{QueriesSent: 2}, Same: true},
		{Name: "ledger", Before: probe.NameResult{QueriesSent: 2}, After: probe.NameResult{QueriesSent: 2}, Same: true},
		{Name: "ledger.core", Before: probe.NameResult{QueriesSent: 4}, After: probe.NameResult{QueriesSent: 4}, Same: true},
	}}
	remedies := Diagnose(in)[0].Remedies
	want := probe.Remedy{
		Text:   "Set ndots to 2 in the dnsConfig of Deployment payments.",
		Gain:   "10 → 2 queries, 46.0 ms → 5.0 ms (measured); same answer for ledger and ledger.core",
		Caveat: "The Deployment rolls its 3 pods.",
	}
	if diff := cmp.Diff(want, remedies[0]); diff != "" {
		t.Errorf("first remedy: %s", diff)
	}
	last := remedies[len(remedies)-1]
	if last.Gain != "10 → 2 queries, 47.2 ms → 4.0 ms (predicted)" || !strings.HasPrefix(last.Caveat, "Not a fix") {
		t.Errorf("the final dot has to come last, as a test: %+v", last)
	}
}

func TestNdotsIsNotProposedWhenItDoesNotHelp(t *testing.T) {
	good := probe.WhatIf{Host: "api.stripe.com", Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 2, SameAnswer: true, Source: probe.Measured}
	patch := &probe.Patch{Kind: "Deployment", Name: "payments", Variant: "ndots:2"}
	tests := map[string]struct {
		change func(*probe.WhatIf)
		patch  *probe.Patch
		want   bool
	}{
		"helps":                {func(*probe.WhatIf) {}, patch, true},
		"no patch":             {func(*probe.WhatIf) {}, nil, false},
		"another answer":       {func(w *probe.WhatIf) { w.SameAnswer = false }, patch, false},
		"as many queries":      {func(w *probe.WhatIf) { w.QueriesSent = 10 }, patch, false},
		"another host":         {func(w *probe.WhatIf) { w.Host = "ledger" }, patch, false},
		"not known":            {func(w *probe.WhatIf) { w.Outcome = "" }, patch, false},
		"patch of other kind":  {func(*probe.WhatIf) {}, &probe.Patch{Variant: "use-vc"}, false},
		"patch without values": {func(*probe.WhatIf) {}, &probe.Patch{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(kubernetes(5), classic())
			w := good
			tt.change(&w)
			in.Run.WhatIf, in.Run.Patch = []probe.WhatIf{w}, tt.patch
			got := strings.HasPrefix(Diagnose(in)[0].Remedies[0].Text, "Set ndots")
			if got != tt.want {
				t.Errorf("ndots proposed: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCaveatsOfTheNdotsRemedy(t *testing.T) {
	whatIf := []probe.WhatIf{{Host: "api.stripe.com", Variant: "ndots:1", Outcome: probe.OK, QueriesSent: 2, SameAnswer: true}}
	tests := map[string]struct {
		patch probe.Patch
		text  string
		gain  string
		want  string
	}{
		"nothing else checked": {
			probe.Patch{Kind: "DaemonSet", Name: "agent", Names: []probe.PatchName{{Name: "api.stripe.com", Same: true}}},
			"Set ndots to 1 in the dnsConfig of DaemonSet agent.",
			"",
			"No other name was checked: give those that the pod uses with --also.",
		},
		"one dearer": {
			probe.Patch{Kind: "Pod", Name: "x", Names: []probe.PatchName{
				{Name: "ledger.core", Before: probe.NameResult{QueriesSent: 4}, After: probe.NameResult{QueriesSent: 6}, Same: true},
				{Name: "ledger", Before: probe.NameResult{QueriesSent: 2}, After: probe.NameResult{QueriesSent: 2}, Same: true},
			}},
			"Set ndots to 1 in the pod's dnsConfig.",
			"same answer for ledger.core and ledger",
			"More queries for ledger.core.",
		},
		"many": {
			probe.Patch{Names: []probe.PatchName{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"}}},
			"Set ndots to 1 in the pod's dnsConfig.",
			"same answer for a, b, c and 3 more",
			"",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(kubernetes(5), classic())
			tt.patch.Variant = "ndots:1"
			in.Run.WhatIf, in.Run.Patch = whatIf, &tt.patch
			r := Diagnose(in)[0].Remedies[0]
			_, gain, _ := strings.Cut(r.Gain, "; ")
			if r.Text != tt.text || gain != tt.gain || r.Caveat != tt.want {
				t.Errorf("got %q, gain %q, caveat %q\nwant %q, gain %q, caveat %q", r.Text, gain, r.Caveat, tt.text, tt.gain, tt.want)
			}
		})
	}
}

func TestWhichWastedQueriesLeftTheCluster(t *testing.T) {
	tests := map[string]struct {
		search []string
		want   string
	}{
		"one of four": {
			[]string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"},
			"2 of the wasted queries leave the cluster: api.stripe.com.ec2.internal.",
		},
		"none": {
			[]string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local"},
			"None of the wasted queries leaves the cluster: they are load on the cluster's own DNS.",
		},
		"another zone, and a search domain that only ends alike": {
			[]string{"shop.svc.k8s.example", "svc.k8s.example", "k8s.example", "notk8s.example"},
			"2 of the wasted queries leave the cluster: api.stripe.com.notk8s.example.",
		},
		"no cluster": {
			[]string{"node.example.com"},
			"The search list has no cluster domains, so which of the wasted queries leave the cluster is not known.",
		},
		"only foreign names wasted": {
			[]string{"svc.", "svc.cluster.local"},
			"None of the wasted queries leaves the cluster: they are load on the cluster's own DNS.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			settings := kubernetes(5)
			settings.Search = tt.search
			tr := trace{host: "api.stripe.com", outcome: probe.OK}
			for i, s := range tt.search {
				if s != "svc." {
					tr.tries = append(tr.tries, denied("api.stripe.com."+s+".", i, ms))
				}
			}
			tr.tries = append(tr.tries, pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)))
			f := Diagnose(input(settings, tr))[0]
			if f.Class != "search-walk" || !strings.HasSuffix(f.Explain, tt.want) {
				t.Errorf("got %s: %q\nwant it to end in %q", f.Class, f.Explain, tt.want)
			}
		})
	}
}

func TestAllWastedQueriesLeave(t *testing.T) {
	settings := kubernetes(5)
	tr := trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
		denied("api.stripe.com.ec2.internal.", 3, ms),
		pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}
	f := Diagnose(input(settings, tr))[0]
	if !strings.HasSuffix(f.Explain, "All wasted queries leave the cluster: api.stripe.com.ec2.internal.") {
		t.Error(f.Explain)
	}
}

func TestNoWalkWhere(t *testing.T) {
	tests := map[string]struct {
		ndots int
		trace trace
	}{
		"the search list answers (O27)": {5, trace{host: "cache.media", outcome: probe.OK, tries: []try{
			denied("cache.media.media.svc.cluster.local.", 0, ms),
			pair("cache.media.svc.cluster.local.", 1, probe.OK, found(ms, "10.96.14.6"), empty(ms)),
		}}},
		"ndots is low enough": {2, trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
		}}},
		"the host has a final dot": {5, trace{host: "api.stripe.com.", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
		}}},
		"a root element comes first in the search list": {5, trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", 0, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
		}}},
		"the host does not exist": {5, trace{host: "api.stripe.com", outcome: probe.NXDomain, tries: []try{
			denied("api.stripe.com.svc.cluster.local.", 0, ms), denied("api.stripe.com.", -1, ms),
		}}},
		"nothing is known about the search domain": {5, trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
			{name: "api.stripe.com.svc.cluster.local.", search: 0, outcome: probe.Timeout, a: []message{lost(), lost()}, aaaa: []message{lost(), lost()}},
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
		}}},
		"a literal": {5, trace{host: "10.1.2.3", outcome: probe.OK, decidedBy: -1, by: "literal"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(tt.ndots), tt.trace))); strings.Contains(got, "search-walk") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestRepeatedWalkOfABigAnswerCountsOnlyWhatCannotSucceed(t *testing.T) {
	// glibc asks again, search list included, when the addresses do not fit its buffer.
	round := []try{
		denied("big.example.org.svc.cluster.local.", 1, ms),
		pair("big.example.org.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}
	tr := trace{host: "big.example.org", outcome: probe.OK, tries: append(append([]try{}, round...), round...)}
	f := Diagnose(input(kubernetes(5), tr))[0]
	if !strings.HasPrefix(f.Title, "4 of 8 queries cannot succeed") {
		t.Error(f.Title)
	}
}

func TestSingleFamilyWalk(t *testing.T) {
	tr := trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
		{name: "api.stripe.com.ec2.internal.", search: 3, outcome: probe.NXDomain, a: []message{nx(ms)}},
		{name: "api.stripe.com.", search: -1, outcome: probe.OK, a: []message{found(ms, "203.0.113.7")}},
	}}
	f := Diagnose(input(kubernetes(5), tr))[0]
	if !strings.HasPrefix(f.Title, "1 of 2 queries cannot succeed") || !strings.Contains(f.Evidence[0].Text, "A NXDOMAIN, 1.0 ms") {
		t.Errorf("%s\n%s", f.Title, f.Evidence[0].Text)
	}
}

func TestWalkOfSeveralHostsNamesEach(t *testing.T) {
	other := classic()
	other.host = "hooks.example.net"
	other.tries = []try{
		denied("hooks.example.net.ec2.internal.", 3, ms),
		pair("hooks.example.net.", -1, probe.OK, found(ms, "203.0.113.8"), empty(ms)),
	}
	findings := Diagnose(input(kubernetes(5), classic(), other))
	if classes(findings) != "search-walk search-walk healthy" {
		t.Fatal(classes(findings))
	}
	for i, host := range []string{"api.stripe.com: ", "hooks.example.net: "} {
		if !strings.HasPrefix(findings[i].Title, host) {
			t.Errorf("finding %d: %q does not begin with %q", i, findings[i].Title, host)
		}
	}
}

func TestHalvesThatDiffer(t *testing.T) {
	tr := trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
		pair("api.stripe.com.ec2.internal.", 3, probe.NXDomain, nx(ms), empty(ms)),
		pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}
	e := Diagnose(input(kubernetes(5), tr))[0].Evidence[0].Text
	if !strings.Contains(e, "NXDOMAIN") || !strings.Contains(e, "AAAA no data") {
		t.Error(e)
	}
}
