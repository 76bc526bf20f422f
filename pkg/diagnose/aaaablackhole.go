package diagnose

import (
	"fmt"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// aaaaBlackhole: a name's A query is answered each time and its AAAA query never, also when it is asked alone, while the same server
// answers AAAA of another name. So it is this name, or its zone, for which nobody answers AAAA.
var aaaaBlackhole = rule{class: "aaaa-blackhole", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, h := range v.holes() {
		alone := v.aloneAAAA(h)
		control := only(v.heard(over(h.server, probe.UDP), v.control()), func(m transmission) bool { return m.q.Type == probe.TypeAAAA && m.replied() })
		if len(alone) < 2 || number(alone, transmission.lost) < len(alone) || len(control) == 0 || h.lost+len(alone) < samples {
			continue
		}
		findings = append(findings, v.holeFinding(h, alone, control[0]))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, h := range v.holes() {
		asks = append(asks, ask(over(h.server, probe.UDP), v.control(), probe.TypeAAAA), ask(over(h.server, probe.UDP), h.first.a.Name, probe.TypeAAAA).again(2))
	}
	return asks
}, page: page{
	needs: "AAAA of the name unanswered in each try of the resolver and twice when asked alone, A answered each time, and AAAA of another name answered by the " +
		"same server.",
	remedies: "Mend the zone's server, or answer NODATA for AAAA in that zone with a CoreDNS template. On glibc 2.36 and later no-aaaa, on others timeout:1.",
	wrong:    "half-pair-loss: the AAAA query is lost when it is alone, too. Switching IPv6 off on the node: AAAA is asked for all the same.",
}}

// hole is a name of which A is answered and AAAA never.
type hole struct {
	server netip.Addr
	// first is the first AAAA message that was lost.
	first transmission
	lost  int
}

// holes returns the names among the attempts of the hosts that can be blackholes: one, since asking about it costs seconds.
func (v *view) holes() []hole {
	for _, s := range v.silentNames() {
		if s.first.q.Type != probe.TypeAAAA {
			continue
		}
		found := false
		for _, m := range v.sent() {
			if m.q.Type == probe.TypeA && canonical(m.a.Name) == canonical(s.first.a.Name) && addressOf(m.t.Server) == s.server {
				if m.lost() {
					found = false
					break
				}
				found = found || m.replied()
			}
		}
		if found {
			return []hole{{s.server, s.first, s.lost}}
		}
	}
	return nil
}

// aloneAAAA are the AAAA messages of the name that were asked directly, each without an A beside it.
func (v *view) aloneAAAA(h hole) []transmission {
	return only(v.heard(over(h.server, probe.UDP), h.first.a.Name), func(m transmission) bool { return m.q.Type == probe.TypeAAAA })
}

func (v *view) holeFinding(h hole, alone []transmission, control transmission) probe.Finding {
	r := h.first.r
	f := probe.Finding{
		Severity: severity(r),
		Title: fmt.Sprintf("AAAA of %s is never answered: 0 replies to %s, while A is answered each time. %s.", clean(h.first.a.Name),
			count(h.lost+len(alone), "message", "messages"), v.holeCost(r)),
		Explain: fmt.Sprintf("It is this name or its zone: %s answers AAAA of %s after %s. The AAAA query is lost when it is asked alone, too, so it is no race between "+
			"the halves of a pair. ", h.server, bare(control.r.Host), took(control.rtt())) + holeText(r.Libc),
		Evidence: []probe.Evidence{
			h.first.evidence(fmt.Sprintf("%s: AAAA got no reply, A was answered", clean(h.first.a.Name))),
			alone[0].evidence(fmt.Sprintf("AAAA of %s asked alone at %s: no reply, %s", clean(h.first.a.Name), h.server, times(len(alone)))),
			control.evidence(fmt.Sprintf("AAAA of %s at %s: %s", clean(control.r.Host), h.server, fate(control))),
		},
		Remedies: v.holeRemedies(r),
	}
	return f
}

func (v *view) holeCost(r *probe.Resolution) string {
	if r.Outcome == probe.OK {
		return "The lookup waits " + took(r.Duration) + " and then goes on without IPv6"
	}
	return "The lookup fails after " + took(r.Duration)
}

// holeText says what the libcs make of it.
func holeText(libc probe.Libc) string {
	switch libc {
	case probe.Glibc:
		return "glibc tries the lost half three times; in a thread that met this before it is once, so later lookups wait a third of the time."
	case probe.Musl:
		return "musl fails the lookup although it has an IPv4 address. glibc, Go and c-ares take that after their waits."
	}
	return libcName(libc) + " waits for AAAA and then takes the IPv4 address. musl would fail."
}

func (v *view) holeRemedies(r *probe.Resolution) []probe.Remedy {
	var out []probe.Remedy
	version, known := resolvconf.ParseVersion(r.LibcVersion)
	switch {
	case r.Libc == probe.Glibc && known && version.AtLeast(2, 36):
		first := probe.Remedy{
			Text:   "Set the option no-aaaa in dnsConfig: glibc " + clean(r.LibcVersion) + " then asks for A only.",
			Caveat: "musl and Go ignore it, hickory-resolver 0.25 rejects the whole file for it, and no host is reached over IPv6 any more.",
		}
		if w := v.whatIf(r.Host, "no-aaaa"); w != nil {
			first.Gain = v.gain(r, w)
		}
		out = append(out, first)
	case r.Libc == probe.Musl:
		out = append(out, probe.Remedy{Text: "No option of dnsConfig helps musl: it ignores no-aaaa, and a shorter timeout only makes it fail sooner."})
	default:
		out = append(out, probe.Remedy{Text: "Set the option timeout to 1 in dnsConfig.", Gain: "Shortens each wait to 1 s.", Caveat: "Slow but working servers are then given up on as well."})
	}
	cure := "Have the zone's server answer AAAA, or answer it in the Corefile with a template for that zone that says NOERROR without records, not NXDOMAIN."
	if blocks, ok := v.facts.Corefile(fact.Corefile); ok {
		for _, b := range blocks {
			for _, p := range b.Named("template") {
				if within([]string{"AAAA"}, p.Args) {
					cure += " The Corefile has a template for AAAA already: look whether it covers the zone."
				}
			}
		}
	}
	return append(out, probe.Remedy{Text: cure})
}
