package scenario

import (
	"fmt"
	"slices"
	"time"
)

// Tolerance of send times: real libcs run late by the granularity of poll, and by the load of the machine.
const (
	ToleranceFixed = 60 * time.Millisecond
	ToleranceShare = 0.01
)

// Difference is one way in which two lists of packets are not equal.
type Difference struct {
	// Index is the position in the lists, -1 when the lists differ as a whole.
	Index int
	// Field names what differs: "count", "name", "type", "transport", "server", "socket", "id", "size", "ad", "edns", "raw", "time".
	Field          string
	Observed, Ours string
}

func (d Difference) String() string {
	if d.Index < 0 {
		return fmt.Sprintf("%s: observed %s, ours %s", d.Field, d.Observed, d.Ours)
	}
	return fmt.Sprintf("packet %d: %s: observed %s, ours %s", d.Index+1, d.Field, d.Observed, d.Ours)
}

// Compare compares the packets of a real libc with ours, by name, type, transport, server, header bits, EDNS, size, the
// classes of sockets and ids, and send times within the tolerance; in order. SYNs count when both sides have some, sizes
// and EDNS where both sides know the size. What a libc decides by dice (rotate's first server, Go's order inside a pair) is
// for the caller to line up first.
func Compare(observed, ours []Packet) []Difference {
	if !hasSYN(observed) || !hasSYN(ours) {
		observed, ours = withoutSYN(observed), withoutSYN(ours)
	}
	return CompareAll(observed, ours)
}

// CompareAll is Compare for two sides that know of SYNs, also where one of them has none.
func CompareAll(observed, ours []Packet) []Difference {
	var all []Difference
	if len(observed) != len(ours) {
		all = append(all, Difference{Index: -1, Field: "count", Observed: fmt.Sprint(len(observed)), Ours: fmt.Sprint(len(ours))})
	}
	for i := range min(len(observed), len(ours)) {
		all = append(all, comparePacket(i, observed[i], ours[i])...)
	}
	return all
}

func comparePacket(i int, a, b Packet) []Difference {
	var out []Difference
	check := func(same bool, field string, observed, ours any) {
		if !same {
			out = append(out, Difference{Index: i, Field: field, Observed: fmt.Sprintf("%+v", observed), Ours: fmt.Sprintf("%+v", ours)})
		}
	}
	check(a.Name == b.Name, "name", a.Name, b.Name)
	check(a.Type == b.Type, "type", a.Type, b.Type)
	check(a.Transport == b.Transport, "transport", a.Transport, b.Transport)
	check(a.Server == b.Server, "server", a.Server, b.Server)
	check(a.Socket == b.Socket, "socket", a.Socket, b.Socket)
	check(a.ID == b.ID, "id", a.ID, b.ID)
	check(a.Raw == b.Raw, "raw", a.Raw, b.Raw)
	if a.Size != 0 && b.Size != 0 {
		check(a.Size == b.Size, "size", a.Size, b.Size)
		check(a.AD == b.AD, "ad", a.AD, b.AD)
		check(a.EDNSSize == b.EDNSSize && slices.Equal(a.EDNSOptions, b.EDNSOptions), "edns",
			fmt.Sprint(a.EDNSSize, a.EDNSOptions), fmt.Sprint(b.EDNSSize, b.EDNSOptions))
	}
	check(Near(a.At, b.At), "time", a.At, b.At)
	return out
}

// Near reports whether our time equals an observed one within the tolerance.
func Near(observed, ours time.Duration) bool {
	return (observed - ours).Abs() <= ToleranceFixed+time.Duration(float64(max(observed, ours))*ToleranceShare)
}
