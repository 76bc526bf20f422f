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
// type or attempt: they come last, by server. A SYN that the kernel repeats on a connection is no doing of the libc's, and is
// left out.
func ByType(packets []Packet) []Packet {
	packets = ownSYNs(packets)
	var out, bare []Packet
	for _, p := range packets {
		if p.Transport == SYN && p.Type == "" {
			bare = append(bare, p)
		}
	}
	packets = slices.DeleteFunc(packets, func(p Packet) bool { return p.Transport == SYN && p.Type == "" })
	for _, attempt := range attempts(packets) {
		slices.SortStableFunc(attempt, func(a, b Packet) int { return strings.Compare(string(a.Type), string(b.Type)) })
		out = append(out, attempt...)
	}
	slices.SortStableFunc(bare, func(a, b Packet) int { return a.Server.Compare(b.Server) })
	out = append(out, bare...)
	sockets, ids := classes[int]{}, classes[int]{}
	for i := range out {
		if p := &out[i]; p.Transport != SYN {
			p.ID = ids.of(p.ID)
		}
		out[i].Socket = sockets.of(out[i].Socket)
	}
	return out
}

// FirstTypes returns which type began in each attempt, as ByType has attempts: the one whose query went out first, or where
// servers take turns, and each query draws its server before it is sent, the one that drew first. rotation are those servers,
// in order; nil without turns.
func FirstTypes(packets []Packet, rotation []netip.Addr) []probe.QueryType {
	var out []probe.QueryType
	for i, attempt := range attempts(ownSYNs(packets)) {
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

// ownSYNs returns a copy of packets in which each SYN has the name and type of the first query on its connection, if there was
// one, and none is there twice.
func ownSYNs(packets []Packet) []Packet {
	var out []Packet
	seen := map[int]bool{}
	for i, p := range packets {
		if p.Transport == SYN {
			if seen[p.Socket] {
				continue
			}
			seen[p.Socket] = true
			after := packets[i+1:]
			if j := slices.IndexFunc(after, func(q Packet) bool { return q.Socket == p.Socket && q.Transport != SYN }); j >= 0 {
				p.Name, p.Type = after[j].Name, after[j].Type
			}
		}
		out = append(out, p)
	}
	return out
}

// attempts cuts packets at each change of the name. A SYN without one belongs to the attempt under way.
func attempts(packets []Packet) [][]Packet {
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
