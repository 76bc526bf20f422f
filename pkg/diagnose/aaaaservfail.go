package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// aaaaServFail: A of a name is found and each reply to AAAA is SERVFAIL, also when it is asked again alone, while the same server
// answers AAAA of another name. A server that has no AAAA record has to say NOERROR without records.
var aaaaServFail = rule{class: "aaaa-servfail", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, m := range v.failingAAAA() {
		server := addressOf(m.t.Server)
		isAAAA := func(m transmission) bool { return m.q.Type == probe.TypeAAAA }
		alone := only(v.heard(over(server, probe.UDP), m.a.Name), isAAAA)
		control := only(v.heard(over(server, probe.UDP), v.control()), func(m transmission) bool { return isAAAA(m) && m.understood() })
		if len(alone) == 0 || number(alone, func(m transmission) bool { return m.t.Reply == "SERVFAIL" }) < len(alone) || len(control) == 0 {
			continue
		}
		f := probe.Finding{
			Severity: severity(m.r),
			Title:    fmt.Sprintf("AAAA of %s is answered SERVFAIL, while its A record is found.", clean(m.a.Name)),
			Explain: fmt.Sprintf("The server answers AAAA of %s, so it is this name or its zone. musl fails the whole lookup for it, after its full timeout; glibc and c-ares take the "+
				"IPv4 address at once, Go after it has tried again.", bare(control[0].r.Host)),
			Evidence: []probe.Evidence{
				v.see(m.r, m.a),
				alone[0].evidence(fmt.Sprintf("AAAA of %s asked alone at %s: %s", clean(m.a.Name), server, fate(alone[0]))),
				control[0].evidence(fmt.Sprintf("AAAA of %s at %s: %s", clean(control[0].r.Host), server, fate(control[0]))),
			},
			Remedies: []probe.Remedy{
				{Text: "Have the zone's server answer AAAA with no data. Until then a template in the Corefile that says NOERROR without records for AAAA in that zone."},
			},
		}
		if m.r.Libc == probe.Musl {
			f.Remedies = append(f.Remedies, probe.Remedy{Text: "No dnsConfig change helps musl: it ignores no-aaaa."})
		} else if m.r.Libc == probe.Glibc && m.r.Outcome != probe.OK {
			f.Remedies = append(f.Remedies, probe.Remedy{Text: "On glibc 2.36 and later the option no-aaaa leaves the query out.", Caveat: "No host is reached over IPv6 any more."})
		}
		findings = append(findings, f)
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, m := range v.failingAAAA() {
		server := addressOf(m.t.Server)
		asks = append(asks, ask(over(server, probe.UDP), m.a.Name, probe.TypeAAAA), ask(over(server, probe.UDP), v.control(), probe.TypeAAAA))
	}
	return asks
}, page: page{
	needs:    "An A record of the name, SERVFAIL for AAAA each time and once more when it is asked alone, and AAAA of another name answered by the same server.",
	remedies: "Mend the zone's server, or answer NODATA for AAAA in that zone with a CoreDNS template.",
	wrong:    "NXDOMAIN in that template: it makes musl take the name for missing.",
}}

// failingAAAA returns the first AAAA message of each attempt of the hosts whose A record was found and of which every AAAA reply was
// SERVFAIL.
func (v *view) failingAAAA() []transmission {
	var out []transmission
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			one := *r
			one.Attempts = r.Attempts[i : i+1]
			list := transmissionsOf(&one)
			_, found := foundIn(only(list, func(m transmission) bool { return m.q.Type == probe.TypeA }))
			failing := only(list, func(m transmission) bool { return m.q.Type == probe.TypeAAAA && m.replied() })
			if !found || len(failing) == 0 || !addressOf(failing[0].t.Server).IsValid() ||
				number(failing, func(m transmission) bool { return m.t.Reply == "SERVFAIL" }) < len(failing) {
				continue
			}
			m := failing[0]
			m.r, m.a = r, a
			out = append(out, m)
			break
		}
	}
	return out
}
