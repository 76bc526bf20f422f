package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// staleResolvconf: the pod's resolv.conf was made from a node's file that has changed since, and what is gone from that file, or new in
// it, decides about the host. A pod keeps the resolv.conf that it was started with.
var staleResolvconf = rule{class: "stale-resolvconf", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.staleNameservers(r); ok {
			findings = append(findings, f)
			continue
		}
		if f, ok := v.staleDomain(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if fresh := v.freshNameservers(); len(fresh) > 0 && r.Outcome != probe.OK && len(r.Attempts) > 0 {
			asks = append(asks, ask(probe.Question{Server: fresh[0]}, v.likelyName(r)))
		}
	}
	return asks
}, page: page{
	needs: "The node's file as it is now, different from what the pod has; and either a host that fails while a nameserver that is new in the node's file " +
		"knows it, or an attempt in a search domain that the node's file no longer has and that was not simply denied.",
	remedies: "Create the pod anew; a rollout restart of its owner does it for all.",
	wrong:    "Changes of dnsConfig: they make a new pod too, and would stay after the fault is gone.",
}}

// takesNodesFile says whether the pod's nameservers are those of the node's file.
func (v *view) takesNodesFile() bool {
	policy, _ := v.facts.Text(fact.DNSPolicy)
	return policy == "Default" || policy == "ClusterFirst" && v.onNodesNetwork()
}

// freshNameservers are those of the node's file when the pod has none of them although it should; nil otherwise. Where one is the same,
// the pod's list may have been cut or added to.
func (v *view) freshNameservers() []string {
	node, pod := strings.Fields(v.nodeLine("nameserver")), v.fromKubelet()
	if !v.takesNodesFile() || len(node) == 0 || len(pod) == 0 {
		return nil
	}
	if slices.ContainsFunc(node, func(s string) bool { return !isAddress(s) || isLoopback(s) || slices.Contains(pod, s) }) {
		return nil
	}
	return node
}

func (v *view) staleNameservers(r *probe.Resolution) (probe.Finding, bool) {
	fresh := v.freshNameservers()
	if len(fresh) == 0 || r.Outcome == probe.OK || len(r.Attempts) == 0 {
		return probe.Finding{}, false
	}
	known := v.foundAt(fresh[0], v.likelyName(r))
	if known == nil {
		return probe.Finding{}, false
	}
	f := v.stale(r)
	f.Title = fmt.Sprintf("%s does not resolve: the pod still asks %s, the node's file has %s by now.", clean(r.Host), listOr(v.fromKubelet(), ""), listOr(fresh, ""))
	f.Evidence = append(f.Evidence,
		probe.Evidence{Text: "nameservers of the node's file: " + listOr(fresh, ""), Fact: fact.NodeResolvConf},
		probe.Evidence{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(fresh[0]), bare(known.Host), list(answersOf(known))), Resolution: known.ID},
		v.see(r, &r.Attempts[0]))
	return f, true
}

// staleDomain finds an attempt in a search domain that came from the node, is no longer there, and did something to r.
func (v *view) staleDomain(r *probe.Resolution) (probe.Finding, bool) {
	if _, known := v.facts.Text(fact.NodeResolvConf); !known {
		return probe.Finding{}, false
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Origin != probe.OriginSearch || isHost(a, r) || a.SearchIndex < 0 || a.SearchIndex >= len(v.run.Settings.Search) || len(a.Queries) == 0 {
			continue
		}
		domain := v.run.Settings.Search[a.SearchIndex]
		ended := !a.Decided && i == len(r.Attempts)-1 && r.Outcome != probe.OK
		if a.Outcome == probe.NXDomain || a.Outcome == probe.NoData && !ended && !a.Decided || !v.goneFromNode(domain) {
			continue
		}
		f := v.stale(r)
		f.Title = fmt.Sprintf("The search domain %s, which decides about %s, is no longer in the node's file: the pod has an old copy.", bare(domain), clean(r.Host))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "search list of the node's file: " + listOr(strings.Fields(v.nodeLine("search")), "empty"), Fact: fact.NodeResolvConf}, v.see(r, a))
		return f, true
	}
	return probe.Finding{}, false
}

// goneFromNode says whether a search domain can only have come from the node's file, and is not in it now. Where the pod does not take
// anything from the node, none can.
func (v *view) goneFromNode(domain string) bool {
	policy, known := v.facts.Text(fact.DNSPolicy)
	if !known || policy == "None" || v.zone != "" && probe.InZone(domain, v.zone) {
		return false
	}
	have := append(strings.Fields(v.nodeLine("search")), strings.Fields(v.dnsConfigLine("search"))...)
	return !slices.ContainsFunc(have, func(s string) bool { return canonical(s) == canonical(domain) })
}

func (v *view) stale(r *probe.Resolution) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Explain:  "The kubelet writes a pod's resolv.conf when the pod is started, from the node's file as it is then. The node's file has changed since.",
	}
	restart := "Create the pod anew."
	if owner := v.run.Target.Owner; owner != nil && plain(strings.ToLower(owner.Kind)) && plain(owner.Name) && plain(v.run.Target.Namespace) && restarts(owner.Kind) {
		restart = fmt.Sprintf("Create the pods anew: kubectl -n %s rollout restart %s/%s", v.run.Target.Namespace, strings.ToLower(owner.Kind), owner.Name)
	}
	f.Remedies = []probe.Remedy{{Text: restart, Caveat: "Other pods that were started before the change have the same old file."}}
	if started, known := v.facts.Text(fact.PodStarted); known {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "the pod was started " + clean(started) + " ago", Fact: fact.PodStarted})
	}
	return f
}

// restarts says whether kubectl can restart objects of a kind.
func restarts(kind string) bool {
	return kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet"
}
