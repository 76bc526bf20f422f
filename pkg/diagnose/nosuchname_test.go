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
