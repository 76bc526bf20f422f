package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// upstreamServFail: every reply for the host itself is SERVFAIL, while names of the cluster are answered by the same server.
var upstreamServFail = rule{class: "upstream-servfail", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		failed, fine := v.failedOutside(r)
		if failed == nil || r.Outcome == probe.OK {
			continue
		}
		var evidence probe.Evidence
		if fine != nil {
			evidence = v.see(r, fine)
		} else {
			direct := only(v.heard(over(addressOf(failed.t.Server), probe.UDP), v.control()), transmission.understood)
			if len(direct) == 0 || v.zone == "" {
				continue
			}
			evidence = direct[0].evidence(fmt.Sprintf("%s asked directly: %s", clean(direct[0].r.Host), fate(direct[0])))
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Critical,
			Title: fmt.Sprintf("%s gets SERVFAIL, while names of the cluster are answered: the fault lies behind the cluster's DNS.",
				clean(failed.a.Name)),
			Explain: "The cluster's DNS passes this name on and reports that it got no usable answer: an upstream that fails or cannot be " +
				"reached, a broken delegation, or DNSSEC that does not validate." + v.lateText(failed),
			Evidence: append([]probe.Evidence{v.see(r, failed.a), evidence}, v.forwardEvidence()...),
			Remedies: []probe.Remedy{
				{Text: "Ask the upstreams of the forward plugin for " + bare(r.Host) + ", and read the errors that CoreDNS logs for it."},
				{Text: "No dnsConfig change helps: the pod asks the right server."},
			},
		})
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if failed, fine := v.failedOutside(r); failed != nil && fine == nil && r.Outcome != probe.OK && v.zone != "" {
			asks = append(asks, ask(over(addressOf(failed.t.Server), probe.UDP), v.control(), probe.TypeA))
		}
	}
	return asks
}, page: page{
	needs:    "SERVFAIL as the only reply for the host itself, and a name of the cluster that the same DNS answers, in the walk or when it is asked directly.",
	remedies: "Mend the upstream, the delegation or the signatures of the zone. No dnsConfig change helps.",
	wrong:    "Scaling or restarting CoreDNS: it reports what its upstream said. ndots: the name itself fails.",
}}

// failedOutside returns a message for the host itself whose attempt got nothing but SERVFAIL, as far as it got replies, and an attempt
// for a name of the cluster that was answered with something else; each nil without one.
func (v *view) failedOutside(r *probe.Resolution) (failed *transmission, fine *probe.Attempt) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch {
		case isHost(a, r) && v.leaves(a.Name):
			one := *r
			one.Attempts = r.Attempts[i : i+1]
			list := transmissionsOf(&one)
			replies := only(list, transmission.replied)
			if len(replies) == 0 || number(list, transmission.refused) > 0 || !addressOf(replies[0].t.Server).IsValid() ||
				number(replies, func(m transmission) bool { return m.t.Reply == "SERVFAIL" }) < len(replies) {
				continue
			}
			m := replies[0]
			m.r, m.a = r, a
			if m.rtt() < slow && len(lastReplies(a)) < len(a.Queries) {
				continue // A type got no reply at all, and that is not because the server waits.
			}
			failed = &m
		case v.zone != "" && !v.leaves(a.Name) && answered(a) && !allReplies(a, "SERVFAIL"):
			fine = a
		}
	}
	return failed, fine
}

// lateText says when a SERVFAIL took as long as CoreDNS waits for upstreams that do not answer.
func (v *view) lateText(m *transmission) string {
	if m.rtt() < slow {
		return ""
	}
	return fmt.Sprintf(" It took %s to say so, which is time spent waiting for an upstream.", took(m.rtt()))
}

// forwardEvidence is where the Corefile says that names outside are passed on to.
func (v *view) forwardEvidence() []probe.Evidence {
	blocks, _ := v.facts.Corefile(fact.Corefile)
	var out []probe.Evidence
	for _, b := range blocks {
		for _, p := range b.Named("forward") {
			if len(out) < 3 && len(p.Args) > 1 {
				out = append(out, v.known(fact.Corefile, clean("Corefile, block "+strings.Join(b.Zones, " ")+": forward "+strings.Join(p.Args, " "))))
			}
		}
	}
	return out
}
