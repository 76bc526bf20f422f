package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// conntrackFull: the node's table of connections is full, and flows of this pod lose their messages. Netfilter then drops whatever
// begins a new flow, to any address.
//
// Losses alone never prove it: the table has to be known to be full.
var conntrackFull = rule{class: "conntrack-full", judge: func(v *view) []probe.Finding {
	table, known := v.facts.ConntrackTable()
	if !known || !table.Full() {
		return nil
	}
	sent := v.sent()
	lost := only(sent, transmission.lost)
	flows := map[socket]bool{}
	for _, m := range lost {
		flows[m.flow()] = true
	}
	if len(flows) < samples && len(lost) < len(sent) || len(lost) == 0 {
		return nil
	}
	m, entries := lost[0], ""
	if table.Most > 0 {
		entries = " (" + table.String() + " entries)"
	}
	return []probe.Finding{{
		Severity: severity(m.r),
		Title: fmt.Sprintf("the conntrack table of the node is full%s, so new flows are dropped: %d of %s lost here.", entries, len(lost),
			count(len(sent), "message", "messages")),
		Explain: "Each lookup begins a new flow, and netfilter drops what it has no room to remember. Connections that stand already go on, which makes this look " +
			"like a fault of DNS.",
		Evidence: []probe.Evidence{
			m.evidence(fmt.Sprintf("%s: no reply from %s", clean(m.a.Name), addressOf(m.t.Server))),
			v.known(fact.Conntrack, "conntrack table of the node: "+clean(table.String())),
		},
		Remedies: []probe.Remedy{
			{
				Text:   "Raise net.netfilter.nf_conntrack_max on the node (kube-proxy: conntrack.maxPerCore, conntrack.min), and find out what fills the table: conntrack -S, conntrack -L.",
				Caveat: "Each entry costs the node memory.",
			},
			{Text: "NodeLocal DNSCache keeps DNS out of the table: what it is sent is not tracked."},
			{Text: "Fewer queries help a little: a smaller ndots for outside names."},
		},
	}}
}, page: page{
	needs:    "The fact `conntrack`, which says that the node's table is full, and lost messages on three source ports at least.",
	remedies: "A larger table, or fewer flows on the node. NodeLocal DNSCache, whose messages are not tracked.",
	wrong:    "Scaling CoreDNS: the messages are dropped on this node.",
}}
