package diagnose

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// transmission is a message of the trace with all that it belongs to.
type transmission struct {
	r *probe.Resolution
	a *probe.Attempt
	q *probe.Query
	t *probe.Transmission
}

// transmissionsOf returns the messages of resolutions whose fate is known, in the order of the trace. What a libc did not wait for, and
// what the trace leaves open, says nothing about servers and paths.
func transmissionsOf(list ...*probe.Resolution) []transmission {
	var out []transmission
	for _, r := range list {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			for j := range a.Queries {
				q := &a.Queries[j]
				for k := range q.Transmissions {
					if t := &q.Transmissions[k]; t.Reply != probe.ReplyAbandoned && t.Reply != "" {
						out = append(out, transmission{r, a, q, t})
					}
				}
			}
		}
	}
	return out
}

func (m transmission) lost() bool    { return m.t.Received == nil && m.t.Reply == probe.ReplyLost }
func (m transmission) replied() bool { return m.t.Received != nil }

// refused says whether ICMP said that there is nothing at the address.
func (m transmission) refused() bool {
	return m.t.Received == nil && (m.t.Reply == probe.ReplyICMPRefused || m.t.Reply == probe.ReplyUnreachable)
}

// rtt is the time to the reply, 0 without one.
func (m transmission) rtt() probe.Millis {
	if m.t.Received == nil {
		return 0
	}
	return *m.t.Received - m.t.Sent
}

// at is when the message was sent.
func (m transmission) at() time.Time { return m.r.StartedAt.Add(m.t.Sent.Duration()) }

// flow is what the message has in common with all others of its source port.
func (m transmission) flow() socket { return socket{m.r.ID, m.t.Socket} }

// evidence points at the attempt of m.
func (m transmission) evidence(text string) probe.Evidence { return at(m.r, m.a, text) }

// only returns the messages that a test lets pass.
func only(list []transmission, pass func(transmission) bool) []transmission {
	var out []transmission
	for _, m := range list {
		if pass(m) {
			out = append(out, m)
		}
	}
	return out
}

// number counts the messages that a test lets pass.
func number(list []transmission, pass func(transmission) bool) int { return len(only(list, pass)) }

// udpTo lets pass what was sent to an address over UDP.
func udpTo(addr netip.Addr) func(transmission) bool {
	return func(m transmission) bool { return m.t.Transport == probe.UDP && addressOf(m.t.Server) == addr }
}

// addressOf is the IP address of a server in a trace, the invalid one when it cannot be read.
func addressOf(server string) netip.Addr {
	if p, err := netip.ParseAddrPort(server); err == nil {
		return p.Addr().Unmap()
	}
	a, err := netip.ParseAddr(server)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}

// sent are the messages of the hosts' resolutions under the settings as they are. Callers do not change the list.
func (v *view) sent() []transmission {
	if v.messages == nil {
		v.messages = transmissionsOf(v.asTheyAre()...)
	}
	return v.messages
}

// asTheyAre returns all resolutions of the hosts under the settings as they are, in the order in which they were made.
func (v *view) asTheyAre() []*probe.Resolution {
	hosts := map[string]bool{}
	for _, r := range v.now {
		hosts[r.Host] = true
	}
	var out []*probe.Resolution
	for _, r := range v.all {
		if hosts[r.Host] && asTheyAre(r) {
			out = append(out, r)
		}
	}
	return out
}

// askedAt returns the addresses that the target's resolver asked, in the order first seen.
func askedAt(list []transmission) []netip.Addr {
	var out []netip.Addr
	for _, m := range list {
		if a := addressOf(m.t.Server); a.IsValid() && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// pairing is a pair whose halves left one socket for one server at once, the second before the first was answered.
type pairing struct{ first, second transmission }

// together is how close the halves of a pair leave, in the slowest libc on a busy node.
const together = probe.Millis(20 * time.Millisecond)

// pairings returns the pairs among messages that shared a socket.
func pairings(list []transmission) []pairing {
	var out []pairing
	for i, m := range list {
		if m.q.Type != probe.TypeA || m.t.Transport != probe.UDP {
			continue
		}
		for _, n := range list[i+1:] {
			if n.r != m.r || n.a != m.a {
				break
			}
			if n.q.Type != probe.TypeAAAA || n.t.Socket != m.t.Socket || n.t.Server != m.t.Server {
				continue
			}
			p := pairing{m, n}
			if n.t.Sent < m.t.Sent {
				p = pairing{n, m}
			}
			if p.second.t.Sent-p.first.t.Sent <= together && (!p.first.replied() || *p.first.t.Received > p.second.t.Sent) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// halfLost returns the half of the pair that was lost and the one that was answered.
func (p pairing) halfLost() (lost, answered transmission, ok bool) {
	switch {
	case p.first.lost() && p.second.replied():
		return p.first, p.second, true
	case p.second.lost() && p.first.replied():
		return p.second, p.first, true
	}
	return transmission{}, transmission{}, false
}

// rtts returns the times to the replies of messages, sorted.
func rtts(list []transmission) []probe.Millis {
	var out []probe.Millis
	for _, m := range list {
		if m.replied() {
			out = append(out, m.rtt())
		}
	}
	slices.Sort(out)
	return out
}

// inOrder sorts messages by the time at which they were sent.
func inOrder(list []transmission) []transmission {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b transmission) int { return cmp.Compare(a.at().UnixNano(), b.at().UnixNano()) })
	return out
}
