package diagnose

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// deadBackend: some source ports lose everything that they send to the cluster's DNS Service, others lose nothing, in turn, and the
// servers behind the Service lose nothing when they are asked directly. So some flows are sent to a server that is gone.
//
// Which server a flow goes to is settled by its first message and kept: A and AAAA of one socket share a fate, and so does every
// retransmission from it. A race between the halves of a pair loses one of them and never both.
var deadBackend = rule{class: "dead-backend", judge: func(v *view) []probe.Finding {
	for _, server := range askedAt(v.sent()) {
		f := v.flowsOf(server)
		if len(f.lost) < samples || len(f.fine) < samples || len(f.mixed)*10 > len(f.lost) || !f.interleaved() {
			continue
		}
		direct := v.directly()
		steady := number(f.lost, f.severalFrom) >= samples
		switch {
		case direct.silent == nil && direct.lost == 0 && (steady || direct.proves(f.share())):
		case direct.silent != nil && !v.overlayExplains():
		default:
			continue
		}
		return []probe.Finding{v.backendFinding(server, f, direct)}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, server := range askedAt(v.sent()) {
		f := v.flowsOf(server)
		if len(f.lost) == 0 || len(f.fine) == 0 && !v.isService(server) {
			continue
		}
		name := f.lost[0]
		if len(f.lost) < samples || len(f.fine) < samples {
			times := flowSamples
			if len(f.fine) > 0 && len(f.lost) > 1 {
				times *= 2 // it goes both ways: worth a few more
			}
			asks = append(asks, ask(over(server, probe.UDP), name.a.Name, name.q.Type).again(times))
		}
		if len(f.fine) > 0 {
			for _, e := range v.dnsPods() {
				asks = append(asks, ask(over(e.Address, probe.UDP), name.a.Name, name.q.Type).again(flowSamples))
			}
		}
	}
	return asks
}, page: page{
	needs: "Three source ports at least that lost everything and three that lost nothing, in turn; the fact `dnsEndpoints` (EndpointSlices of kube-system) " +
		"to ask the servers behind the Service directly.",
	remedies: "Let the entries for the server that is gone run out or delete them (conntrack -D), update kube-proxy, let CoreDNS go on answering " +
		"for a while when it ends (lameduck). Until then use-vc on glibc and Go.",
	wrong: "single-request-reopen and NodeLocal DNSCache for a conntrack race: whole flows are lost here, not one half of a pair. Scaling CoreDNS: " +
		"its servers answer everything.",
}}

// flowSamples is how often a server is asked from another source port to see whether the flow decides.
const flowSamples = 4

// flows are the first messages of the source ports that sent to a server, in order of time, by the fate of all that came from there:
// everything lost, nothing lost, some lost.
type flows struct {
	lost, fine, mixed []transmission
	// messages counts what each source port sent.
	messages map[socket]int
}

// severalFrom says whether more than one message came from the source port of m.
func (f flows) severalFrom(m transmission) bool { return f.messages[m.flow()] > 1 }

// flowsOf tells the flows to a server apart. A question that the server never answered is no matter of flows: it is left out.
func (v *view) flowsOf(server netip.Addr) flows {
	f := flows{messages: map[socket]int{}}
	all := only(transmissionsOf(append(v.asTheyAre(), v.direct...)...), udpTo(server))
	answered := map[string]bool{}
	for _, m := range all {
		if m.replied() {
			answered[m.question()] = true
		}
	}
	lost := map[socket]int{}
	var first []transmission
	for _, m := range inOrder(all) {
		if !answered[m.question()] || m.refused() {
			continue
		}
		if f.messages[m.flow()] == 0 {
			first = append(first, m)
		}
		f.messages[m.flow()]++
		if m.lost() {
			lost[m.flow()]++
		}
	}
	for _, m := range first {
		switch lost[m.flow()] {
		case 0:
			f.fine = append(f.fine, m)
		case f.messages[m.flow()]:
			f.lost = append(f.lost, m)
		default:
			f.mixed = append(f.mixed, m)
		}
	}
	return f
}

// question is what a message asks: name and type.
func (m transmission) question() string { return canonical(m.a.Name) + " " + string(m.q.Type) }

// interleaved says whether a flow that lost nothing began between two that lost everything.
func (f flows) interleaved() bool {
	if len(f.lost) < 2 {
		return false
	}
	first, last := f.lost[0].at(), f.lost[len(f.lost)-1].at()
	return slices.ContainsFunc(f.fine, func(m transmission) bool { return m.at().After(first) && m.at().Before(last) })
}

// share is the share of the flows that lost everything.
func (f flows) share() float64 {
	all := len(f.lost) + len(f.fine) + len(f.mixed)
	if all == 0 {
		return 0
	}
	return float64(len(f.lost)) / float64(all)
}

// directResult is what came of asking the servers behind the Service directly.
type directResult struct {
	asked, lost int
	// replied counts replies by endpoint.
	endpoints int
	// silent is an endpoint that is ready and never replied while another one did.
	silent *fact.Endpoint
	first  *transmission
}

// proves says whether that many questions without a loss speak against a chance that is as high as share: at 1 in 100.
func (d directResult) proves(share float64) bool {
	return d.lost == 0 && d.asked > 0 && math.Pow(1-share, float64(d.asked)) < 0.01
}

// directly sums up what the endpoints said to direct questions.
func (v *view) directly() directResult {
	var d directResult
	for _, e := range v.dnsPods() {
		list := v.heard(over(e.Address, probe.UDP), "")
		lost := number(list, transmission.lost)
		switch {
		case len(list) == 0:
			continue
		case lost == len(list) && lost >= samples:
			d.silent = &e
			continue
		}
		d.endpoints++
		d.asked += len(list)
		d.lost += lost
		if d.first == nil {
			d.first = &list[0]
		}
	}
	if d.endpoints == 0 {
		d.silent = nil
	}
	return d
}

func (v *view) backendFinding(server netip.Addr, f flows, direct directResult) probe.Finding {
	bad, good := f.lost[0], f.fine[0]
	out := probe.Finding{
		Severity: severity(bad.r),
		Title: fmt.Sprintf("%d of %d source ports lost everything that they sent to %s, the others nothing: some flows go to a server that does not answer.",
			len(f.lost), len(f.lost)+len(f.fine)+len(f.mixed), server),
		Explain: v.backendText(f, direct),
		Evidence: []probe.Evidence{
			bad.evidence(fmt.Sprintf("%s from socket %d: 0 replies to %s", clean(bad.a.Name), bad.t.Socket, count(f.messages[bad.flow()], "message", "messages"))),
			good.evidence(fmt.Sprintf("%s from socket %d: all of %s answered", clean(good.a.Name), good.t.Socket, count(f.messages[good.flow()], "message", "messages"))),
		},
	}
	if direct.first != nil {
		out.Evidence = append(out.Evidence, direct.first.evidence(fmt.Sprintf("%s asked directly: %d of %d messages answered",
			count(direct.endpoints, "endpoint", "endpoints"), direct.asked-direct.lost, direct.asked)))
	}
	if changed, known := v.facts.Text(fact.DNSEndpointsChanged); known {
		out.Evidence = append(out.Evidence, v.known(fact.DNSEndpointsChanged, "the list of endpoints changed "+clean(changed)+" ago"))
	}
	if mode, known := v.facts.Text(fact.KubeProxyMode); known {
		out.Evidence = append(out.Evidence, v.known(fact.KubeProxyMode, "kube-proxy mode: "+clean(mode)))
	}
	out.Remedies = v.backendRemedies(server, direct, bad.r.Libc)
	return out
}

func (v *view) backendText(f flows, direct directResult) string {
	text := "All messages of one source port share a fate, both halves of a pair and each retransmission, so this is no race between halves. "
	if number(f.lost, f.severalFrom) == 0 {
		text = "Each message has a source port of its own here, so each half of a pair is lost on its own, and retransmissions reach another server. "
	}
	switch {
	case direct.silent != nil:
		return text + fmt.Sprintf("Endpoint %s is ready and never replied to this pod, the others did.", called(*direct.silent))
	case direct.asked > 0:
		return text + fmt.Sprintf("The servers behind the Service never lost a message when asked directly (%d of %d answered), so the fault lies between "+
			"the Service's address and them.", direct.asked, direct.asked)
	}
	return text + v.whyUnknown(fact.DNSEndpoints, "Which servers stand behind the address")
}

func (v *view) backendRemedies(server netip.Addr, direct directResult, libc probe.Libc) []probe.Remedy {
	var out []probe.Remedy
	if direct.silent != nil {
		out = append(out, probe.Remedy{Text: fmt.Sprintf("Restart or remove endpoint %s, or mend the way from this node to it.", called(*direct.silent))})
	} else {
		if direct.asked == 0 {
			out = append(out, probe.Remedy{Text: "First find out whether each server behind the Service answers (kubectl -n kube-system get endpointslices -l k8s-app=kube-dns): one that " +
				"does not has to be mended or reached, and what follows is for the case that all do."})
		}
		out = append(out, probe.Remedy{
			Text: fmt.Sprintf("On the node, delete the entries that still point at the old server: conntrack -D -p udp --orig-dst %s --dport 53. Or wait: entries "+
				"without traffic run out.", server),
			Caveat: "It needs root on the node. If it comes back, look whether kube-proxy is current and follows the endpoints.",
		}, probe.Remedy{Text: "Let CoreDNS go on answering while it ends: lameduck 5s or longer in the health plugin of the Corefile."})
	}
	switch {
	case direct.silent != nil:
		out = append(out, probe.Remedy{Text: "No dnsConfig option helps: over TCP a share of the connections would go to the same server."})
	case libc == probe.Glibc || libc == probe.Go:
		out = append(out, probe.Remedy{
			Text: "Until then set the option use-vc in dnsConfig: each lookup is then a new connection, and new ones go to current servers.", Caveat: "Every lookup then costs a handshake, and musl and c-ares ignore the option.",
		})
	default:
		out = append(out, probe.Remedy{Text: "No dnsConfig option helps " + libcName(libc) + ": it ignores use-vc, and single-request-reopen is for another fault."})
	}
	return out
}
