package diagnose

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// ednsRejected: a server answers a name without an OPT record, and with one it is silent or answers with an error. Go and c-ares always
// send one, glibc with the option edns0, musl never.
var ednsRejected = rule{class: "edns-rejected", judge: func(v *view) []probe.Finding {
	for _, s := range v.ednsSuspects() {
		plain := only(v.heard(over(s.server, probe.UDP), s.name), transmission.understood)
		with := v.heard(withEDNS(over(s.server, probe.UDP)), s.name)
		if len(plain) == 0 || len(with) < 2 || number(with, transmission.understood) > 0 {
			continue
		}
		if number(with, transmission.lost) > 0 && number(v.heard(withEDNS(over(s.server, probe.UDP)), v.control()), transmission.replied) > 0 {
			continue // A small answer comes with EDNS, too: it is its size that gets lost.
		}
		libc := libcName(s.first.r.Libc)
		f := probe.Finding{
			Severity: severity(s.first.r),
			Title: fmt.Sprintf("%s does not accept EDNS0: %s for %s with an OPT record, %s without.", s.server, fate(with[0]), clean(s.name),
				fate(plain[0])),
			Explain: fmt.Sprintf("%s sends an OPT record with each query (RFC 6891) and does not ask again without one. So every name fails or waits at this server, "+
				"while musl, and glibc without edns0, are not affected.", libc),
			Evidence: []probe.Evidence{
				s.first.evidence(fmt.Sprintf("%s: %s from %s", clean(s.first.a.Name), fate(s.first), s.server)),
				plain[0].evidence(fmt.Sprintf("%s without an OPT record: %s", clean(s.name), fate(plain[0]))),
				with[0].evidence(fmt.Sprintf("%s with an OPT record: %s, %s", clean(s.name), fate(with[0]), times(len(with)))),
			},
			Remedies: []probe.Remedy{{Text: fmt.Sprintf("Mend or replace the server %s, or whatever in front of it drops the OPT record: a firewall that inspects DNS, an old appliance.", s.server)}},
		}
		switch s.first.r.Libc {
		case probe.Glibc:
			f.Remedies = append(f.Remedies, probe.Remedy{Text: "Until then take the option edns0 out of the settings: glibc then sends no OPT record."})
		case probe.Go:
			f.Remedies = append(f.Remedies, probe.Remedy{Text: "Until then run the program with GODEBUG=netedns0=0: Go then sends no OPT record."})
		default:
			f.Remedies = append(f.Remedies, probe.Remedy{Text: "No dnsConfig change helps " + libc + ": its OPT record is not up to the settings."})
		}
		return []probe.Finding{f}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, s := range v.ednsSuspects() {
		asks = append(asks, ask(over(s.server, probe.UDP), s.name, s.first.q.Type))
		if number(v.heard(over(s.server, probe.UDP), s.name), transmission.understood) > 0 {
			asks = append(asks, ask(withEDNS(over(s.server, probe.UDP)), s.name, s.first.q.Type).again(2))
		}
	}
	return asks
}, page: page{
	needs:    "A libc that sends an OPT record; the same name answered without one, and twice not with one, by the same server.",
	remedies: "Mend the server or the box in front of it. Until then no OPT record: without edns0 on glibc, GODEBUG=netedns0=0 for Go.",
	wrong:    "Calling the server dead: it answers. Trying it with dig and +noedns, or with busybox nslookup, which send none.",
}}

// ednsSuspect is a name that a server answered with an error or not at all, to a libc that sends an OPT record.
type ednsSuspect struct {
	server netip.Addr
	name   string
	first  transmission
}

// ednsErrors are the rcodes with which servers answer an OPT record that they do not like.
var ednsErrors = []string{"FORMERR", "NOTIMP", "SERVFAIL", "REFUSED", "BADVERS"}

func (m transmission) understood() bool {
	return m.replied() && (m.t.Reply == "NOERROR" || m.t.Reply == "NXDOMAIN")
}

// ednsSuspects returns the first such name of each server that answered nothing well.
func (v *view) ednsSuspects() []ednsSuspect {
	var out []ednsSuspect
	sent := v.sent()
	for _, server := range askedAt(sent) {
		here := only(sent, udpTo(server))
		if len(here) == 0 || !v.sendsEDNS(here[0].r) || number(here, transmission.understood) > 0 || number(here, transmission.refused) > 0 {
			continue
		}
		if i := slices.IndexFunc(here, func(m transmission) bool { return m.lost() || slices.Contains(ednsErrors, m.t.Reply) }); i >= 0 {
			out = append(out, ednsSuspect{server, here[i].a.Name, here[i]})
		}
	}
	return out
}
