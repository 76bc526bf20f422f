package scenario

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// ByType lines up the packets of a libc that asks for the two types of a pair at once and apart from each other, as Go's two
// goroutines do: in each attempt first all packets of the A query, in order, then those of the AAAA query, with classes of
// sockets and ids counted anew. That is all that is left open: the packets of one query, and the attempts, stay in order.
// Attempts for the same name in a row count as one. SYNs of connections that never carried a query cannot be told apart by
// type: they come first, in order of servers.
func ByType(packets []Packet) []Packet {
	var out []Packet
	sockets, ids := classes[int]{}, classes[int]{}
	for _, attempt := range attempts(packets) {
		slices.SortStableFunc(attempt, func(a, b Packet) int {
			if a.Type == "" && b.Type == "" {
				return a.Server.Compare(b.Server)
			}
			return strings.Compare(string(a.Type), string(b.Type))
		})
		for _, p := range attempt {
			p.Socket = sockets.of(p.Socket)
			if p.Transport != SYN {
				p.ID = ids.of(p.ID)
			}
			out = append(out, p)
		}
	}
	return out
}

// FirstTypes returns which type began in each attempt, as ByType has attempts: the one whose query went out first, or where
// servers take turns, and each query draws its server before it is sent, the one that drew first. rotation are those servers,
// in order; nil without turns.
func FirstTypes(packets []Packet, rotation []netip.Addr) []probe.QueryType {
	var out []probe.QueryType
	for i, attempt := range attempts(packets) {
		first := attempt[0].Type
		if n := len(rotation); n > 0 && attempt[0].Server != rotation[2*i%n] {
			if j := slices.IndexFunc(attempt, func(p Packet) bool { return p.Type != first }); j >= 0 {
				first = attempt[j].Type
			}
		}
		out = append(out, first)
	}
	return out
}

// attempts cuts packets at each change of the name. A SYN belongs to the first query on its connection, one without to the
// attempt under way.
func attempts(packets []Packet) [][]Packet {
	packets = slices.Clone(packets)
	for i := range packets {
		if p := &packets[i]; p.Transport == SYN {
			after := packets[i+1:]
			if j := slices.IndexFunc(after, func(q Packet) bool { return q.Socket == p.Socket }); j >= 0 {
				p.Name, p.Type = after[j].Name, after[j].Type
			}
		}
	}
	var out [][]Packet
	name := ""
	for _, p := range packets {
		if n := len(out); n > 0 && (p.Name == "" || p.Name == name || name == "") {
			out[n-1] = append(out[n-1], p)
			name = max(name, p.Name)
			continue
		}
		out = append(out, []Packet{p})
		name = p.Name
	}
	return out
}
