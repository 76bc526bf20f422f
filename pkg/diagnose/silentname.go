package diagnose

import (
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// silentName is a question that a server left unanswered every time the target's resolver asked it, while it answered other ones.
type silentName struct {
	server netip.Addr
	// first is the first message that was lost.
	first transmission
	// lost counts the messages of the hosts' resolutions.
	lost int
}

// silentNames returns them, in the order of the trace. Where a server answers nothing at all, the name has no part in it.
func (v *view) silentNames() []silentName {
	sent := only(v.sent(), func(m transmission) bool { return m.t.Transport == probe.UDP })
	index := map[string]int{}
	answered, alive := map[string]bool{}, map[netip.Addr]bool{}
	var out []silentName
	for _, m := range sent {
		server := addressOf(m.t.Server)
		key := server.String() + " " + m.question()
		switch i, seen := index[key]; {
		case !m.lost():
			answered[key] = true
			alive[server] = alive[server] || m.replied()
		case seen:
			out[i].lost++
		default:
			index[key] = len(out)
			out = append(out, silentName{server: server, first: m, lost: 1})
		}
	}
	var kept []silentName
	for _, s := range out {
		key := s.server.String() + " " + s.first.question()
		alive := alive[s.server] || number(v.heard(over(s.server, probe.UDP), v.control()), transmission.replied) > 0
		if s.server.IsValid() && !answered[key] && alive {
			kept = append(kept, s)
		}
	}
	return kept
}

// sendsEDNS says whether the messages of r carry an OPT record: always for Go and c-ares, by the option edns0 for glibc, never for musl.
func (v *view) sendsEDNS(r *probe.Resolution) bool {
	switch r.Libc {
	case probe.Go, probe.CAres:
		return true
	case probe.Glibc:
		for _, o := range v.run.Settings.Options {
			if o == "edns0" {
				return true
			}
		}
	}
	return false
}

// asTheLibc is a question over UDP with an OPT record where the libc of r sends one.
func (v *view) asTheLibc(server netip.Addr, r *probe.Resolution) probe.Question {
	if v.sendsEDNS(r) {
		return withEDNS(over(server, probe.UDP))
	}
	return over(server, probe.UDP)
}

// foundIn returns the first message of a list that brought records.
func foundIn(list []transmission) (transmission, bool) {
	for _, m := range list {
		if m.replied() && m.t.Reply == "NOERROR" && len(m.q.Answers) > 0 {
			return m, true
		}
	}
	return transmission{}, false
}
