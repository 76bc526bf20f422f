package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestLookupsOfOtherRecordsAreNoCandidates(t *testing.T) {
	attempt := func(n int, typ probe.QueryType, name, rcode string, index int, decided bool) probe.Attempt {
		origin, outcome := probe.OriginSearch, probe.OK
		if index < 0 {
			origin = probe.OriginAsIs
		}
		if rcode != "NOERROR" {
			outcome = probe.NXDomain
		}
		return probe.Attempt{N: n, Name: name, Origin: origin, SearchIndex: index, Outcome: outcome, Decided: decided, Queries: []probe.Query{{
			Type: typ, Rcode: rcode, Transmissions: []probe.Transmission{{Try: 1, Server: "198.19.0.10:53", Reply: rcode, Use: probe.UseAccepted}},
		}}}
	}
	r := probe.Resolution{
		ID: "r1", Host: "x", Libc: probe.Go, Outcome: probe.OK, Addresses: []string{"10.0.0.1"}, QueriesSent: 3, QueriesWasted: 2, AnsweredBy: "dns",
		Attempts: []probe.Attempt{
			attempt(1, probe.TypeSRV, "_grpclb._tcp.x.", "NXDOMAIN", -1, false), attempt(2, probe.TypeSRV, "_grpclb._tcp.x.a.test.", "NXDOMAIN", 0, false),
			attempt(3, probe.TypeA, "x.a.test.", "NOERROR", 0, true),
		},
	}
	run := probe.Run{Settings: probe.Settings{Ndots: 2, Search: []string{"a.test"}}, Resolutions: []probe.Resolution{r}}
	for _, f := range Diagnose(Input{Run: run}) {
		if f.Class == "ndots-too-low" || f.Class == "search-walk" {
			t.Errorf("%s: %s", f.Class, f.Title)
		}
	}
	if len(run.Resolutions[0].Attempts) != 3 {
		t.Error("the run itself was changed")
	}
	without := r
	without.Attempts = r.Attempts[2:]
	if addressesOnly(&without) != &without {
		t.Error("a resolution of addresses is copied")
	}
}
