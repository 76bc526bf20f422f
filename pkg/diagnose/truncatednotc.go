package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// truncatedNoTC: a server cuts an answer over UDP and does not say so: TC is not set, and over TCP the same server gives the same
// records and more, every time. So the resolver never asks for the rest.
//
// A server that picks records anew for each answer is none: over UDP it gives others each time, over TCP as few.
var truncatedNoTC = rule{class: "truncated-no-tc", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, s := range v.shortened() {
		server := addressOf(s.t.Server)
		udp := append([]transmission{s}, only(v.heard(v.asTheLibc(server, s.r), s.a.Name), func(m transmission) bool { return m.q.Type == s.q.Type })...)
		tcp := only(v.heard(over(server, probe.TCP), s.a.Name), func(m transmission) bool { return m.q.Type == s.q.Type })
		if len(udp) < 2 || len(tcp) < 2 {
			continue
		}
		whole := dataOf(tcp[0])
		same := func(m transmission) bool { return slices.Equal(dataOf(m), whole) }
		less := func(m transmission) bool {
			return m.replied() && m.t.Reply == "NOERROR" && !slices.Contains(m.t.Flags, "TC") && len(dataOf(m)) < len(whole) && within(dataOf(m), whole)
		}
		if len(whole) == 0 || number(tcp, same) < len(tcp) || number(udp, less) < len(udp) {
			continue
		}
		got := len(dataOf(s))
		findings = append(findings, probe.Finding{
			Severity: severity(s.r),
			Title: fmt.Sprintf("%s gives %d of %d records of %s over UDP and does not say that it cut the answer (TC is not set).", server, got, len(whole),
				clean(s.a.Name)),
			Explain: "A resolver asks again over TCP only when TC is set (RFC 2181 section 9). So the application never learns of the other records.",
			Evidence: []probe.Evidence{
				s.evidence(fmt.Sprintf("%s %s over UDP: %s in %d bytes, TC not set", clean(s.a.Name), s.q.Type, count(got, "record", "records"), s.t.Size)),
				tcp[0].evidence(fmt.Sprintf("%s %s over TCP: %s in %d bytes, %s", clean(s.a.Name), s.q.Type, count(len(whole), "record", "records"), tcp[0].t.Size, times(len(tcp)))),
			},
			Remedies: v.cutRemedies(s.r),
		})
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, s := range v.shortened() {
		server := addressOf(s.t.Server)
		asks = append(asks, ask(over(server, probe.TCP), s.a.Name, s.q.Type))
		tcp := v.heard(over(server, probe.TCP), s.a.Name)
		if len(tcp) > 0 && len(dataOf(tcp[0])) > len(dataOf(s)) {
			asks = append(asks, ask(over(server, probe.TCP), s.a.Name, s.q.Type).again(2), ask(v.asTheLibc(server, s.r), s.a.Name, s.q.Type))
		}
	}
	return asks
}, page: page{
	needs: "An answer over UDP that is empty or close to 512 bytes without TC; twice over TCP the same, larger set of records that holds all of them, and twice over " +
		"UDP fewer.",
	remedies: "A server, or a box in front of it, that sets TC when it cuts. Until then use-vc on glibc and Go.",
	wrong:    "edns0 alone: whoever cuts without saying so often does not look at the announced size.",
}}

// nearFull is the size in bytes from which an answer over UDP without EDNS can have been cut: another address record would not fit, or a
// box in front of the server keeps less.
const nearFull = 440

// shortened returns the messages whose answers can have been cut without a word: full ones, and an empty one for a host that has no
// address at all. One of each type and name.
func (v *view) shortened() []transmission {
	var out []transmission
	seen := map[string]bool{}
	for _, m := range transmissionsOf(v.now...) {
		if !m.replied() || m.t.Transport != probe.UDP || m.t.Reply != "NOERROR" || slices.Contains(m.t.Flags, "TC") || seen[m.question()] || !addressOf(m.t.Server).IsValid() {
			continue
		}
		full := len(m.q.Answers) > 0 && m.t.Size >= nearFull && m.t.Size <= maxPlainUDP
		empty := len(m.q.Answers) == 0 && m.q.Type == probe.TypeA && m.a.Decided && m.r.Outcome == probe.NoData && m.t.SOAMinimum == nil
		if full || empty {
			seen[m.question()] = true
			out = append(out, m)
		}
	}
	return out[:min(len(out), 2)]
}

// dataOf returns the address records that a message brought, sorted.
func dataOf(m transmission) []string {
	var out []string
	for _, a := range m.q.Answers {
		if a.Type == string(m.q.Type) {
			out = append(out, a.Data)
		}
	}
	slices.Sort(out)
	return out
}

func within(some, all []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

func (v *view) cutRemedies(r *probe.Resolution) []probe.Remedy {
	out := []probe.Remedy{{Text: "Have the server set TC when it cuts an answer (in Consul: enable_truncate), or mend the load balancer or firewall that cuts it on the way."}}
	if r.Libc == probe.Glibc || r.Libc == probe.Go {
		out = append(out, probe.Remedy{
			Text: "Until then set the option use-vc in dnsConfig: " + libcName(r.Libc) + " then asks over TCP, where nothing is cut.", Caveat: "Each lookup costs a handshake. musl ignores it.",
		})
	}
	return out
}
