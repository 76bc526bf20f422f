package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// wrongDNSPolicy: the pod's dnsPolicy gives it a nameserver that knows no Services, and a host that looks like a Service was not
// found. Either the pod is on the node's network and says ClusterFirst, which Kubernetes then treats as Default (k8s.io/kubernetes
// pkg/kubelet/network/dns, getPodDNSType), or it says Default or None, and the cluster's DNS knows the host.
var wrongDNSPolicy = rule{class: "wrong-dns-policy", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.policyFinding(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if server, name := v.clusterQuestion(r); server != "" && v.lacksCluster(r) {
			asks = append(asks, ask(probe.Question{Server: server}, name))
		}
	}
	return asks
}, page: page{
	needs: "dnsPolicy and hostNetwork of the pod, settings without the cluster's search domains, a host with the shape of a Service that was denied; " +
		"for the policies Default and None also a reply of the cluster's DNS that has it.",
	remedies: "ClusterFirstWithHostNet for a pod on the node's network, ClusterFirst for others.",
	wrong:    "Options of dnsConfig: the pod asks a server that knows no Services. CoreDNS is not down, it is never asked.",
}}

// lacksCluster says whether r's host looks like a Service, was denied, and the settings have nothing of the cluster.
func (v *view) lacksCluster(r *probe.Resolution) bool {
	return v.zone == "" && r.Outcome == probe.NXDomain && allNXDomain(r) && likeService(r.Host)
}

func (v *view) policyFinding(r *probe.Resolution) (probe.Finding, bool) {
	if !v.lacksCluster(r) {
		return probe.Finding{}, false
	}
	policy, _ := v.facts.Text(fact.DNSPolicy)
	server, name := v.clusterQuestion(r)
	known := v.knownToCluster(r)
	f := probe.Finding{
		Severity: probe.Critical,
		Explain: "The settings have neither the cluster's nameserver nor its search domains, so no Service of the cluster can be resolved. Names " +
			"outside are not affected.",
		Evidence: []probe.Evidence{{Text: "dnsPolicy: " + clean(policy), Fact: fact.DNSPolicy}},
	}
	remedy := probe.Remedy{Caveat: "No option of dnsConfig helps: the pod asks the wrong server."}
	switch {
	case policy == "ClusterFirst" && v.onNodesNetwork():
		if server != "" && v.deniedAt(server, name) != nil {
			// The cluster does not know it either: the policy is not what keeps it from being found.
			return probe.Finding{}, false
		}
		f.Title = fmt.Sprintf("%s cannot be found: dnsPolicy ClusterFirst has no effect on a hostNetwork pod, which asks the node's nameserver.", clean(r.Host))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "hostNetwork: true", Fact: fact.HostNetwork})
		remedy.Text = "Set dnsPolicy to ClusterFirstWithHostNet in the pod template."
	case (policy == "Default" || policy == "None") && known != nil && !v.asksCluster():
		f.Title = fmt.Sprintf("%s cannot be found: with dnsPolicy %s the pod asks %s, which knows no Services.", clean(r.Host), policy, listOr(v.run.Settings.Nameservers, "another server"))
		remedy.Text = "Set dnsPolicy to " + v.clusterPolicy() + " in the pod template."
		if policy == "None" {
			remedy.Caveat = fmt.Sprintf("Or keep None and write out nameserver %s and the cluster's search domains.", clean(server))
		}
	case (policy == "Default" || policy == "None") && known != nil:
		f.Title = fmt.Sprintf("%s cannot be found: with dnsPolicy %s the search list has none of the cluster's domains.", clean(r.Host), policy)
		f.Explain = "The pod asks the cluster's DNS, but a short name only becomes that of a Service through the search list."
		remedy = probe.Remedy{
			Text:   "Set dnsPolicy to " + v.clusterPolicy() + " in the pod template.",
			Caveat: fmt.Sprintf("Or add the cluster's search domains to dnsConfig, or ask for the full name %s.", bare(known.Host)),
		}
	default:
		return probe.Finding{}, false
	}
	f.Evidence = append(f.Evidence, probe.Evidence{Text: "search list: " + listOr(v.run.Settings.Search, "empty")}, v.see(r, &r.Attempts[0]))
	if known != nil {
		f.Explain += fmt.Sprintf(" The cluster's DNS at %s has it as %s.", clean(server), bare(known.Host))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(server), bare(known.Host), list(answersOf(known))), Resolution: known.ID})
	}
	f.Remedies = []probe.Remedy{remedy}
	return f, true
}

// clusterPolicy is the policy by which a pod gets the cluster's DNS.
func (v *view) clusterPolicy() string {
	if v.onNodesNetwork() {
		return "ClusterFirstWithHostNet"
	}
	return "ClusterFirst"
}

// likeService says whether a host has the shape of a Service's name: NAME, NAME.NAMESPACE, or one with svc in it.
func likeService(host string) bool {
	host = canonical(host)
	return strings.Count(host, ".") <= 1 || strings.HasSuffix(host, ".svc") || strings.Contains(host, ".svc.")
}

func listOr(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	cleaned := make([]string, len(words))
	for i, w := range words {
		cleaned[i] = clean(w)
	}
	return list(cleaned)
}
