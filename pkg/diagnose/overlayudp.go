package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// overlayUDP: the DNS pod on the pod's own node answers it directly, and none of those on other nodes does over UDP: what is between
// the nodes loses UDP.
//
// With one DNS pod elsewhere, that pod itself could be at fault, unless it answers over TCP; with two on other nodes, the nodes are
// what they have in common.
var overlayUDP = rule{class: "overlay-udp", judge: func(v *view) []probe.Finding {
	sent := v.sent()
	o := v.overlay()
	if !v.overlayExplains() || number(sent, transmission.lost) == 0 {
		return nil
	}
	m := only(sent, transmission.lost)[0]
	f := probe.Finding{
		Severity: severity(m.r),
		Title: fmt.Sprintf("UDP between nodes is lost: the DNS pod on this node answers, %s on other nodes never did (0 replies to %s).",
			count(len(o.far), "pod", "pods"), count(o.farSent, "message", "messages")),
		Explain: "Lookups that the Service sends to a DNS pod on another node are lost, the others are answered. ",
		Evidence: []probe.Evidence{
			m.evidence(fmt.Sprintf("%s: no reply from %s", clean(m.a.Name), addressOf(m.t.Server))),
			o.nearReply.evidence(fmt.Sprintf("endpoint %s, on this node, asked directly: %s", called(o.near), fate(o.nearReply))),
			o.farLost.evidence(fmt.Sprintf("endpoint %s, on another node, asked directly: no reply", called(o.far[0]))),
		},
		Remedies: []probe.Remedy{
			{
				Text:   "Let the nodes reach each other on the UDP port of the overlay (VXLAN 8472 or 4789, Geneve 6081, WireGuard 51820) in firewalls and security groups.",
				Caveat: "If only some nodes are affected, compare their rules and their MTU.",
			},
			{Text: "Until then NodeLocal DNSCache, or a DNS pod on each node with internalTrafficPolicy Local on the Service."},
			{Text: "No dnsConfig change helps that asks over UDP."},
		},
	}
	if o.tcp != nil {
		f.Explain += "TCP to the same pod on another node is answered, so the pod is alive and the route is there: only UDP is lost."
		f.Evidence = append(f.Evidence, o.tcp.evidence(fmt.Sprintf("endpoint %s over TCP: %s", called(o.far[0]), fate(*o.tcp))))
		f.Remedies[0] = probe.Remedy{
			Text:   "On the nodes, switch off UDP checksum offloading of the overlay's interface (ethtool -K flannel.1 tx-checksum-ip-generic off, or that of your overlay) and see whether it ends.",
			Caveat: "That is the usual cause when TCP passes and UDP does not. A firewall between the nodes that drops UDP looks the same.",
		}
	} else {
		f.Explain += "The pods elsewhere have nothing in common but that they are on other nodes."
	}
	return []probe.Finding{f}
}, asks: func(v *view) []FollowUp {
	if number(v.sent(), transmission.lost) == 0 || !v.isServiceAsked() {
		return nil
	}
	var asks []FollowUp
	near, far := false, 0
	for _, e := range v.dnsPods() {
		direct := v.heard(over(e.Address, probe.UDP), "")
		switch {
		case v.here(e) && len(direct) == 0:
			asks = append(asks, ask(over(e.Address, probe.UDP), v.control(), probe.TypeA))
		case v.here(e):
			near = near || number(direct, transmission.replied) > 0
		case v.elsewhere(e) && number(direct, transmission.replied) == 0:
			far++
		}
	}
	if !near || far == 0 {
		return asks
	}
	for _, e := range v.dnsPods() {
		if v.elsewhere(e) {
			asks = append(asks, ask(over(e.Address, probe.UDP), v.control(), probe.TypeA).again(samples), ask(over(e.Address, probe.TCP), v.control(), probe.TypeA))
		}
	}
	return asks
}, page: page{
	needs: "The facts `dnsEndpoints` with their nodes and the pod's own node; a reply from the DNS pod on this node, and none to three messages from " +
		"each DNS pod elsewhere.",
	remedies: "Mend what is between the nodes: the overlay's port in firewalls, or UDP checksum offloading where TCP passes. NodeLocal DNSCache in the meantime.",
	wrong:    "Restarting CoreDNS: it only helps as long as a pod happens to come up on the right node.",
}}

// overlayResult is what the DNS pods here and on other nodes said to direct questions.
type overlayResult struct {
	near      fact.Endpoint
	nearReply transmission
	far       []fact.Endpoint
	farSent   int
	farLost   transmission
	// tcp is a reply over TCP from a pod on another node, nil when there was none.
	tcp *transmission
}

func (v *view) overlay() overlayResult {
	var o overlayResult
	for _, e := range v.dnsPods() {
		direct := v.heard(over(e.Address, probe.UDP), "")
		lost, replied := number(direct, transmission.lost), only(direct, transmission.replied)
		switch {
		case v.here(e) && len(replied) > 0:
			o.near, o.nearReply = e, replied[0]
		case v.elsewhere(e) && lost == len(direct) && lost >= samples:
			o.far = append(o.far, e)
			o.farSent += lost
			o.farLost = direct[0]
			if over := only(v.heard(over(e.Address, probe.TCP), ""), transmission.replied); len(over) > 0 && o.tcp == nil {
				o.tcp = &over[0]
			}
		case v.elsewhere(e) && len(replied) > 0:
			// One node that is reached speaks against the way between nodes.
			return overlayResult{}
		}
	}
	return o
}

// overlayExplains says whether the DNS pods on other nodes are silent because they are on other nodes: policies do not explain it, and
// there are two of them, or the one answers over TCP.
func (v *view) overlayExplains() bool {
	o := v.overlay()
	if o.near.Address.IsValid() && len(o.far) > 0 && (o.tcp != nil || v.differentNodes(o.far)) {
		policies, known := v.facts.Policies()
		return !known || len(policies) == 0 || v.passes(policies, probe.UDP, o.far[0])
	}
	return false
}

func (v *view) differentNodes(list []fact.Endpoint) bool {
	for _, e := range list[1:] {
		if e.Node != list[0].Node {
			return true
		}
	}
	return false
}

// isServiceAsked says whether the hosts were asked at the cluster's DNS Service.
func (v *view) isServiceAsked() bool {
	for _, s := range askedAt(v.sent()) {
		if v.isService(s) {
			return true
		}
	}
	return false
}
