package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestWrongClusterDomainInFull(t *testing.T) {
	want := `wrong-cluster-domain (critical) ledger.billing.svc.k8s.example is looked for under k8s.example, but the domain of this cluster is cluster.local: there it is ledger.billing.svc.cluster.local.
  The cluster domain is part of the host as the application has it. Clusters can have any domain, cluster.local is only the usual one.
  - ledger.billing.svc.k8s.example.shop.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-ledger.billing.svc.k8s.example-now #1]
  - ledger.billing.svc.cluster.local, asked for directly: 10.96.44.7 [at 198.19.0.10 ledger.billing.svc.cluster.local #0]
  > Let the application ask for ledger.billing.svc, which the search list completes in every cluster, or for ledger.billing.svc.cluster.local. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(hardCoded(said("198.19.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.44.7"))))); diff != "" {
		t.Error(diff)
	}
}

func TestWrongClusterDomainVerdicts(t *testing.T) {
	list := func(more ...trace) Input {
		return facts(judging(input(kubernetes(5), append([]trace{nowhere()}, more...)...), "ledger.core"),
			fact.Corefile, ".:53 {\n  kubernetes corp.internal in-addr.arpa ip6.arpa\n}\n")
	}
	checkVerdicts(t, map[string]judged{
		"not asked yet":               {hardCoded(), ""},
		"there is no such Service":    {hardCoded(said("198.19.0.10", "ledger.billing.svc.cluster.local", probe.NXDomain)), "no-such-name"},
		"the list has another domain": {list(said("198.19.0.10", "ledger.core.svc.corp.internal", probe.OK, "10.96.44.7")), "wrong-cluster-domain"},
		"not there under the other":   {list(said("198.19.0.10", "ledger.core.svc.corp.internal", probe.NXDomain)), "no-such-name"},
		"the domains are the same":    {withFact(list(), fact.Corefile, ".:53 {\n  kubernetes cluster.local\n}\n"), "no-such-name"},
		"two zones tell none":         {withFact(list(), fact.Corefile, ".:53 {\n  kubernetes a.example b.example\n}\n"), "no-such-name"},
	})
}
