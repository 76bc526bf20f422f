package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The facts that this rule rests on, by their names in probe.Run.Facts.
const (
	factDNSPolicy   = "dnsPolicy"
	factHostNetwork = "hostNetwork"
)

// wrongDNSPolicy: a pod on the node's network says ClusterFirst, which Kubernetes then treats as Default (k8s.io/kubernetes
// pkg/kubelet/network/dns, getPodDNSType), and a host that looks like a Service was not found.
var wrongDNSPolicy = rule{class: "wrong-dns-policy", judge: func(v *view) []probe.Finding {
	if v.zone != "" || v.run.Facts[factDNSPolicy].Value != "ClusterFirst" || v.run.Facts[factHostNetwork].Value != "true" {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		if r.Outcome != probe.NXDomain || !allNXDomain(r) || !likeService(r.Host) {
			continue
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Critical,
			Title: fmt.Sprintf("%s cannot be found: dnsPolicy ClusterFirst has no effect on a hostNetwork pod, which asks the node's nameserver.",
				clean(r.Host)),
			Explain: "The settings have neither the cluster's nameserver nor its search domains, so no Service of the cluster can be resolved. Names " +
				"outside are not affected.",
			Evidence: []probe.Evidence{
				{Text: "dnsPolicy: ClusterFirst", Fact: factDNSPolicy},
				{Text: "hostNetwork: true", Fact: factHostNetwork},
				{Text: "search list: " + listOr(v.run.Settings.Search, "empty")},
				v.see(r, &r.Attempts[0]),
			},
			Remedies: []probe.Remedy{{
				Text:   "Set dnsPolicy to ClusterFirstWithHostNet in the pod template.",
				Caveat: "No option of dnsConfig helps: the pod asks the wrong server.",
			}},
		})
	}
	return findings
}}

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
