package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nowhereAddr is an address at which nothing lives: it is set aside for documentation (RFC 5737).
var nowhereAddr = netip.MustParseAddr("192.0.2.53")

// meshDNS: a question to an address where nothing lives was answered, so something takes this pod's DNS messages on their way; and
// what it answers is odd.
//
// Without an odd answer nothing is said: taking messages is what a mesh was told to do.
var meshDNS = rule{class: "mesh-dns", judge: func(v *view) []probe.Finding {
	r, a, odd := v.oddAnswer()
	replies := only(v.heard(over(nowhereAddr, probe.UDP), ""), transmission.replied)
	if r == nil || len(replies) == 0 {
		return nil
	}
	who, evidence := v.interceptor()
	m := replies[0]
	f := probe.Finding{
		Severity: severity(r),
		Title:    fmt.Sprintf("port 53 of this pod is intercepted: %s, where nothing lives, answered for %s. %s", nowhereAddr, bare(m.r.Host), odd),
		Explain: "Whatever nameserver the pod asks, " + who + " answers in its place. So neither the nameserver nor CoreDNS is what the " +
			"application talks to.",
		Evidence: append([]probe.Evidence{
			m.evidence(fmt.Sprintf("%s asked for %s: %s", nowhereAddr, clean(m.r.Host), fate(m))), v.see(r, a),
		}, evidence...),
		Remedies: []probe.Remedy{
			{
				Text:   "Upgrade the mesh to a version that answers a type it has no records of with no data, or turn its DNS capture off for this pod.",
				Caveat: "For Istio the switch is ISTIO_META_DNS_CAPTURE in proxyMetadata. Names that only the mesh knows are lost without it.",
			},
			{Text: "No dnsConfig change helps: another nameserver is intercepted too, and musl ignores the option no-aaaa."},
		},
	}
	return []probe.Finding{f}
}, asks: func(v *view) []FollowUp {
	if r, a, _ := v.oddAnswer(); r != nil {
		return []FollowUp{ask(over(nowhereAddr, probe.UDP), a.Name, probe.TypeA)}
	}
	return nil
}, page: page{
	needs:    "A reply to a question that was sent to 192.0.2.53, and a pair whose halves disagree on whether the name exists.",
	remedies: "Upgrade the mesh, or turn its DNS capture off for the pod.",
	wrong:    "no-aaaa does not help musl, which ignores it. Another nameserver does not help: it is intercepted too.",
}}

// oddAnswer returns an attempt whose halves disagree on whether the name exists, as a DNS proxy that knows only some types answers,
// and what is odd about it.
func (v *view) oddAnswer() (*probe.Resolution, *probe.Attempt, string) {
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if found, denied := halves(a); found != "" && denied != "" {
				return r, a, fmt.Sprintf("It has an %s record of the name and denies with NXDOMAIN that the name exists when asked for %s.", found, denied)
			}
		}
	}
	return nil, nil, ""
}

// interceptor names who takes the messages, as far as it is known.
func (v *view) interceptor() (string, []probe.Evidence) {
	s, known := v.facts.Sidecar()
	switch {
	case known && s.Exists:
		return "the sidecar " + clean(s.Name), []probe.Evidence{v.known(fact.Mesh, "sidecar in this pod: "+clean(s.Text()))}
	case known:
		return "something on the way (no known sidecar is in this pod)", []probe.Evidence{v.known(fact.Mesh, "sidecar in this pod: none")}
	}
	return "something on the way", nil
}
