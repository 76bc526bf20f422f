package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestMultiNameserverVerdicts(t *testing.T) {
	const name = "ledger.billing.svc.cluster.local"
	has, denies := said("198.19.0.10", name, probe.OK, "10.96.33.3"), said("198.19.0.11", name, probe.NXDomain)
	musl := bySearch("ledger.billing", 1, "10.96.33.3")
	musl.libc = probe.Musl
	two := kubernetes(5)
	two.Nameservers = []string{"198.19.0.10", "198.19.0.11"}
	lucky := func(more ...trace) Input {
		return judging(input(two, append([]trace{musl}, more...)...), "ledger.billing")
	}
	itself := []trace{said("198.19.0.11", "ledger.billing", probe.NXDomain), said("198.19.0.10", "ledger.billing", probe.NXDomain)}
	checkVerdicts(t, map[string]judged{
		"not asked yet":            {disputing(), ""},
		"one has it":               {disputing(has, denies), "multi-nameserver"},
		"nobody has it":            {disputing(append(itself, said("198.19.0.10", name, probe.NXDomain), denies)...), "no-such-name"},
		"the other is silent":      {disputing(append(itself, said("198.19.0.10", name, probe.Again), denies)...), "no-such-name"},
		"musl was lucky":           {lucky(has, denies), "multi-nameserver"},
		"musl has no need of it":   {lucky(has, said("198.19.0.11", name, probe.OK, "10.96.33.3")), "healthy"},
		"one nameserver, a denial": {input(kubernetes(5), nowhere()), "no-such-name"},
	})
	if f := Diagnose(lucky(has, denies))[0]; f.Severity != probe.Warning || !strings.Contains(f.Explain, "race") {
		t.Errorf("%+v", f)
	}
	if f := Diagnose(disputing(has, denies))[0]; f.Severity != probe.Critical || !strings.Contains(f.Title, "exists at 198.19.0.10, and at 198.19.0.11 it does not") {
		t.Errorf("%+v", f)
	}
}
