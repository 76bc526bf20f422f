package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// egressBlocked: nothing came back over UDP nor TCP, and the NetworkPolicies that select the pod let neither pass to the servers.
//
// Silence alone proves no policy: a dead server and a broken network are as silent. So the policies have to be known, and both
// protocols have to be tried.
var egressBlocked = rule{class: "egress-blocked", judge: func(v *view) []probe.Finding {
	sent, servers := v.totalSilence()
	if len(sent) < samples || v.found[noEndpoints.class] || !v.blocksAll(probe.UDP, servers) || !v.blocksAll(probe.TCP, servers) {
		return nil
	}
	overTCP := v.heard(over(servers[0], probe.TCP), "")
	if len(overTCP) == 0 || number(overTCP, transmission.lost) < len(overTCP) || v.reachedElsewhere(servers) {
		return nil
	}
	f := probe.Finding{
		Severity: probe.Critical,
		Title: fmt.Sprintf("%s %s not let this pod reach its DNS: 0 replies to %s over UDP and %s over TCP.", v.policyNames(),
			v.policyVerb("does", "do"), count(len(sent), "message", "messages"), count(len(overTCP), "connection", "connections")),
		Explain:  v.silenceText(servers),
		Evidence: []probe.Evidence{sent[0].evidence(fmt.Sprintf("%s: 0 replies to %s", servers[0], count(number(sent, udpTo(servers[0])), "message", "messages")))},
		Remedies: []probe.Remedy{
			v.allowDNS("53/UDP and 53/TCP"),
			{Text: "No dnsConfig change helps. A longer timeout or more attempts only make the failure slower."},
		},
	}
	f.Evidence = append(f.Evidence, overTCP[0].evidence(fmt.Sprintf("%s over TCP: no connection", servers[0])))
	f.Evidence = append(f.Evidence, v.directSilence()...)
	f.Evidence = append(f.Evidence, v.policyEvidence()...)
	return []probe.Finding{f}
}, asks: func(v *view) []FollowUp {
	sent, servers := v.totalSilence()
	if len(sent) == 0 || !v.inPod() {
		return nil
	}
	// A second of silence each: another name, the other protocol, then past the Service.
	asks := []FollowUp{ask(over(servers[0], probe.UDP), v.control(), probe.TypeA), ask(over(servers[0], probe.TCP), v.control(), probe.TypeA)}
	if ready, known := v.readyEndpoints(); known && len(ready) == 0 {
		return asks
	}
	if s := v.service(); s.IsValid() && !v.isService(servers[0]) {
		asks = append(asks, ask(over(s, probe.UDP), v.control(), probe.TypeA))
	}
	for _, e := range v.dnsPods()[:min(2, len(v.dnsPods()))] {
		asks = append(asks, ask(over(e.Address, probe.UDP), v.control(), probe.TypeA))
	}
	return asks
}, page: page{
	needs: "The fact `networkPolicies` (permission to list NetworkPolicies and the pods they mean), and total silence of every nameserver over UDP " +
		"and TCP.",
	remedies: "A rule that allows egress to the cluster's DNS on 53/UDP and 53/TCP, and on the port that the DNS pods listen on where the network " +
		"plugin judges by that.",
	wrong: "Timeouts and attempts: they make the failure slower or faster, and nothing else.",
}}

// totalSilence returns all messages of the hosts, and the servers they went to, when not one of them came back in any form.
func (v *view) totalSilence() (sent []transmission, servers []netip.Addr) {
	sent = v.sent()
	if len(sent) == 0 || number(sent, transmission.lost) < len(sent) {
		return nil, nil
	}
	if servers = askedAt(sent); len(servers) == 0 {
		return nil, nil
	}
	return sent, servers
}

// reachedElsewhere says whether a direct question to one of the servers, or to the servers behind the cluster's DNS Service, was
// answered over UDP.
func (v *view) reachedElsewhere(servers []netip.Addr) bool {
	ready, _ := v.readyEndpoints()
	for _, e := range ready {
		servers = append(servers[:len(servers):len(servers)], e.Address)
	}
	for _, s := range servers {
		if number(v.heard(over(s, probe.UDP), ""), transmission.replied) > 0 {
			return true
		}
	}
	return false
}

// directSilence is the evidence of endpoints that did not reply when they were asked directly.
func (v *view) directSilence() []probe.Evidence {
	var out []probe.Evidence
	for _, e := range v.dnsPods() {
		if direct := v.heard(over(e.Address, probe.UDP), ""); len(direct) > 0 && number(direct, transmission.lost) == len(direct) {
			out = append(out, direct[0].evidence(fmt.Sprintf("endpoint %s, which is ready, asked directly: no reply", called(e))))
		}
	}
	return out
}

// silenceText says what is known of the servers' side.
func (v *view) silenceText(servers []netip.Addr) string {
	text := "All messages are lost on the way, without a refusal, which is how a policy drops them. "
	ready, known := v.readyEndpoints()
	switch {
	case !v.isService(servers[0]):
		return text + "The policies below select this pod, and allow no message to " + servers[0].String() + "."
	case known:
		return text + fmt.Sprintf("The servers' side is healthy: %s of the cluster's DNS are ready. Pods that the policies do not select are not affected.",
			count(len(ready), "endpoint", "endpoints"))
	}
	return text + v.whyUnknown(fact.DNSEndpoints, "Whether the servers are ready")
}
