package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestStaleResolvconfInFull(t *testing.T) {
	want := `stale-resolvconf (critical) erp.corp.example does not resolve: the pod still asks 10.8.0.53, the node's file has 10.9.0.53 by now.
  The kubelet writes a pod's resolv.conf when the pod is started, from the node's file as it is then. The node's file has changed since.
  - the pod was started 52h0m0s ago
  - nameservers of the node's file: 10.9.0.53
  - 10.9.0.53, asked directly for erp.corp.example: 10.9.4.4 [at 10.9.0.53 erp.corp.example #0]
  - erp.corp.example.: no reply for A and AAAA, 5.00 s [r-erp.corp.example-now #1]
  > Create the pods anew: kubectl -n shop rollout restart deployment/app |  | Other pods that were started before the change have the same old file.
`
	if diff := cmp.Diff(want, told(Diagnose(oldFile(said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4"))))); diff != "" {
		t.Error(diff)
	}
}

func TestStaleResolvconfVerdicts(t *testing.T) {
	known := said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4")
	// A search domain that the node no longer has answers for the host.
	gone := facts(input(kubernetes(5), trace{host: "codehost.example", outcome: probe.OK, addresses: []string{"203.0.113.80"}, tries: []try{
		pair("codehost.example.ec2.internal.", 3, probe.OK, found(ms, "203.0.113.80"), empty(ms)),
	}}), fact.DNSPolicy, "ClusterFirst", fact.NodeResolvConf, "nameserver 10.0.0.2\nsearch other.internal\n")
	checkVerdicts(t, map[string]judged{
		"not asked yet":                       {oldFile(), ""},
		"the new nameserver denies it":        {oldFile(said("10.9.0.53", "erp.corp.example", probe.NXDomain)), ""},
		"the node still has the nameserver":   {withFact(oldFile(known), fact.NodeResolvConf, "nameserver 10.9.0.53\nnameserver 10.8.0.53\n"), ""},
		"the pod has the cluster's":           {withFact(oldFile(known), fact.DNSPolicy, "ClusterFirst"), ""},
		"the node's file is not known":        {withFact(oldFile(known), fact.NodeResolvConf, ""), ""},
		"an old domain decides":               {gone, "stale-resolvconf"},
		"the domain is still there":           {withFact(gone, fact.NodeResolvConf, "search ec2.internal\n"), ""},
		"the domain comes from the dnsConfig": {withFact(gone, fact.DNSConfig, "search ec2.internal"), ""},
		"an old domain that only denies":      {withFact(withFact(input(kubernetes(5), classic()), fact.NodeResolvConf, "search other.internal\n"), fact.DNSPolicy, "ClusterFirst"), "search-walk healthy"},
	})
}
