package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestHealthyServiceInFull(t *testing.T) {
	got := told(Diagnose(input(kubernetes(5), trace{host: "ledger", outcome: probe.OK, tries: []try{
		pair("ledger.shop.svc.cluster.local.", 0, probe.OK, found(300*time.Microsecond, "10.96.20.1"), empty(500*time.Microsecond)),
	}})))
	want := `healthy (info) ledger resolves and replies come in 0.3 ms (p50 of 2).
  Every message was answered, the slowest after 0.5 ms. ledger is short for ledger.shop.svc.cluster.local: dig, nslookup of busybox and clients that do not walk the search list (nginx and Kong with ` + "`resolver`" + `, Node's dns.resolve) need the full name, and their exit code says nothing about libc.
  - ledger: found as ledger.shop.svc.cluster.local. with 2 queries in 0.5 ms [r-ledger-now #1]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// O27: what a search domain answers as meant is healthy, and nothing is proposed.
func TestServiceInAnotherNamespaceIsHealthy(t *testing.T) {
	findings := Diagnose(input(kubernetes(5), trace{host: "ledger.core", outcome: probe.OK, tries: []try{
		denied("ledger.core.shop.svc.cluster.local.", 0, ms),
		pair("ledger.core.svc.cluster.local.", 1, probe.OK, found(ms, "10.96.44.7"), empty(ms)),
	}}))
	if classes(findings) != "healthy" || len(findings[0].Remedies) != 0 {
		t.Fatal(told(findings))
	}
	if want := "198.19.0.10 answers in 1.0 ms (p50 of 4 replies for names of the cluster). Scaling CoreDNS would not help."; findings[0].Title != want {
		t.Error(findings[0].Title)
	}
}

func TestScalingIsOnlyRuledOutWhenRepliesAreQuickAndEnough(t *testing.T) {
	tests := map[string]struct {
		replies int
		after   time.Duration
		want    bool
	}{
		"quick":          {4, ms, true},
		"at the limit":   {4, 5 * ms, true},
		"not so quick":   {4, 6 * ms, false},
		"slow but alive": {4, 300 * ms, false},
		"too few":        {2, ms, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tr := trace{host: "api.stripe.com", outcome: probe.OK}
			for i := range tt.replies / 2 {
				tr.tries = append(tr.tries, denied("api.stripe.com."+kubernetes(5).Search[i]+".", i, tt.after))
			}
			tr.tries = append(tr.tries, pair("api.stripe.com.", -1, probe.OK, found(tt.after, "203.0.113.7"), empty(tt.after)))
			text := told(Diagnose(input(kubernetes(5), tr)))
			if !strings.Contains(text, "healthy") {
				t.Fatal(text)
			}
			if got := strings.Contains(text, "Scaling CoreDNS would not help."); got != tt.want {
				t.Errorf("scaling ruled out: %v, want %v\n%s", got, tt.want, text)
			}
		})
	}
}

func TestHealthyIsNotClaimedWhere(t *testing.T) {
	fine := pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms))
	tests := map[string]trace{
		"it does not resolve": {host: "api.stripe.com", outcome: probe.NXDomain, tries: []try{denied("api.stripe.com.", -1, ms)}},
		"it has no address":   {host: "api.stripe.com", outcome: probe.NoData, tries: []try{pair("api.stripe.com.", -1, probe.NoData, empty(ms), empty(ms))}},
		"a message was lost": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			{name: "api.stripe.com.", search: -1, outcome: probe.OK, a: []message{found(ms, "203.0.113.7")}, aaaa: []message{lost(), empty(ms)}},
		}},
		"half of the pair never came": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			{name: "api.stripe.com.", search: -1, outcome: probe.OK, a: []message{found(ms, "203.0.113.7")}, aaaa: []message{lost(), lost(), lost()}},
		}},
		"a half was refused": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), rcode("REFUSED", ms)),
		}},
		"a half got SERVFAIL": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), rcode("SERVFAIL", ms)),
		}},
		"a reply took a second": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			pair("api.stripe.com.", -1, probe.OK, found(time.Second, "203.0.113.7"), empty(ms)),
		}},
		"a port was closed": {host: "api.stripe.com", outcome: probe.OK, tries: []try{
			{
				name: "api.stripe.com.", search: -1, outcome: probe.OK,
				a:    []message{rcode(probe.ReplyICMPRefused, ms), by(dns1, found(ms, "203.0.113.7"))},
				aaaa: []message{by(dns1, empty(ms))},
			},
		}},
		// O03: the lookup succeeds with the wrong address, and a single run cannot tell.
		"a search domain outside of the cluster answered": {host: "codehost.example", outcome: probe.OK, tries: []try{
			denied("codehost.example.cluster.local.", 2, ms),
			pair("codehost.example.ec2.internal.", 3, probe.OK, found(ms, "203.0.113.80"), empty(ms)),
		}},
		"it has not ended": {host: "api.stripe.com", outcome: "", tries: []try{fine}},
	}
	for name, tr := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(5), tr))); strings.Contains(got, "healthy") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestHealthyNeedsEveryHost(t *testing.T) {
	bad := trace{host: "nowhere", outcome: probe.NXDomain, tries: []try{denied("nowhere.", -1, ms)}}
	if got := classes(Diagnose(input(kubernetes(5), classic(), bad))); got != "no-such-name search-walk" {
		t.Error(got)
	}
	in := input(kubernetes(5), classic(), bad)
	in.Hosts = []string{"api.stripe.com"}
	if got := classes(Diagnose(in)); got != "search-walk healthy" {
		t.Errorf("only the hosts asked for are judged: %s", got)
	}
}

func TestSearchDomainThatAnswersOnANodeIsNoVerdict(t *testing.T) {
	settings := probe.Settings{Search: []string{"node.example.com"}, Ndots: 1}
	tr := trace{host: "www", outcome: probe.OK, tries: []try{
		pair("www.node.example.com.", 0, probe.OK, found(ms, "203.0.113.80"), empty(ms)),
	}}
	if findings := Diagnose(input(settings, tr)); len(findings) != 0 {
		t.Error(told(findings))
	}
}

func TestHostsWithoutDNS(t *testing.T) {
	tests := map[string]struct {
		trace trace
		want  string
	}{
		"a literal": {
			trace{host: "10.1.2.3", outcome: probe.OK, decidedBy: -1, by: "literal", addresses: []string{"10.1.2.3"}},
			`healthy (info) 10.1.2.3 is an address: there is nothing to resolve.
  The resolver takes it as it is and sends no query.
  - 10.1.2.3 taken as it is [r-10.1.2.3-now #0]
`,
		},
		"from /etc/hosts": {
			trace{host: "db", outcome: probe.OK, decidedBy: -1, by: "hosts", addresses: []string{"10.0.0.9", "10.0.0.8"}},
			`hosts-file (info) /etc/hosts of the target answers for db: no query is sent.
  Nothing in DNS changes what the application gets for this host. hostAliases of the pod and the image both write to that file.
  - db: 10.0.0.9 and 10.0.0.8 from /etc/hosts [r-db-now #0]
`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(Diagnose(input(kubernetes(5), tt.trace)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostsFileBesideDNS(t *testing.T) {
	db := trace{host: "db", outcome: probe.OK, decidedBy: -1, by: "hosts", addresses: []string{"10.0.0.9"}}
	findings := Diagnose(input(kubernetes(5), classic(), db))
	if classes(findings) != "search-walk hosts-file healthy" {
		t.Error(told(findings))
	}
	if !strings.HasPrefix(findings[1].Title, "/etc/hosts") {
		t.Error(findings[1].Title)
	}
}

func TestSeveralHealthyHostsWithoutClusterNames(t *testing.T) {
	a := trace{host: "a.example.org", outcome: probe.OK, tries: []try{pair("a.example.org.", -1, probe.OK, found(ms, "203.0.113.1"), empty(3*ms))}}
	b := trace{host: "b.example.org", outcome: probe.OK, tries: []try{pair("b.example.org.", -1, probe.OK, found(5*ms, "203.0.113.2"), empty(7*ms))}}
	findings := Diagnose(input(kubernetes(1), a, b))
	if len(findings) != 1 || findings[0].Title != "All 2 hosts resolve and replies come in 3.0 ms (p50 of 4)." || len(findings[0].Evidence) != 2 {
		t.Error(told(findings))
	}
}

func TestServersAreNamedInOrder(t *testing.T) {
	tr := trace{host: "api.stripe.com", outcome: probe.OK, tries: []try{
		denied("api.stripe.com.svc.cluster.local.", 1, ms),
		pair("api.stripe.com.cluster.local.", 2, probe.NXDomain, by("[fd00::10]:53", nx(ms)), by("10.0.0.1:5353", nx(ms))),
		pair("api.stripe.com.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms)),
	}}
	text := told(Diagnose(input(kubernetes(5), tr)))
	if !strings.Contains(text, "198.19.0.10, fd00::10 and 10.0.0.1:5353 answers in") {
		t.Error(text)
	}
}
