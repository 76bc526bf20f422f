package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// tcp53Blocked: a reply did not fit into UDP (TC is set), and TCP to the server that said so swallowed the connection, while
// its UDP port answers.
//
// A TCP port that refuses is no blocked path but a server that does not speak TCP: nothing is claimed then.
var tcp53Blocked = rule{class: "tcp53-blocked", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			server := truncatedBy(a)
			if server == "" || a.Duration < slow || answeredOverTCP(a) || r.Outcome == probe.OK && a.Decided {
				continue
			}
			findings = append(findings, probe.Finding{
				Severity: severity(r),
				Title: fmt.Sprintf("the answer for %s does not fit into UDP, and TCP port 53 of %s cannot be reached: %s lost.",
					clean(a.Name), clean(server), took(a.Duration)),
				Explain: "The reply over UDP has TC set, so the libc asks again over TCP, and nothing comes back. Names with small answers are not " +
					"affected, which makes this look like a fault of one host.",
				Evidence: []probe.Evidence{at(r, a, fmt.Sprintf("%s: truncated over UDP, then %s over TCP after %s", clean(a.Name), a.Outcome, took(a.Duration)))},
				Remedies: []probe.Remedy{
					{Text: "Allow TCP port 53 beside UDP: in the NetworkPolicies that select this pod, and in firewalls on the way."},
					{
						Text:   "Until then set the option edns0 in dnsConfig: glibc then takes answers of up to 1200 bytes over UDP.",
						Caveat: "An answer that is larger still needs TCP. Do not set use-vc: it sends everything the blocked way.",
					},
				},
			})
			break
		}
	}
	return findings
}}

// truncatedBy returns the server whose UDP reply in a has TC set, empty when none has.
func truncatedBy(a *probe.Attempt) string {
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.Transport == probe.UDP && t.Received != nil && slices.Contains(t.Flags, "TC") {
				return host(t.Server)
			}
		}
	}
	return ""
}

// answeredOverTCP says whether a got anything over TCP, a refusal included.
func answeredOverTCP(a *probe.Attempt) bool {
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.Transport == probe.TCP && (t.Received != nil || t.Reply != probe.ReplyLost && t.Reply != probe.ReplyAbandoned) {
				return true
			}
		}
	}
	return false
}
