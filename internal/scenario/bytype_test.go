package scenario

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// packetsFrom reads words "TYPE NAME SOCKET ID SERVER"; a type "syn" is a SYN, whose name and id mean nothing.
func packetsFrom(t *testing.T, lines ...string) []Packet {
	t.Helper()
	var out []Packet
	for _, line := range lines {
		var kind, name string
		var server int
		p := Packet{Transport: probe.UDP}
		if _, err := fmt.Sscan(line, &kind, &name, &p.Socket, &p.ID, &server); err != nil {
			t.Fatal(err)
		}
		p.Server = netip.AddrFrom4([4]byte{127, 0, 0, byte(server)})
		if kind == "syn" {
			p.Transport, p.ID = SYN, 0
		} else {
			p.Type, p.Name = probe.QueryType(kind), name
		}
		out = append(out, p)
	}
	return out
}

func show(packets []Packet) string {
	var words []string
	for _, p := range packets {
		words = append(words, fmt.Sprintf("%s%s %s s%d i%d", p.Transport, p.Type, p.Name, p.Socket, p.ID))
	}
	return strings.Join(words, ", ")
}

func TestByType(t *testing.T) {
	for _, c := range []struct{ one, other []string }{
		// The order of a pair, and how the rest of the two walks falls together.
		{[]string{"A x 1 1 2", "AAAA x 2 2 2", "A x 3 3 3"}, []string{"AAAA x 1 1 2", "A x 2 2 2", "A x 3 3 3"}},
		{[]string{"A x 1 1 2", "AAAA x 2 2 2", "AAAA x 3 3 3", "A x 4 4 3"}, []string{"AAAA x 1 1 2", "AAAA x 2 2 3", "A x 3 3 2", "A x 4 4 3"}},
		// A SYN goes with its connection's query, one without with the attempt.
		{[]string{"syn - 1 0 2", "syn - 2 0 2", "A x 1 1 2", "AAAA x 2 2 2"}, []string{"syn - 1 0 2", "AAAA x 1 1 2", "syn - 2 0 2", "A x 2 2 2"}},
		{[]string{"A x 1 1 2", "AAAA x 2 2 2", "syn - 3 0 2", "A y 4 3 2", "AAAA y 5 4 2"}, []string{"AAAA x 1 1 2", "A x 2 2 2", "syn - 3 0 2", "AAAA y 4 3 2", "A y 5 4 2"}},
		{[]string{"syn - 1 0 2", "syn - 2 0 2", "syn - 3 0 3", "syn - 4 0 3"}, []string{"syn - 1 0 2", "syn - 2 0 3", "syn - 3 0 2", "syn - 4 0 3"}},
		{
			[]string{"A x 1 1 3", "syn - 2 0 2", "syn - 3 0 2", "syn - 4 0 3", "A y 4 2 3"},
			[]string{"A x 1 1 3", "syn - 2 0 2", "syn - 3 0 3", "A y 3 2 3", "syn - 4 0 2"},
		},
		// The kernel says it again.
		{[]string{"syn - 1 0 2", "syn - 2 0 3"}, []string{"syn - 1 0 2", "syn - 1 0 2", "syn - 2 0 3"}},
	} {
		one, other := ByType(packetsFrom(t, c.one...)), ByType(packetsFrom(t, c.other...))
		if diff := Compare(one, other); len(diff) > 0 {
			t.Errorf("%s and %s differ: %v", show(one), show(other), diff)
		}
	}
	for _, c := range []struct{ one, other []string }{
		// Two queries that share a socket or an id.
		{[]string{"A x 1 1 2", "AAAA x 2 2 2"}, []string{"A x 1 1 2", "AAAA x 1 2 2"}},
		{[]string{"A x 1 1 2", "AAAA x 2 2 2"}, []string{"A x 1 1 2", "AAAA x 2 1 2"}},
		// The order of one query's servers, and of attempts.
		{[]string{"A x 1 1 2", "A x 2 2 3"}, []string{"A x 1 1 3", "A x 2 2 2"}},
		{[]string{"A x 1 1 2", "A y 2 2 2"}, []string{"A y 1 1 2", "A x 2 2 2"}},
	} {
		one, other := ByType(packetsFrom(t, c.one...)), ByType(packetsFrom(t, c.other...))
		if diff := Compare(one, other); len(diff) == 0 {
			t.Errorf("%s and %s are taken as equal", show(one), show(other))
		}
	}
}

func TestFirstTypes(t *testing.T) {
	packets := packetsFrom(t, "A x 1 1 3", "AAAA x 2 2 2", "AAAA y 3 3 4", "A y 4 4 2", "AAAA z 5 5 3")
	if got := fmt.Sprint(FirstTypes(packets, nil)); got != "[A AAAA AAAA]" {
		t.Error(got)
	}
	rotation := []netip.Addr{packets[1].Server, packets[0].Server, packets[2].Server}
	if got := fmt.Sprint(FirstTypes(packets, rotation)); got != "[AAAA AAAA AAAA]" {
		t.Error(got)
	}
}
