package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

func nowhere() trace {
	return trace{host: "ledger.core", outcome: probe.NXDomain, code: "EAI_NONAME", tries: []try{
		denied("ledger.core.shop.svc.cluster.local.", 0, ms),
		denied("ledger.core.svc.cluster.local.", 1, ms),
		denied("ledger.core.", -1, 2*ms),
	}}
}

func TestNoSuchNameInFull(t *testing.T) {
	want := `no-such-name (critical) ledger.core does not exist: 3 names tried, NXDOMAIN for each.
  The nameserver answered every query and says that none of the names exists right now. That is an answer, not an outage. Whether the name ought to exist cannot be seen from here. Caches may keep the answer for up to 30 s (the SOA's minimum) after the name comes into being.
  - ledger.core.shop.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-ledger.core-now #1]
  - ledger.core.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-ledger.core-now #2]
  - ledger.core.: NXDOMAIN for A and AAAA, 2.0 ms, left the cluster [r-ledger.core-now #3]
  > Compare the spelling of ledger.core with what was meant. |  | 
  > If a Service is meant, look for it: kubectl -n core get service,endpointslices | grep ledger |  | A pod of a headless Service has no name until it is ready.
`
	if diff := cmp.Diff(want, told(Diagnose(input(kubernetes(5), nowhere())))); diff != "" {
		t.Error(diff)
	}
}

func TestWhichServiceToLookFor(t *testing.T) {
	search := kubernetes(5).Search
	tests := map[string]string{
		"ledger":                         "-n shop get service,endpointslices | grep ledger",
		"ledger.core":                    "-n core get service,endpointslices | grep ledger",
		"ledger.core.svc":                "-n core get service,endpointslices | grep ledger",
		"ledger.core.svc.cluster.local":  "-n core get service,endpointslices | grep ledger",
		"node-1.ring-hl.store":           "-n store get service,endpointslices | grep ring-hl",
		"ledger.core.svc.cluster.local.": "-n core get service,endpointslices | grep ledger",
		// Nothing that could do something else in a shell is put into a command.
		"$(reboot).core": "",
		"a_b.core":       "",
	}
	for host, want := range tests {
		t.Run(host, func(t *testing.T) {
			tr := trace{host: host, outcome: probe.NXDomain}
			if !strings.HasSuffix(host, ".") {
				for i, s := range search {
					tr.tries = append(tr.tries, denied(host+"."+s+".", i, ms))
				}
			}
			tr.tries = append(tr.tries, denied(strings.TrimSuffix(host, ".")+".", -1, ms))
			findings := Diagnose(input(kubernetes(5), tr))
			if classes(findings) != "no-such-name" {
				t.Fatal(told(findings))
			}
			got := ""
			for _, r := range findings[0].Remedies {
				if _, command, ok := strings.Cut(r.Text, "kubectl "); ok {
					got = command
				}
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestNoSuchNameIsNotClaimedWhere(t *testing.T) {
	last := func(change func(*try)) trace {
		tr := nowhere()
		change(&tr.tries[2])
		return tr
	}
	cut := kubernetes(5)
	cut.Warnings = []resolvconf.Warning{{Line: 1, Text: "search " + strings.Repeat("x", 300), Effect: "the line is not read"}}
	tests := map[string]struct {
		settings probe.Settings
		trace    trace
	}{
		"a name has no address":   {kubernetes(5), last(func(a *try) { *a = pair(a.name, -1, probe.NoData, empty(ms), nx(ms)) })},
		"one half says otherwise": {kubernetes(5), last(func(a *try) { *a = pair(a.name, -1, probe.NXDomain, nx(ms), empty(ms)) })},
		"half of the pair is lost": {kubernetes(5), last(func(a *try) {
			*a = try{name: a.name, search: -1, outcome: probe.NXDomain, a: []message{nx(ms)}, aaaa: []message{lost()}}
		})},
		"a name could not be sent": {kubernetes(5), last(func(a *try) { *a = try{name: a.name, search: -1, outcome: probe.NXDomain} })},
		"nothing was tried":        {kubernetes(5), trace{host: "x", outcome: probe.NXDomain, decidedBy: -1}},
		"it got SERVFAIL":          {kubernetes(5), last(func(a *try) { *a = pair(a.name, -1, probe.ServFail, rcode("SERVFAIL", ms), rcode("SERVFAIL", ms)) })},
		// O17: the search list was never read, so the right name was never asked.
		"the search line is ignored": {cut, nowhere()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(tt.settings, tt.trace))); strings.Contains(got, "no-such-name") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestOddOptionsDoNotHideNoSuchName(t *testing.T) {
	settings := kubernetes(5)
	settings.Warnings = []resolvconf.Warning{{Line: 3, Text: "options inet6", Effect: "ignored"}}
	if got := classes(Diagnose(input(settings, nowhere()))); got != "no-such-name" {
		t.Error(got)
	}
}

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
  Every message was answered, the slowest after 9.0 ms.
  - ledger.core: found as ledger.core.svc.cluster.local. with 6 queries in 11.0 ms [r-ledger.core-now #3]
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

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

func TestUpstreamServFailInFull(t *testing.T) {
	in := input(kubernetes(5), trace{host: "db.example.org", outcome: probe.Again, code: "EAI_AGAIN", tries: []try{
		denied("db.example.org.svc.cluster.local.", 1, ms),
		pair("db.example.org.", -1, probe.ServFail, rcode("SERVFAIL", 3*ms), rcode("SERVFAIL", 4*ms)),
	}})
	want := `upstream-servfail (critical) db.example.org. gets SERVFAIL, while names of the cluster are answered: the fault lies behind the cluster's DNS.
  The cluster's DNS passes this name on and reports that it got no usable answer: an upstream that fails or cannot be reached, a broken delegation, or DNSSEC that does not validate.
  - db.example.org.: SERVFAIL for A and AAAA, 4.0 ms, left the cluster [r-db.example.org-now #2]
  - db.example.org.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-db.example.org-now #1]
  > Ask the upstreams of the forward plugin for db.example.org, and read the errors that CoreDNS logs for it. |  | 
  > No dnsConfig change helps: the pod asks the right server. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestServFailIsNotBlamedOnTheUpstreamWhere(t *testing.T) {
	bad := rcode("SERVFAIL", ms)
	node := kubernetes(1)
	node.Search = []string{"node.example.com"}
	tests := map[string]struct {
		settings probe.Settings
		trace    trace
	}{
		"nothing else was asked": {kubernetes(1), trace{host: "db.example.org", outcome: probe.Again, tries: []try{pair("db.example.org.", -1, probe.ServFail, bad, bad)}}},
		"the cluster's names fail too": {kubernetes(5), trace{host: "db.example.org", outcome: probe.Again, tries: []try{
			pair("db.example.org.svc.cluster.local.", 1, probe.ServFail, bad, bad), pair("db.example.org.", -1, probe.ServFail, bad, bad),
		}}},
		"the name is of the cluster": {kubernetes(5), trace{host: "x.cluster.local", outcome: probe.Again, tries: []try{
			denied("x.cluster.local.svc.cluster.local.", 1, ms), pair("x.cluster.local.", -1, probe.ServFail, bad, bad),
		}}},
		"no cluster is known": {node, trace{host: "db.example.org", outcome: probe.Again, tries: []try{
			denied("db.example.org.node.example.com.", 0, ms), pair("db.example.org.", -1, probe.ServFail, bad, bad),
		}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(tt.settings, tt.trace))); strings.Contains(got, "upstream-servfail") {
				t.Errorf("found %q", got)
			}
		})
	}
}

// silentDomain is a resolution whose name in the cloud's search domain gets no reply.
func silentDomain(id string) trace {
	quiet := []message{lost(), lost()}
	return trace{id: id, host: "api.stripe.com", outcome: probe.OK, tries: []try{
		denied("api.stripe.com.svc.cluster.local.", 1, ms),
		{name: "api.stripe.com.ec2.internal.", search: 3, outcome: probe.Timeout, a: quiet, aaaa: quiet},
		pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}
}

func TestTimeoutInSearchTakesThreeResolutions(t *testing.T) {
	two := Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2")))
	if classes(two) != "search-walk" {
		t.Errorf("two samples: %s", told(two))
	}
	three := Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")))
	if classes(three) != "timeout-in-search search-walk" {
		t.Fatal(told(three))
	}
	f := three[0]
	if f.Title != "api.stripe.com.ec2.internal. gets no reply from search domain 4 of 4, api.stripe.com resolves all the same after 10.00 s." {
		t.Error(f.Title)
	}
	if f.Evidence[0].Text != "api.stripe.com.ec2.internal.: 0 replies to 12 messages in 3 resolutions, other names answered in each" {
		t.Error(f.Evidence[0].Text)
	}
	// "cannot succeed" is not known of a name that nobody spoke about.
	if !strings.HasPrefix(three[1].Title, "2 of 6 queries cannot succeed") {
		t.Error(three[1].Title)
	}
}

func TestTimeoutInSearchNeedsTheOthersAnswered(t *testing.T) {
	tests := map[string]func(*trace){
		// O14: a dead backend takes any name.
		"another name is silent once": func(tr *trace) {
			tr.tries[2] = try{name: "api.stripe.com.", search: -1, outcome: probe.Timeout, a: []message{lost()}, aaaa: []message{lost()}}
		},
		"the name is answered once": func(tr *trace) { tr.tries[1] = denied(tr.tries[1].name, 3, ms) },
		"nothing else was asked":    func(tr *trace) { tr.tries = tr.tries[1:2] },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			third := silentDomain("3")
			change(&third)
			if got := classes(Diagnose(input(kubernetes(5), silentDomain("1"), silentDomain("2"), third))); strings.Contains(got, "timeout") {
				t.Errorf("found %q", got)
			}
		})
	}
}

// deadFirst is O29: the first of two nameservers never replies.
func deadFirst(id string) trace {
	return trace{id: id, host: "mail.example.net", outcome: probe.OK, tries: []try{
		{
			name: "mail.example.net.", search: -1, outcome: probe.OK,
			a:    []message{lost(), by(dns1, found(ms, "198.51.100.70"))},
			aaaa: []message{lost(), by(dns1, empty(ms))},
		},
	}}
}

func TestDeadNameserverInFull(t *testing.T) {
	settings := probe.Settings{Search: []string{"node.example.com"}, Ndots: 1, Nameservers: []string{"198.19.0.10", "198.19.0.11"}}
	if got := classes(Diagnose(input(settings, deadFirst("1"), deadFirst("2")))); got != "" {
		t.Errorf("two sockets are not enough: %s", got)
	}
	want := `dead-nameserver (warning) nameserver 198.19.0.10 never replied: 0 replies to 6 messages. 198.19.0.11 replied to 6 of 6.
  Each name waits for it first: up to 5.00 s were lost that way here. Both halves of the pair are lost, from every source port tried, so this is no race between them.
  - mail.example.net. A: no reply from 198.19.0.10, 198.19.0.11 replied after another 5.00 s [1 #1]
  > Take the server out: in the node's resolv.conf, or with dnsPolicy None and a nameserver list of your own. | Saves the wait of up to 5.00 s for each name tried. | 
  > Until then set the option timeout to 1 in dnsConfig. | Shortens the wait to 1 s. | Slow but working servers are then given up on as well.
`
	if diff := cmp.Diff(want, told(Diagnose(input(settings, deadFirst("1"), deadFirst("2"), deadFirst("3"))))); diff != "" {
		t.Error(diff)
	}
}

func TestDeadNameserverIsNotClaimedWhere(t *testing.T) {
	tests := map[string]func(*trace){
		"it replied once":        func(tr *trace) { tr.tries[0].a[0] = empty(ms) },
		"its port is closed":     func(tr *trace) { tr.tries[0].a[0] = rcode(probe.ReplyICMPRefused, ms) },
		"it is the only one":     func(tr *trace) { tr.tries[0].a, tr.tries[0].aaaa = tr.tries[0].a[:1], tr.tries[0].aaaa[:1] },
		"the others are as dead": func(tr *trace) { tr.tries[0].a[1], tr.tries[0].aaaa[1] = by(dns1, lost()), by(dns1, lost()) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			var traces []trace
			for _, id := range []string{"1", "2", "3", "4"} {
				tr := deadFirst(id)
				if name != "it replied once" && name != "its port is closed" || id == "2" {
					change(&tr)
				}
				traces = append(traces, tr)
			}
			if got := classes(Diagnose(input(kubernetes(1), traces...))); strings.Contains(got, "dead") {
				t.Errorf("found %q", got)
			}
		})
	}
}
