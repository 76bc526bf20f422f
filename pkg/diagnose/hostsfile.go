package diagnose

import (
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// answeredByHosts is Resolution.AnsweredBy for /etc/hosts; answeredByLiteral that for an address.
const (
	answeredByHosts   = "hosts"
	answeredByLiteral = "literal"
)

// hostsFile: the target's /etc/hosts answered, so DNS had no say.
var hostsFile = rule{class: "hosts-file", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if r.AnsweredBy != answeredByHosts || r.Outcome != probe.OK {
			continue
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Info,
			Title:    "/etc/hosts of the target answers for " + clean(r.Host) + ": no query is sent.",
			Explain:  "Nothing in DNS changes what the application gets for this host. hostAliases of the pod and the image both write to that file.",
			Evidence: []probe.Evidence{{Text: clean(r.Host) + ": " + list(addresses(r)) + " from /etc/hosts", Resolution: r.ID}},
		})
	}
	return findings
}, page: page{
	needs:    "A resolution that /etc/hosts of the target answered, so that no query was sent.",
	remedies: "Where the address is not meant, take the line out of the pod's hostAliases or out of the image.",
	wrong:    "Anything about DNS, ndots or CoreDNS: none of them is asked for this host.",
}}

func addresses(r *probe.Resolution) []string {
	var words []string
	for _, a := range r.Addresses {
		words = append(words, clean(a))
	}
	return words
}
