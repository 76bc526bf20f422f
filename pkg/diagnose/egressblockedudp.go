package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// egressBlockedUDP: the same server answers over TCP and is silent over UDP, and the NetworkPolicies that select the pod let only TCP
// pass.
var egressBlockedUDP = rule{class: "egress-blocked-udp", judge: func(v *view) []probe.Finding {
	sent, servers := v.totalSilence()
	if len(sent) < samples || !v.blocksAll(probe.UDP, servers) || v.blocks(probe.TCP, servers[0]) || v.reachedElsewhere(servers) {
		return nil
	}
	server := servers[0]
	overTCP := only(v.heard(over(server, probe.TCP), ""), transmission.replied)
	if len(overTCP) == 0 {
		return nil
	}
	m := overTCP[0]
	f := probe.Finding{
		Severity: probe.Critical,
		Title: fmt.Sprintf("%s %s this pod ask %s over TCP, but not over UDP: 0 replies to %s.", v.policyNames(), v.policyVerb("lets", "let"), server,
			count(len(sent), "message", "messages")),
		Explain: fmt.Sprintf("The server is alive: asked over TCP it replied after %s. Resolvers ask over UDP first, so every name fails.", took(m.rtt())),
		Evidence: append([]probe.Evidence{
			sent[0].evidence(fmt.Sprintf("%s over UDP: 0 replies to %s", server, count(len(sent), "message", "messages"))),
			m.evidence(fmt.Sprintf("%s over TCP: %s", server, fate(m))),
		}, v.policyEvidence()...),
		Remedies: []probe.Remedy{v.allowDNS("53/UDP, beside 53/TCP")},
	}
	if libc := sent[0].r.Libc; libc == probe.Glibc || libc == probe.Go {
		f.Remedies = append(f.Remedies, probe.Remedy{
			Text: "Until then set the option use-vc in dnsConfig: " + libcName(libc) + " then asks over TCP.", Caveat: "musl and c-ares ignore it, so containers with them stay broken.",
		})
	}
	return []probe.Finding{f}
}, page: page{
	needs:    "The fact `networkPolicies`, total silence over UDP, and a reply over TCP from the same server.",
	remedies: "Allow 53/UDP. Until then use-vc, on glibc and Go.",
	wrong:    "The server is dead: it answers over TCP.",
}}
