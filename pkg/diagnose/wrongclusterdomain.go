package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// wrongClusterDomain: the host, or the search list, has a cluster domain that is not that of this cluster, and the same Service resolves
// under the cluster's own domain.
var wrongClusterDomain = rule{class: "wrong-cluster-domain", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		wrong, right, name := v.otherZone(r)
		if name == "" {
			continue
		}
		known := v.foundAt(v.server(r), name)
		if known == nil {
			continue
		}
		findings = append(findings, v.zoneFinding(r, known, wrong, right))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if _, _, name := v.otherZone(r); name != "" && v.server(r) != "" {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, name))
		}
	}
	return asks
}, page: page{
	needs: "A host of the form NAME.NAMESPACE.svc.ZONE with another ZONE than the search list or the Corefile has, or a search list with another one than the " +
		"Corefile; and a reply that has the same Service under the cluster's own zone.",
	remedies: "A name without the zone (NAME.NAMESPACE.svc) in the application's configuration; clusterDomain of the kubelet and the zone in the Corefile " +
		"made the same where those two differ.",
	wrong: "\"The Service does not exist\". A rewrite in CoreDNS for one name hides it for that name only.",
}}

// otherZone returns the zone that r's host was looked for in, the cluster's own one, and the name that the host has there; name is
// empty when the two are the same, not known, or r was not denied.
func (v *view) otherZone(r *probe.Resolution) (wrong, right, name string) {
	if !notFound(r) {
		return "", "", ""
	}
	right = canonical(v.zone)
	served, _ := v.clusterZone()
	if served != "" {
		right = served
	}
	if right == "" {
		return "", "", ""
	}
	host := canonical(r.Host)
	_, written, inHost := strings.Cut(host, ".svc.")
	// More labels than a zone has at all can be the name of something else.
	switch {
	case inHost && written != "" && written != right:
		wrong = written
	case !inHost && v.zone != "" && canonical(v.zone) != right:
		wrong = canonical(v.zone)
	default:
		return "", "", ""
	}
	if name = v.serviceIn(host, right); name == "" {
		return "", "", ""
	}
	return wrong, right, name
}

func (v *view) zoneFinding(r, known *probe.Resolution, wrong, right string) probe.Finding {
	_, source := v.clusterZone()
	f := probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s is looked for under %s, but the domain of this cluster is %s: there it is %s.", clean(r.Host), clean(wrong), clean(right), bare(known.Host)),
		Evidence: []probe.Evidence{
			v.see(r, &r.Attempts[0]),
			{Text: fmt.Sprintf("%s, asked for directly: %s", bare(known.Host), list(answersOf(known))), Resolution: known.ID},
		},
	}
	if source != "" {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "the cluster's DNS serves " + clean(right), Fact: source})
	}
	if strings.Contains(canonical(r.Host), ".svc.") {
		f.Explain = "The cluster domain is part of the host as the application has it. Clusters can have any domain, cluster.local is only the usual one."
		short, _, _ := strings.Cut(canonical(r.Host), ".svc.")
		f.Remedies = []probe.Remedy{{
			Text: fmt.Sprintf("Let the application ask for %s.svc, which the search list completes in every cluster, or for %s.", clean(short), bare(known.Host)),
		}}
		return f
	}
	f.Explain = "The search list comes from clusterDomain of the kubelet, the records from the zone in CoreDNS's kubernetes plugin. The two have to be the same."
	f.Remedies = []probe.Remedy{
		{Text: fmt.Sprintf("Set clusterDomain to %s in the kubelet's configuration and create the pods anew, or let CoreDNS serve %s too.", clean(right), clean(wrong))},
		{Text: fmt.Sprintf("Until then let the application ask for the full name %s.", bare(known.Host))},
	}
	return f
}
