package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nodeLocalBlocked: the NodeLocal DNSCache on the pod's node is ready and silent for this pod, whose NetworkPolicies allow the
// cluster's DNS but not the cache's address, while the DNS behind it answers this pod.
//
// A selector of pods never covers the cache: it runs on the node's network.
var nodeLocalBlocked = rule{class: "nodelocal-blocked", judge: func(v *view) []probe.Finding {
	sent, servers := v.totalSilence()
	cache, known := v.facts.NodeCache()
	if len(sent) < samples || !known || !cache.Ready {
		return nil
	}
	policies, _ := v.facts.Policies()
	for _, s := range servers {
		if !v.isNodeCache(s) || len(policies) == 0 || fact.Allows(policies, string(probe.UDP), s, false) {
			return nil
		}
	}
	beyond, ok := v.answersPast(servers[0])
	if !ok {
		return nil
	}
	other := addressOf(beyond.t.Server)
	block := netip.PrefixFrom(servers[0], servers[0].BitLen())
	f := probe.Finding{
		Severity: probe.Critical,
		Title: fmt.Sprintf("%s %s the cluster's DNS, but not %s, where this pod asks: 0 replies to %s.", v.policyNames(), v.policyVerb("allows", "allow"),
			servers[0], count(len(sent), "message", "messages")),
		Explain: fmt.Sprintf("The NodeLocal DNSCache on this node is ready, and its address belongs to the node: no selector of pods matches it. %s replies to "+
			"this pod.", other),
		Evidence: append([]probe.Evidence{
			sent[0].evidence(fmt.Sprintf("%s: 0 replies to %s", servers[0], count(len(sent), "message", "messages"))),
			beyond.evidence(fmt.Sprintf("%s asked directly for %s: %s", other, clean(beyond.r.Host), fate(beyond))),
			v.known(fact.NodeLocal, "NodeLocal DNSCache: "+clean(cache.Text())),
		}, v.policyEvidence()...),
		Remedies: []probe.Remedy{
			{Text: fmt.Sprintf("Allow egress to ipBlock %s on 53/UDP and 53/TCP, beside the rule for the DNS pods.", block)},
			{
				Text:   fmt.Sprintf("Until then set dnsPolicy to None with nameserver %s, the same search domains and ndots %d.", v.past(other), v.run.Settings.Ndots),
				Caveat: "The pod then asks past the cache. No option of dnsConfig keeps the cache and helps.",
			},
		},
	}
	return []probe.Finding{f}
}, asks: func(v *view) []FollowUp {
	sent, servers := v.totalSilence()
	if len(sent) == 0 || !v.isNodeCache(servers[0]) {
		return nil
	}
	var asks []FollowUp
	for _, addr := range v.behindCache(servers[0]) {
		asks = append(asks, ask(over(addr, probe.UDP), v.control(), probe.TypeA))
	}
	return asks
}, page: page{
	needs: "The facts `nodeLocal` and `networkPolicies`, total silence of the cache, and a reply to this pod from the cluster's DNS Service or a pod " +
		"behind it.",
	remedies: "An ipBlock rule for the cache's address on 53/UDP and 53/TCP. Until then dnsPolicy None with the address of the Service.",
	wrong:    "CoreDNS is down: it answers this pod. Another podSelector: none matches the cache, which runs on the node's network.",
}}

// behindCache are the servers that a NodeLocal DNSCache stands in front of: the Service, unless the cache listens on its address too, and
// an endpoint.
func (v *view) behindCache(cache netip.Addr) []netip.Addr {
	var out []netip.Addr
	if s := v.service(); s.IsValid() && s != cache && !v.isNodeCache(s) {
		out = append(out, s)
	}
	for _, e := range v.dnsPods()[:min(1, len(v.dnsPods()))] {
		out = append(out, e.Address)
	}
	return out
}

// answersPast returns a reply that one of them gave to this pod.
func (v *view) answersPast(cache netip.Addr) (transmission, bool) {
	for _, addr := range v.behindCache(cache) {
		if replies := only(v.heard(over(addr, probe.UDP), ""), transmission.replied); len(replies) > 0 {
			return replies[0], true
		}
	}
	return transmission{}, false
}

// past is the address to set in the place of the cache's: that of the Service where it is known.
func (v *view) past(other netip.Addr) string {
	if s := v.service(); s.IsValid() && !v.isNodeCache(s) {
		return s.String()
	}
	return other.String()
}
