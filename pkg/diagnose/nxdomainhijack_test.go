package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNXDomainHijackVerdicts(t *testing.T) {
	test := trace{id: "test", host: "dnsprobe-abc.lab.example.org.", outcome: probe.OK, addresses: []string{"203.0.113.99"}}
	asIs := func(more ...trace) Input {
		in := judging(input(kubernetes(5), append([]trace{{host: "ledger.biling", outcome: probe.OK, addresses: []string{"203.0.113.99"}, tries: []try{
			denied("ledger.biling.svc.cluster.local.", 1, ms), pair("ledger.biling.", -1, probe.OK, found(ms, "203.0.113.99"), empty(ms)),
		}}}, more...)...), "ledger.biling")
		in.Label = "abc"
		return in
	}
	checkVerdicts(t, map[string]judged{
		"not asked yet":                    {hijacked(), ""},
		"everything has the address":       {hijacked(said("198.19.0.10", "dnsprobe-abc.org", probe.OK, "203.0.113.99"), test), "nxdomain-hijack"},
		"only the search domain has it":    {hijacked(said("198.19.0.10", "dnsprobe-abc.org", probe.NXDomain), test), "wildcard-search"},
		"others have another address":      {hijacked(said("198.19.0.10", "dnsprobe-abc.org", probe.OK, "203.0.113.1"), test), "wildcard-search"},
		"the name itself is answered":      {asIs(said("198.19.0.10", "dnsprobe-abc.biling", probe.OK, "203.0.113.99")), "nxdomain-hijack search-walk"},
		"the name itself is its own":       {asIs(said("198.19.0.10", "dnsprobe-abc.biling", probe.NXDomain)), "search-walk healthy"},
		"a Service, and others are denied": {input(kubernetes(5), bySearch("ledger.core", 1, "10.96.44.7")), "healthy"},
	})
	if got := wanted(asIs()); got != "dnsprobe-abc.biling at 198.19.0.10" {
		t.Errorf("asks %q", got)
	}
	if got := wanted(input(kubernetes(5), classic())); got != "" {
		t.Errorf("an outside name with two dots: asks %q", got)
	}
}
