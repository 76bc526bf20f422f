package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// externalName: the host is a Service of type ExternalName, that is an alias of a name elsewhere. It has an address only when that name
// has one, and the application connects to somebody who knows nothing of the Service's name.
var externalName = rule{class: "external-name", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.aliasFinding(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if _, target := v.aliasOf(r); target != "" && r.Outcome != probe.OK && v.server(r) != "" && !isAddress(target) {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, target))
		}
	}
	return asks
}, page: page{
	needs:    "A Service of type ExternalName that a name of the trace means, from the cluster's facts; for a host that fails also what its target was answered.",
	remedies: "A target that exists and is a name, not an address. For TLS and HTTP: the outside name in the application's own configuration.",
	wrong:    "\"The Service has no endpoints\": this type has none. An IP address as externalName is taken for a name.",
}}

// aliasOf returns the ExternalName Service that a name of r means, and what it is an alias of; empty when none is.
func (v *view) aliasOf(r *probe.Resolution) (meant, string) {
	d := decided(r)
	for _, m := range v.meanings(r) {
		if r.Outcome == probe.OK && d != nil && canonical(d.Name) != m.name {
			continue
		}
		if s, known := v.facts.Service(m.service, m.namespace); known && s.Exists && s.ExternalName != "" && m.pod == "" {
			return m, canonical(s.ExternalName)
		}
	}
	return meant{}, ""
}

func (v *view) aliasFinding(r *probe.Resolution) (probe.Finding, bool) {
	m, target := v.aliasOf(r)
	if target == "" {
		return probe.Finding{}, false
	}
	name := fact.ServiceName(m.service, m.namespace)
	f := probe.Finding{
		Severity: probe.Info,
		Evidence: []probe.Evidence{
			{Text: fmt.Sprintf("Service %s in namespace %s is an ExternalName for %s", clean(m.service), clean(m.namespace), clean(target)), Fact: name},
			v.see(r, v.attemptNamed(r, m.name)),
		},
	}
	if r.Outcome == probe.OK {
		f.Title = fmt.Sprintf("%s is an alias: Service %s only stands for %s, and has its addresses.", clean(r.Host), clean(m.service), clean(target))
		f.Explain = fmt.Sprintf("Every lookup asks outside of the cluster's own zone for %s. The server there does not know the name %s: certificates and virtual hosts are those of %s.",
			clean(target), clean(r.Host), clean(target))
		f.Remedies = []probe.Remedy{{Text: fmt.Sprintf("Where TLS or HTTP refuse the name: let the application ask for %s itself.", clean(target))}}
		return f, true
	}
	f.Severity = probe.Critical
	if _, err := netip.ParseAddr(target); err == nil {
		f.Title = fmt.Sprintf("%s does not resolve: Service %s is an ExternalName for %s, an address, which DNS takes for a name that nobody has.", clean(r.Host), clean(m.service), clean(target))
		f.Explain = "externalName has to be a name. What looks like an address becomes the target of an alias, and no such name exists."
		f.Remedies = []probe.Remedy{{Text: fmt.Sprintf("Make it a Service without a selector, with an EndpointSlice that has the address %s.", clean(target))}}
		return f, true
	}
	said := v.said(probe.Question{Server: v.server(r)}, target)
	if said == nil || !gotReply(said) || said.Outcome == probe.OK {
		return probe.Finding{}, false
	}
	f.Title = fmt.Sprintf("%s does not resolve: Service %s is an alias of %s, and that name does not resolve.", clean(r.Host), clean(m.service), clean(target))
	f.Explain = "The Service itself is fine: an ExternalName has an address only when its target has one."
	f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked for directly: %s", clean(target), replies(&said.Attempts[0])), Resolution: said.ID})
	f.Remedies = []probe.Remedy{
		{Text: fmt.Sprintf("Look at the spelling of spec.externalName of Service %s, and at whether the cluster's DNS may ask for %s.", clean(m.service), clean(target))},
	}
	return f, true
}
