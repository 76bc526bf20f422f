package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// noEndpoints: the cluster's DNS Service has no ready endpoint, and nothing at its address replied.
//
// kube-proxy then rejects what is sent there. glibc, Go and c-ares see the ICMP error and fail at once; musl sees none, since its
// socket is not connected, and waits as if the messages were lost.
var noEndpoints = rule{class: "no-endpoints", judge: func(v *view) []probe.Finding {
	endpoints, known := v.facts.Endpoints()
	if ready, _ := v.readyEndpoints(); !known || len(ready) > 0 {
		return nil
	}
	sent := only(v.sent(), func(m transmission) bool { return v.isService(addressOf(m.t.Server)) })
	for _, server := range askedAt(sent) {
		here := only(sent, udpTo(server))
		direct := v.heard(over(server, probe.UDP), "")
		if len(here) == 0 || number(here, transmission.replied)+number(direct, transmission.replied) > 0 {
			continue
		}
		f := probe.Finding{
			Severity: severity(here[0].r),
			Title: fmt.Sprintf("the cluster's DNS Service %s has no ready endpoint (%d of %d are ready): nobody is there to answer.", server, 0,
				len(endpoints)),
			Explain:  v.refusalText(here, direct),
			Evidence: []probe.Evidence{here[0].evidence(fmt.Sprintf("%s %s: %s from %s", clean(here[0].a.Name), here[0].q.Type, fate(here[0]), server))},
		}
		for _, m := range direct[:min(1, len(direct))] {
			f.Evidence = append(f.Evidence, m.evidence(fmt.Sprintf("%s asked directly for %s: %s", server, clean(m.r.Host), fate(m))))
		}
		f.Evidence = append(f.Evidence, v.endpointEvidence(endpoints)...)
		f.Remedies = v.noEndpointRemedies(endpoints)
		return []probe.Finding{f}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	ready, known := v.readyEndpoints()
	if !known || len(ready) > 0 {
		return nil
	}
	var asks []FollowUp
	sent := v.sent()
	for _, server := range askedAt(sent) {
		here := only(sent, udpTo(server))
		if v.isService(server) && number(here, transmission.lost) == len(here) {
			// A connected socket sees what musl's cannot.
			asks = append(asks, ask(over(server, probe.UDP), v.control(), probe.TypeA))
		}
	}
	return asks
}, page: page{
	needs: "The facts `dnsService` and `dnsEndpoints` (permission to list EndpointSlices in kube-system), and a run in which nothing at the Service's " +
		"address replied.",
	remedies: "Find out why the DNS pods are not ready. No dnsConfig change helps.",
	wrong: "A blocked path: a policy swallows messages, it does not answer for them with a refusal. Retries and longer timeouts only make the failure " +
		"slower.",
}}

// fate is what became of a message: "no reply", "refused (ICMP)", "NXDOMAIN after 0.4 ms".
func fate(m transmission) string {
	switch {
	case m.replied():
		return m.t.Reply + " after " + took(m.rtt())
	case m.refused():
		return "refused (ICMP)"
	case m.t.Reply == probe.ReplyClosed:
		return "the connection was closed"
	}
	return "no reply"
}

// refusalText says how the absence of endpoints looks to the target's libc.
func (v *view) refusalText(here, direct []transmission) string {
	refused := number(here, transmission.refused)
	switch {
	case refused > 0 && refused < len(here):
		return fmt.Sprintf("%d of %s to the address were refused: kube-proxy rejects what is sent to a Service without ready endpoints. %s", refused,
			count(len(here), "message", "messages"), fewRefusals)
	case refused > 0:
		return fmt.Sprintf("%d of %s to the address were refused, none was lost on the way: kube-proxy rejects what is sent to a Service without ready "+
			"endpoints.", refused, count(len(here), "message", "messages"))
	case number(direct, transmission.refused) > 0 && here[0].r.Libc == probe.Musl:
		return fmt.Sprintf("The address refuses at once (asked from a connected socket). musl does not see that, waits %s and reports a temporary failure: the "+
			"wait hides an instant refusal.", took(here[0].r.Duration))
	case number(direct, transmission.refused) > 0:
		return "The address refuses at once when it is asked from a connected socket: kube-proxy rejects what is sent to a Service without ready endpoints."
	}
	return fmt.Sprintf("Nothing came back for %s, not even a refusal. With no ready endpoint nobody could answer, whatever else is on the way. %s",
		count(len(here), "message", "messages"), fewRefusals)
}

// fewRefusals says why a pod that asks often meets silence where it could be refused: Linux sends ICMP errors of this type to one address
// at a rate of one in icmp_ratelimit milliseconds, 1000 unless somebody changed it, after at most six at once (inet_peer_xrlim_allow).
const fewRefusals = "A node sends a pod about one refusal a second (net.ipv4.icmp_ratelimit): when the pod asks more often, the rest looks lost, and every " +
	"libc waits for its timeout."

// endpointEvidence is one fact for each endpoint, as far as there are not too many.
func (v *view) endpointEvidence(list []fact.Endpoint) []probe.Evidence {
	var out []probe.Evidence
	for _, e := range list[:min(len(list), mostEndpoints)] {
		text := "endpoint " + called(e) + ": not ready"
		if e.Ready {
			text = "endpoint " + called(e) + ": ready"
		}
		if e.Restarts > 0 {
			text += ", " + count(e.Restarts, "restart", "restarts")
		}
		out = append(out, v.known(fact.DNSEndpoints, text))
	}
	if len(list) == 0 {
		out = append(out, v.known(fact.DNSEndpoints, "the Service has no endpoints at all: no pod fits its selector"))
	}
	return out
}

func (v *view) noEndpointRemedies(list []fact.Endpoint) []probe.Remedy {
	look := "Look at the DNS pods: kubectl -n kube-system get pods -l k8s-app=kube-dns"
	for _, e := range list {
		if e.Pod != "" {
			look = fmt.Sprintf("Find out why pod %s is not ready: kubectl -n kube-system describe pod %s", clean(e.Pod), clean(e.Pod))
			break
		}
	}
	return []probe.Remedy{
		{Text: look},
		{Text: "No dnsConfig change helps: every name fails until a DNS pod is ready."},
	}
}
