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
			if server == "" || answeredOverTCP(a) || r.Outcome == probe.OK && a.Decided {
				continue
			}
			direct := v.heard(over(addressOf(server), probe.TCP), "")
			swallowed := len(direct) >= 2 && number(direct, transmission.lost) == len(direct)
			if len(direct) > 0 && !swallowed || !swallowed && a.Duration < slow {
				continue
			}
			findings = append(findings, v.tcpFinding(r, a, server, direct))
			break
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if server := truncatedBy(a); server != "" && !answeredOverTCP(a) && (r.Outcome != probe.OK || !a.Decided) {
				return []FollowUp{ask(over(addressOf(server), probe.TCP), v.control(), probe.TypeA).again(2)}
			}
		}
	}
	return nil
}, page: page{
	needs: "A reply with TC set over UDP, and a connection over TCP to the same server that is swallowed: for the libc, or twice when it is asked " +
		"directly for a small name.",
	remedies: "Allow 53/TCP beside 53/UDP. On glibc the option edns0 makes room for answers of up to 1200 bytes until then.",
	wrong:    "use-vc: it sends everything the blocked way. A shorter timeout: glibc waits for a connection as long as the kernel tries.",
}}

func (v *view) tcpFinding(r *probe.Resolution, a *probe.Attempt, server string, direct []transmission) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Title: fmt.Sprintf("the answer for %s does not fit into UDP, and TCP port 53 of %s cannot be reached: %s lost.",
			clean(a.Name), clean(server), took(a.Duration)),
		Explain: "The reply over UDP has TC set, so the libc asks again over TCP, and nothing comes back. Names with small answers are not " +
			"affected, which makes this look like a fault of one host.",
		Evidence: []probe.Evidence{at(r, a, fmt.Sprintf("%s: truncated over UDP, then %s over TCP after %s", clean(a.Name), a.Outcome, took(a.Duration)))},
		Remedies: []probe.Remedy{{Text: "Allow TCP port 53 beside UDP: in the NetworkPolicies that select this pod, and in firewalls on the way."}},
	}
	if a.Duration < slow {
		f.Title = fmt.Sprintf("the answer for %s does not fit into UDP, and TCP port 53 of %s cannot be reached.", clean(a.Name), clean(server))
		f.Explain = fmt.Sprintf("The reply over UDP has TC set, and this %s does not ask again over TCP. One that does would wait for nothing: "+
			"TCP to the same server is swallowed.", v.libcOf(r))
		f.Evidence[0] = at(r, a, clean(a.Name)+": truncated over UDP")
	}
	if len(direct) > 0 {
		f.Evidence = append(f.Evidence, direct[0].evidence(fmt.Sprintf("%s asked over TCP for %s, a small answer: no connection, %s", clean(server),
			clean(direct[0].r.Host), times(len(direct)))))
	}
	addr := addressOf(server)
	if v.blocks(probe.TCP, addr) && !v.blocks(probe.UDP, addr) {
		f.Evidence = append(f.Evidence, v.policyEvidence()...)
		f.Remedies[0] = v.allowDNS("53/TCP, beside 53/UDP")
		f.Explain += fmt.Sprintf(" %s %s 53/UDP only.", v.policyNames(), v.policyVerb("allows", "allow"))
	}
	if r.Libc == probe.Glibc {
		f.Remedies = append(f.Remedies, probe.Remedy{
			Text:   "Until then set the option edns0 in dnsConfig: glibc then takes answers of up to 1200 bytes over UDP.",
			Caveat: "An answer that is larger still needs TCP. Do not set use-vc: it sends everything the blocked way.",
		})
	} else {
		f.Remedies = append(f.Remedies, probe.Remedy{Text: "No dnsConfig change helps: " + libcName(r.Libc) + " does not listen to the option edns0."})
	}
	return f
}

// libcOf names the libc of a resolution with its version, as far as they are known.
func (v *view) libcOf(r *probe.Resolution) string {
	name := libcName(r.Libc)
	if r.LibcVersion != "" {
		name += " " + clean(r.LibcVersion)
	}
	return name
}

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
