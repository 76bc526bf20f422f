package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// serverOverload: names of the cluster, which its DNS answers from memory, come late or not at all, also when each DNS pod is asked
// directly, and at other moments at once. So the servers themselves have too much to do, or too little CPU.
//
// A long way to a server makes every reply late by the same; a queue makes some late.
var serverOverload = rule{class: "server-overload", judge: func(v *view) []probe.Finding {
	slowInside := v.lateInside()
	if len(slowInside) == 0 {
		return nil
	}
	o := v.load()
	if len(o.late) < samples || o.endpoints == 0 || o.endpointsLate < o.endpoints || o.quick == 0 {
		return nil
	}
	m := slowInside[0]
	f := probe.Finding{
		Severity: severity(m.r),
		Title: fmt.Sprintf("the cluster's DNS is overloaded: %d of %d direct questions for a name of its own were late or lost, at each of %s.", len(o.late), o.asked,
			count(o.endpoints, "server", "servers")),
		Explain: "It answers such names from memory, without asking anybody, and did so at once at other moments. So messages wait for the server, not for the network " +
			"or an upstream.",
		Evidence: []probe.Evidence{
			m.evidence(fmt.Sprintf("%s %s: %s", clean(m.a.Name), m.q.Type, fate(m))),
			o.late[0].evidence(fmt.Sprintf("%s asked directly for %s: %s", addressOf(o.late[0].t.Server), clean(o.late[0].r.Host), fate(o.late[0]))),
			o.fine.evidence(fmt.Sprintf("the same at another moment: %s", fate(o.fine))),
		},
		Remedies: []probe.Remedy{
			{Text: "Give CoreDNS more replicas or CPU (a CPU limit that throttles it is the most common cause), and look at its metrics: coredns_dns_request_duration_seconds."},
			{Text: "Ask it less: a smaller ndots where outside names walk the search list, NodeLocal DNSCache for repeated names."},
			{Text: "No dnsConfig option makes a server faster. A shorter timeout sends it even more."},
		},
	}
	if list, known := v.facts.Endpoints(); known {
		for _, e := range list {
			if e.Restarts > 0 {
				f.Evidence = append(f.Evidence, v.known(fact.DNSEndpoints, fmt.Sprintf("endpoint %s: %s", called(e), count(e.Restarts, "restart", "restarts"))))
			}
		}
	}
	return []probe.Finding{f}
}, asks: func(v *view) []FollowUp {
	if len(v.lateInside()) == 0 {
		return nil
	}
	var asks []FollowUp
	for _, e := range v.dnsPods() {
		asks = append(asks, ask(over(e.Address, probe.UDP), v.control(), probe.TypeA).again(flowSamples))
	}
	return asks
}, page: page{
	needs: "The fact `dnsEndpoints`, a late or lost reply for a name of the cluster, and three direct questions that were late or lost, at each DNS pod at least one, " +
		"while others were answered at once.",
	remedies: "More replicas or CPU for CoreDNS, fewer queries for it.",
	wrong:    "A shorter timeout: what is sent again adds to the load. Calling the network slow: replies from the same server come at once at other moments.",
}}

// late is from when a reply for a name that is answered from memory has waited for something; at once is up to when it has not.
const (
	lateReply  = slow / 5
	quickReply = slow / 50
)

// lateInside are the messages for names of the cluster at its DNS Service that came late or not at all, on a server that does answer.
func (v *view) lateInside() []transmission {
	if v.zone == "" {
		return nil
	}
	sent := only(v.sent(), func(m transmission) bool {
		return m.t.Transport == probe.UDP && v.isService(addressOf(m.t.Server)) && !v.leaves(m.a.Name)
	})
	if number(sent, transmission.replied) == 0 {
		return nil
	}
	return only(sent, transmission.late)
}

// late says whether a name that is answered from memory was not answered as such.
func (m transmission) late() bool { return m.lost() || m.replied() && m.rtt() >= lateReply }

// loadResult is what the DNS pods made of direct questions for a name of the cluster.
type loadResult struct {
	asked, endpoints, endpointsLate, quick int
	late                                   []transmission
	fine                                   transmission
}

func (v *view) load() loadResult {
	var o loadResult
	for _, e := range v.dnsPods() {
		list := v.heard(over(e.Address, probe.UDP), v.control())
		if len(list) == 0 {
			continue
		}
		o.endpoints++
		o.asked += len(list)
		late := only(list, transmission.late)
		if len(late) > 0 {
			o.endpointsLate++
		}
		o.late = append(o.late, late...)
		for _, m := range list {
			if m.replied() && m.rtt() <= quickReply {
				o.quick++
				o.fine = m
			}
		}
	}
	return o
}
