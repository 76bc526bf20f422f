package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestAutopathMismatchVerdicts(t *testing.T) {
	other := func(domain string, more ...trace) Input {
		return facts(judging(input(kubernetes(5), append([]trace{otherList(domain)}, more...)...), "api"), fact.Corefile, withAutopath, "service api.shop", "none")
	}
	external := input(kubernetes(5), trace{host: "db", outcome: probe.OK, addresses: []string{"203.0.113.7"}, tries: []try{
		pair("db.shop.svc.cluster.local.", 0, probe.OK, func() message { m := found(ms, "203.0.113.7"); m.alias = "db.rds.example."; return m }(), empty(ms)),
	}})
	checkVerdicts(t, map[string]judged{
		"an alias in a domain of another list":     {other("corp.example"), "autopath-mismatch healthy"},
		"an alias in a domain of the pod's list":   {other("cluster.local"), "healthy"},
		"an alias of the host itself":              {other(""), "healthy"},
		"the pod's list leads elsewhere first":     {other("", said("198.19.0.10", "api.ec2.internal", probe.OK, "10.0.0.8")), "autopath-mismatch healthy"},
		"the pod's list leads to the same":         {other("", said("198.19.0.10", "api.ec2.internal", probe.OK, "203.0.113.7")), "healthy"},
		"it may be an ExternalName":                {withFact(other("corp.example"), "service api.shop", ""), "healthy"},
		"no autopath in the Corefile":              {withFact(other("corp.example"), fact.Corefile, ".:53 {\n  kubernetes cluster.local\n}\n"), "healthy"},
		"no Corefile known":                        {input(kubernetes(5), otherList("corp.example")), "healthy"},
		"an alias of something else":               {facts(external, fact.Corefile, withAutopath), "healthy"},
		"on, and without effect":                   {facts(input(kubernetes(5), classic()), fact.Corefile, withAutopath), "autopath-mismatch search-walk healthy"},
		"without effect, with a cache before it":   {withFact(facts(input(kubernetes(5), classic()), fact.Corefile, withAutopath), fact.NodeLocal, "169.254.20.10 ready"), "autopath-mismatch search-walk healthy"},
		"a name that does not exist tells nothing": {facts(input(kubernetes(5), nowhere()), fact.Corefile, withAutopath), ""},
	})
	in := withFact(facts(input(kubernetes(5), classic()), fact.Corefile, withAutopath), fact.NodeLocal, "169.254.20.10 ready")
	if f := Diagnose(in)[0]; !strings.Contains(f.Explain, "NodeLocal DNSCache asks in the pod's place") || f.Severity != probe.Info {
		t.Errorf("%+v", f)
	}
}
