package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// kubeletDNSConfig: dnsPolicy asks for the cluster's DNS, but what the kubelet gave the pod is not it: no cluster domains at all, or a
// nameserver that is not the cluster's, and the cluster's DNS knows the host that this pod cannot resolve.
//
// A kubelet without clusterDNS falls back to the node's file for every pod (event MissingClusterDNS).
var kubeletDNSConfig = rule{class: "kubelet-dns-config", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if !v.wrongFromKubelet(r) {
			continue
		}
		if f, ok := v.kubeletFinding(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if server, name := v.clusterQuestion(r); server != "" && v.wrongFromKubelet(r) {
			asks = append(asks, ask(probe.Question{Server: server}, name))
		}
	}
	return asks
}, page: page{
	needs: "dnsPolicy ClusterFirst on a pod with its own network, or ClusterFirstWithHostNet; the addresses of the cluster's DNS Service, none of which the " +
		"settings have; a host that does not resolve, and a reply of the DNS Service that has it. The event MissingClusterDNS proves it alone.",
	remedies: "clusterDNS and clusterDomain in the kubelet's configuration on that node, then new pods. Where they are right already, the pod is older than " +
		"they are: create it anew.",
	wrong: "A nameserver added in each workload's dnsConfig: it comes after the wrong one. Restarting CoreDNS: it is never asked.",
}}

// wrongFromKubelet says whether the pod should have the cluster's DNS, has something else, and fails on r's host.
func (v *view) wrongFromKubelet(r *probe.Resolution) bool {
	policy, _ := v.facts.Text(fact.DNSPolicy)
	meant := policy == "ClusterFirst" && !v.onNodesNetwork() || policy == "ClusterFirstWithHostNet"
	if !meant || r.Outcome == probe.OK || len(r.Attempts) == 0 {
		return false
	}
	return !v.asksCluster() || v.missingClusterDNS() != ""
}

// missingClusterDNS is the kubelet's event, empty without one.
func (v *view) missingClusterDNS() string {
	if event := v.dnsEvent("does not have clusterdns ip configured"); event != "" {
		return event
	}
	return v.dnsEvent("missingclusterdns")
}

func (v *view) kubeletFinding(r *probe.Resolution) (probe.Finding, bool) {
	known, event := v.knownToCluster(r), v.missingClusterDNS()
	if known == nil && (event == "" || !likeService(r.Host)) {
		return probe.Finding{}, false
	}
	servers := v.fromKubelet()
	node := "the kubelet"
	if v.run.Target.Node != "" {
		node = "the kubelet of node " + clean(v.run.Target.Node)
	}
	f := probe.Finding{
		Severity: probe.Critical,
		Title: fmt.Sprintf("%s does not resolve: %s gave this pod nameserver %s, which is not the cluster's DNS (%s).", clean(r.Host), node, listOr(servers, "none"),
			listOr(v.dnsService(), "not known")),
		Explain: "dnsPolicy of the pod asks for the cluster's DNS. Which address that is the kubelet takes from clusterDNS in its own configuration, " +
			"not from the Service.",
	}
	policy, _ := v.facts.Text(fact.DNSPolicy)
	f.Evidence = []probe.Evidence{{Text: "dnsPolicy: " + clean(policy), Fact: fact.DNSPolicy}}
	if service := v.dnsService(); len(service) > 0 {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "the cluster's DNS Service has " + listOr(service, ""), Fact: fact.DNSService})
	}
	if event != "" {
		f.Explain += " This kubelet has none, so every pod on the node gets the node's own file."
		f.Evidence = append(f.Evidence, probe.Evidence{Text: clean(event), Fact: fact.DNSEvents})
	}
	if known != nil {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(v.dnsService()[0]), bare(known.Host), list(answersOf(known))), Resolution: known.ID})
	}
	f.Evidence = append(f.Evidence, v.see(r, &r.Attempts[0]))
	f.Remedies = []probe.Remedy{
		{
			Text:   fmt.Sprintf("Set clusterDNS to %s in the configuration of %s, and clusterDomain with it; restart it and create the pods anew.", listOr(v.dnsService(), "the address of the cluster's DNS Service"), node),
			Caveat: "Where it says so already, the pod is older than that change: creating it anew is enough.",
		},
		{Text: fmt.Sprintf("For this workload alone: dnsPolicy None with nameserver %s and the cluster's search domains.", listOr(v.dnsService(), "of the cluster"))},
	}
	if started, known := v.facts.Text(fact.PodStarted); known {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "the pod was started " + clean(started) + " ago", Fact: fact.PodStarted})
	}
	return f, true
}

// fromKubelet are the nameservers of the settings that dnsConfig of the pod did not add.
func (v *view) fromKubelet() []string {
	own := strings.Fields(v.dnsConfigLine("nameserver"))
	return slices.DeleteFunc(slices.Clone(v.run.Settings.Nameservers), func(s string) bool { return slices.Contains(own, s) })
}
