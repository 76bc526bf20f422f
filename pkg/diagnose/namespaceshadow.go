package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// namespaceShadow: a Service answers for a host that is also a name outside of the cluster, since its namespace is called like a domain
// there and the search list comes first.
var namespaceShadow = rule{class: "namespace-shadow", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		d := v.shadowing(r)
		if d == nil {
			continue
		}
		own := v.foundAt(v.server(r), canonical(r.Host))
		if own == nil || sharesAnswer(r, own) {
			continue
		}
		// Where every name outside gets an address, that of the host proves nothing.
		test := v.said(probe.Question{Server: v.server(r)}, v.randomBeside(r.Host))
		if test == nil || test.Outcome == probe.OK && sharesAnswer(own, test) || !gotReply(test) {
			continue
		}
		findings = append(findings, v.shadowFinding(r, own, d))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		server := v.server(r)
		if v.shadowing(r) == nil || server == "" {
			continue
		}
		asks = append(asks, ask(probe.Question{Server: server}, canonical(r.Host)))
		if own := v.foundAt(server, canonical(r.Host)); own != nil && !sharesAnswer(r, own) {
			asks = append(asks, ask(probe.Question{Server: server}, v.randomBeside(r.Host)))
		}
	}
	return asks
}, page: page{
	needs: "A host with a dot that a Service of the cluster answered through the search list; the host itself with another address when it is asked for as it " +
		"is; a random name beside it that does not have that address.",
	remedies: "A final dot for the outside name in the application's configuration, or another name for the namespace. ndots 1 sends every host with a dot " +
		"outside first.",
	wrong: "\"A wildcard in the search domain\": it is one Service. \"Healthy, the name resolves\": to somebody else's address.",
}}

// shadowing returns the attempt by which a Service answered for a host of the form NAME.NAMESPACE; nil when none did.
func (v *view) shadowing(r *probe.Resolution) *probe.Attempt {
	d := decided(r)
	if r.Outcome != probe.OK || d == nil || d.Origin != probe.OriginSearch || isHost(d, r) || dots(r.Host) == 0 || probe.InZone(r.Host, v.zone) {
		return nil
	}
	service, namespace, ok := Service(d.Name, v.zone)
	if !ok || canonical(r.Host) == service || !endsWith(canonical(r.Host), service+"."+namespace) {
		return nil
	}
	return d
}

// endsWith says whether name is suffix, or ends with it behind a dot.
func endsWith(name, suffix string) bool { return probe.InZone(name, suffix) }

func (v *view) shadowFinding(r, own *probe.Resolution, d *probe.Attempt) probe.Finding {
	service, namespace, _ := Service(d.Name, v.zone)
	f := probe.Finding{
		Severity: probe.Warning,
		Title: fmt.Sprintf("%s is also a name outside of the cluster: the application gets %s from Service %s in namespace %s, outside it has %s.", clean(r.Host),
			list(answersOf(r)), clean(service), clean(namespace), list(answersOf(own))),
		Explain: fmt.Sprintf("The search list makes %s of it before the name itself is asked. Whoever may create Services in namespace %s decides where connections to this host go: "+
			"if the outside name is meant, that is a matter of security.", bare(d.Name), clean(namespace)),
		Evidence: []probe.Evidence{
			at(r, d, fmt.Sprintf("%s: %s", bare(d.Name), list(answersOf(r)))),
			{Text: fmt.Sprintf("%s itself, asked for directly: %s", bare(r.Host), list(answersOf(own))), Resolution: own.ID},
		},
		Remedies: []probe.Remedy{
			{Text: fmt.Sprintf("If the outside name is meant: let the application ask for %q, with a final dot.", bare(r.Host)+"."), Caveat: "The dot reaches TLS and HTTP as part of the name, which some servers refuse."},
			{
				Text: fmt.Sprintf("Or set ndots to %d, so that hosts with %s are asked as they are first.", dots(r.Host), count(dots(r.Host), "dot", "dots")),
				Caveat: "Short names of Services with as many dots then cost two more queries that leave the cluster, and on musl they are no longer found." +
					" Should such a name exist outside, it wins.",
			},
			{Text: fmt.Sprintf("Or rename the namespace %s: a namespace should not be called like a top-level domain.", clean(namespace))},
		},
	}
	name := fact.NamespacePrefix + namespace
	if text, known := v.facts.Text(name); known && text != fact.None {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: "namespace " + clean(namespace) + " exists", Fact: name})
	}
	return f
}
