package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// autopathMismatch: CoreDNS walks the search list for its clients (plugin autopath), and the list that it walks is not this pod's. Either
// the first answer is an alias of the host in a domain that the pod does not search, or the pod's own list would have led elsewhere, or
// the plugin has no effect for this pod at all: it is told by the client's address, which is another one behind a cache on the node, and
// it takes domains from its own resolv.conf in the place of the pod's.
var autopathMismatch = rule{class: "autopath-mismatch", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.autopathFinding(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if _, target := v.autopathAnswer(r); target == "" || v.server(r) == "" {
			continue
		}
		for _, name := range v.passedOver(r) {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, name))
		}
	}
	return asks
}, page: page{
	needs: "autopath in the Corefile, and either an answer to the first search domain that is an alias of the host under another domain than the pod's list " +
		"has, or a name of the pod's own list that has another address, or NXDOMAIN for the first search domain although a later name exists.",
	remedies: "No dnsConfig searches for pods that go through autopath; the plugin kubernetes with `pods verified`; no cache between the pod and CoreDNS. Or take " +
		"autopath out and lower ndots where it counts.",
	wrong: "More search domains: autopath does not see them.",
}}

// hasAutopath says whether a Corefile that answers for the pod has the plugin.
func (v *view) hasAutopath() bool {
	blocks, _ := v.facts.Corefile(fact.Corefile)
	return slices.ContainsFunc(blocks, func(b fact.ServerBlock) bool { return len(b.Named("autopath")) > 0 })
}

// autopathAnswer returns the attempt that autopath answered, and the name that the answer is about, when it is the host under some domain or
// the host itself; empty otherwise.
func (v *view) autopathAnswer(r *probe.Resolution) (*probe.Attempt, string) {
	d := decided(r)
	if r.Outcome != probe.OK || d == nil || d.Origin != probe.OriginSearch || d.SearchIndex != 0 || !v.hasAutopath() {
		return nil, ""
	}
	for _, q := range d.Queries {
		for _, answer := range q.Answers {
			target := canonical(answer.Data)
			if answer.Type == "CNAME" && canonical(answer.Name) == canonical(d.Name) && endsWithHost(target, canonical(r.Host)) && target != canonical(d.Name) &&
				(target == canonical(r.Host) || v.noServiceAt(d.Name)) {
				return d, target
			}
		}
	}
	return nil, ""
}

// noServiceAt says whether it is known that a name is not that of a Service of type ExternalName: such an alias often begins with the
// Service's own name.
func (v *view) noServiceAt(name string) bool {
	service, namespace, ok := Service(name, v.zone)
	if !ok || canonical(name) != service+"."+namespace+".svc."+canonical(v.zone) {
		return ok
	}
	s, known := v.facts.Service(service, namespace)
	return known && s.ExternalName == ""
}

// endsWithHost says whether name is the host, or the host with a domain behind it.
func endsWithHost(name, host string) bool { return name == host || strings.HasPrefix(name, host+".") }

// passedOver are the names of the pod's own list that come before the one that autopath answered with, without the first, which was asked.
func (v *view) passedOver(r *probe.Resolution) []string {
	_, target := v.autopathAnswer(r)
	var names []string
	for i, domain := range v.run.Settings.Search {
		name := canonical(r.Host) + "." + canonical(domain)
		if name == target {
			break
		}
		if i > 0 && domainFits(domain) && len(names) < mostBeyond && !probe.InZone(name, v.zone) {
			names = append(names, name)
		}
	}
	return names
}

func (v *view) autopathFinding(r *probe.Resolution) (probe.Finding, bool) {
	if d, target := v.autopathAnswer(r); target != "" {
		domain := strings.TrimPrefix(strings.TrimPrefix(target, canonical(r.Host)), ".")
		mine := domain == "" || slices.ContainsFunc(v.run.Settings.Search, func(s string) bool { return canonical(s) == domain })
		if !mine {
			f := v.autopath(r, d, probe.Warning)
			f.Title = fmt.Sprintf("CoreDNS answers %s with %s: its autopath walks a search list that is not this pod's.", clean(r.Host), bare(target))
			f.Explain += fmt.Sprintf(" %s is not among the pod's search domains, so without autopath the application would get something else.", clean(domain))
			return f, true
		}
		for _, name := range v.passedOver(r) {
			if other := v.foundAt(v.server(r), name); other != nil && !sharesAnswer(r, other) {
				f := v.autopath(r, d, probe.Critical)
				f.Title = fmt.Sprintf("CoreDNS answers %s with %s, but the pod's own search list leads to %s first: autopath walks another list.", clean(r.Host), bare(target), bare(name))
				f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked for directly: %s", bare(name), list(answersOf(other))), Resolution: other.ID})
				return f, true
			}
		}
		return probe.Finding{}, false
	}
	return v.autopathIdle(r)
}

// autopathIdle finds that the plugin does nothing for this pod: the first search domain of a host that a later name has was denied.
func (v *view) autopathIdle(r *probe.Resolution) (probe.Finding, bool) {
	d := decided(r)
	if !v.hasAutopath() || r.Outcome != probe.OK || d == nil || len(r.Attempts) == 0 || v.namespace() == "" {
		return probe.Finding{}, false
	}
	first := &r.Attempts[0]
	own := canonical(r.Host) + "." + canonical(v.namespace()) + ".svc." + canonical(v.zone)
	if first.Decided || first.Origin != probe.OriginSearch || canonical(first.Name) != own || !allReplies(first, "NXDOMAIN") {
		return probe.Finding{}, false
	}
	f := v.autopath(r, first, probe.Info)
	f.Title = fmt.Sprintf("autopath is on in CoreDNS, but has no effect for this pod: %s is answered NXDOMAIN, although %s exists.", bare(first.Name), bare(d.Name))
	if cache, known := v.facts.NodeCache(); known && cache.Exists {
		f.Explain += " Here NodeLocal DNSCache asks in the pod's place, so CoreDNS does not see the pod's address."
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "a NodeLocal DNSCache runs on the node", Fact: fact.NodeLocal})
	}
	return f, true
}

func (v *view) autopath(r *probe.Resolution, a *probe.Attempt, severity probe.Severity) probe.Finding {
	return probe.Finding{
		Severity: severity,
		Explain: "autopath finds out which pod asks by its address, takes the first search domain from that pod's namespace, and the rest from CoreDNS's own " +
			"resolv.conf, not from the pod's.",
		Evidence: []probe.Evidence{v.see(r, a), {Text: "the Corefile has autopath", Fact: fact.Corefile}},
		Remedies: []probe.Remedy{
			{Text: "Take autopath out of the Corefile, and lower ndots for the workloads whose names are outside.", Caveat: "A change of the whole cluster: pods that gained by it then walk the list themselves."},
			{Text: "Or keep it, with `pods verified` in the plugin kubernetes, without searches in this pod's dnsConfig and without a cache between the pod and CoreDNS."},
		},
	}
}
