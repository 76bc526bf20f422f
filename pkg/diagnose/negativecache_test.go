package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNegativeCacheVerdicts(t *testing.T) {
	const name = "ledger.billing.svc.cluster.local"
	still := said("198.19.0.10", name, probe.NXDomain)
	has := said("10.244.0.5", name, probe.OK, "10.96.33.3")
	corefile := ".:53 {\n  kubernetes cluster.local\n  forward . 10.0.0.2\n}\n"
	outside := func(more ...trace) Input {
		tr := trace{host: "new.example.net", outcome: probe.NXDomain, tries: []try{
			denied("new.example.net.shop.svc.cluster.local.", 0, ms), denied("new.example.net.svc.cluster.local.", 1, ms), denied("new.example.net.cluster.local.", 2, ms),
			denied("new.example.net.ec2.internal.", 3, ms), denied("new.example.net.", -1, ms),
		}}
		return facts(judging(input(kubernetes(5), append([]trace{tr}, more...)...), "new.example.net"), fact.Corefile, corefile)
	}
	up, denies := said("10.0.0.2", "new.example.net", probe.OK, "203.0.113.4"), said("198.19.0.10", "new.example.net", probe.NXDomain)
	checkVerdicts(t, map[string]judged{
		"not asked yet":                      {keptDenial(), ""},
		"a server behind it has the Service": {keptDenial(has, still), "negative-cache"},
		"it was not asked again":             {keptDenial(has), ""},
		"it has it by now":                   {keptDenial(has, said("198.19.0.10", name, probe.OK, "10.96.33.3")), ""},
		"nobody has it":                      {keptDenial(said("10.244.0.5", name, probe.NXDomain), said("10.244.0.6", name, probe.NXDomain)), "no-such-name"},
		"the API server does not have it":    {withFact(keptDenial(), "service ledger.billing", "none"), "no-such-name"},
		"the upstream server has the name":   {outside(up, denies), "negative-cache"},
		"the upstream server does not":       {outside(said("10.0.0.2", "new.example.net", probe.NXDomain)), "no-such-name"},
		"two upstream servers":               {withFact(outside(), fact.Corefile, strings.Replace(corefile, "10.0.0.2", "10.0.0.2 10.0.0.3", 1)), "no-such-name"},
		"a file decides":                     {withFact(outside(), fact.Corefile, strings.Replace(corefile, "10.0.0.2", "/etc/resolv.conf", 1)), "no-such-name"},
		"a block of its own for the zone":    {withFact(outside(up, denies), fact.Corefile, corefile+"example.net:53 {\n  forward . 10.0.0.9\n}\n"), ""},
	})
	if f := Diagnose(keptDenial(has, still))[0]; !strings.Contains(f.Remedies[0].Text, "30 s at most") {
		t.Errorf("%+v", f.Remedies)
	}
}
