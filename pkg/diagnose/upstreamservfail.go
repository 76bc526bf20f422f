package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// upstreamServFail: the host itself gets nothing but SERVFAIL, while the same run shows the cluster's own names answered.
var upstreamServFail = rule{class: "upstream-servfail", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		var failed, fine *probe.Attempt
		for i := range r.Attempts {
			a := &r.Attempts[i]
			switch {
			case isHost(a, r) && v.leaves(a.Name) && allReplies(a, "SERVFAIL"):
				failed = a
			case v.zone != "" && !v.leaves(a.Name) && answered(a) && !allReplies(a, "SERVFAIL"):
				fine = a
			}
		}
		if failed == nil || fine == nil || r.Outcome == probe.OK {
			continue
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Critical,
			Title: fmt.Sprintf("%s gets SERVFAIL, while names of the cluster are answered: the fault lies behind the cluster's DNS.",
				clean(failed.Name)),
			Explain: "The cluster's DNS passes this name on and reports that it got no usable answer: an upstream that fails or cannot be " +
				"reached, a broken delegation, or DNSSEC that does not validate.",
			Evidence: []probe.Evidence{
				v.see(r, failed),
				v.see(r, fine),
			},
			Remedies: []probe.Remedy{
				{Text: "Ask the upstreams of the forward plugin for " + bare(r.Host) + ", and read the errors that CoreDNS logs for it."},
				{Text: "No dnsConfig change helps: the pod asks the right server."},
			},
		})
	}
	return findings
}}
