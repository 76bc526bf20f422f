package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestKubeletDNSConfigInFull(t *testing.T) {
	want := `kubelet-dns-config (critical) ledger.billing does not resolve: the kubelet of node node-a gave this pod nameserver 10.43.0.10, which is not the cluster's DNS (10.96.0.10).
  dnsPolicy of the pod asks for the cluster's DNS. Which address that is the kubelet takes from clusterDNS in its own configuration, not from the Service.
  - dnsPolicy: ClusterFirst
  - the cluster's DNS Service has 10.96.0.10
  - 10.96.0.10, asked directly for ledger.billing.svc.cluster.local: 10.96.44.7 [at 10.96.0.10 ledger.billing.svc.cluster.local #0]
  - ledger.billing.shop.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-ledger.billing-now #1]
  - the pod was started 52h0m0s ago
  > Set clusterDNS to 10.96.0.10 in the configuration of the kubelet of node node-a, and clusterDomain with it; restart it and create the pods anew. |  | Where it says so already, the pod is older than that change: creating it anew is enough.
  > For this workload alone: dnsPolicy None with nameserver 10.96.0.10 and the cluster's search domains. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(otherService(said("10.96.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.44.7"))))); diff != "" {
		t.Error(diff)
	}
}

func TestKubeletDNSConfigVerdicts(t *testing.T) {
	known := said("10.96.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.44.7")
	event := `pod: "p". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`
	linkLocal := otherService(known)
	linkLocal.Run.Settings.Nameservers = []string{"169.254.20.10"}
	checkVerdicts(t, map[string]judged{
		"not asked yet":                     {otherService(), ""},
		"the cluster does not know it":      {otherService(said("10.96.0.10", "ledger.billing.svc.cluster.local", probe.NXDomain)), "no-such-name"},
		"the cluster does not answer":       {otherService(said("10.96.0.10", "ledger.billing.svc.cluster.local", probe.Again)), "no-such-name"},
		"the nameserver is the cluster's":   {withFact(otherService(said("10.43.0.10", "ledger.billing.svc.cluster.local", probe.NXDomain)), fact.DNSService, "10.43.0.10"), "no-such-name"},
		"a server behind the Service":       {withFact(otherService(known), fact.DNSEndpoints, "10.43.0.10 ready pod=coredns-a"), ""},
		"a cache on the node":               {linkLocal, ""},
		"the policy is another":             {withFact(otherService(known), fact.DNSPolicy, "Default"), ""},
		"the kubelet's event proves it":     {withFact(otherService(), fact.DNSEvents, event), "kubelet-dns-config"},
		"a hostNetwork pod has the node's":  {withFact(otherService(known), fact.HostNetwork, "true"), ""},
		"a hostNetwork pod should have one": {withFact(withFact(otherService(known), fact.HostNetwork, "true"), fact.DNSPolicy, "ClusterFirstWithHostNet"), "kubelet-dns-config"},
	})
}
