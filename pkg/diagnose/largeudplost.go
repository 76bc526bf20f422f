package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxPlainUDP is what a reply over UDP may hold without EDNS, in bytes (RFC 1035 section 2.3.4).
const maxPlainUDP = 512

// largeUDPLost: one name gets no reply over UDP, TCP to the same server brings an answer of more than 512 bytes for it, and small
// replies over UDP arrive. So what is too large is lost on the way: fragments that a firewall drops, or a path MTU that is smaller than
// the interface says.
var largeUDPLost = rule{class: "large-udp-lost", judge: func(v *view) []probe.Finding {
	for _, s := range v.silentNames() {
		r := s.first.r
		direct := v.heard(v.asTheLibc(s.server, r), s.first.a.Name)
		direct = only(direct, func(m transmission) bool { return m.q.Type == s.first.q.Type })
		big, found := foundIn(v.heard(over(s.server, probe.TCP), s.first.a.Name))
		small := only(v.heard(v.asTheLibc(s.server, r), v.control()), transmission.replied)
		if s.lost+len(direct) < samples || number(direct, transmission.lost) < len(direct) || len(direct) == 0 || !found || len(small) == 0 {
			continue
		}
		if big.t.Size <= maxPlainUDP || small[0].t.Size >= big.t.Size || v.sendsEDNS(r) && big.t.Size > ednsSize+ednsSize/4 {
			continue
		}
		return []probe.Finding{{
			Severity: severity(r),
			Title: fmt.Sprintf("the answer for %s (%d bytes) is lost over UDP: 0 replies to %s; over TCP it arrives, and so do small answers.", clean(s.first.a.Name),
				big.t.Size, count(s.lost+len(direct), "message", "messages")),
			Explain: "Small replies from the same server come over UDP, and this one does not: something between it and the pod drops large messages or their " +
				"fragments. The name itself is fine.",
			Evidence: []probe.Evidence{
				s.first.evidence(fmt.Sprintf("%s %s over UDP: no reply from %s", clean(s.first.a.Name), s.first.q.Type, s.server)),
				big.evidence(fmt.Sprintf("%s over TCP: %s, %d bytes", clean(big.r.Host), fate(big), big.t.Size)),
				small[0].evidence(fmt.Sprintf("%s over UDP: %s, %d bytes", clean(small[0].r.Host), fate(small[0]), small[0].t.Size)),
			},
			Remedies: v.largeRemedies(r),
		}}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, s := range v.suspects() {
		// What the libc asked, once more alone; the same over TCP, where size does not matter; a small answer the same way.
		q := v.asTheLibc(s.server, s.first.r)
		asks = append(asks, ask(q, v.control(), probe.TypeA))
		if len(v.heard(q, v.control())) > 0 {
			asks = append(asks, ask(over(s.server, probe.TCP), s.first.a.Name, s.first.q.Type), ask(q, s.first.a.Name, s.first.q.Type))
		}
	}
	return asks
}, page: page{
	needs: "Three messages over UDP at least without a reply for a name, an answer of more than 512 bytes for it over TCP, and a small answer over UDP from " +
		"the same server.",
	remedies: "Let fragments pass, or lower the size at which servers truncate (bufsize in the Corefile), so that large answers go over TCP.",
	wrong:    "A longer timeout: the next reply is as large. Calling the name or its server dead.",
}}

// suspects are the silent names that are worth asking about: one, since each costs seconds, and the host itself, since a search domain
// has no large answer for it.
func (v *view) suspects() []silentName {
	list := slices.DeleteFunc(v.silentNames(), func(s silentName) bool { return !isHost(s.first.a, s.first.r) })
	if len(list) == 0 {
		// A server that answered nothing yet may answer a small question.
		sent, servers := v.totalSilence()
		if len(sent) < 2 || len(servers) != 1 || !servers[0].IsValid() {
			return nil
		}
		if number(v.heard(over(servers[0], probe.UDP), ""), transmission.replied) == 0 {
			return nil
		}
		list = []silentName{{server: servers[0], first: sent[0], lost: len(sent)}}
	}
	return list[:1]
}

func (v *view) largeRemedies(r *probe.Resolution) []probe.Remedy {
	out := []probe.Remedy{
		{Text: "Let UDP fragments and messages of up to 1,500 bytes pass between the pod and the DNS server: firewalls, security groups, and the MTU of the overlay."},
		{Text: "Or have the servers truncate sooner, so that large answers go over TCP: the plugin bufsize with 1232 or 512 in the Corefile."},
	}
	if r.Libc == probe.Glibc && v.sendsEDNS(r) {
		out = append(out, probe.Remedy{Text: "Until then take the option edns0 away: answers over 512 bytes are then truncated and asked for over TCP."})
	} else if r.Libc == probe.Glibc || r.Libc == probe.Go {
		out = append(out, probe.Remedy{Text: "Until then set the option use-vc in dnsConfig: " + libcName(r.Libc) + " then asks over TCP.", Caveat: "Each lookup costs a handshake. musl ignores it."})
	}
	return out
}
