package conformance

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/musl"
)

// MemoryOfMusl is a reason for leaving out a random case.
const MemoryOfMusl = "musl before 1.2.4 fills the end of an address with what is in its memory, where a reply does not fit its buffer"

// LastRound is a reason for leaving out a random case.
const LastRound = "musl's rounds come so close to its timeout that a timer's lateness of less than a millisecond decides whether one more fits"

// countByServer makes each server count the queries of one type only where servers count at all: all are asked at once, and
// which of them a query reaches first is a race.
func countByServer(c Case) Case {
	c = countByType(c)
	for i := range c.Rules {
		if r := &c.Rules[i]; len(r.Nth) > 0 && r.Server == nil && len(c.Servers) > 0 {
			r.Server = &c.Servers[i%len(c.Servers)].Addr
		}
	}
	return c
}

// unpredictable says why what is predicted cannot be compared, empty when it can.
func (l Library) unpredictable(p Prediction) string {
	cut := func(note string) bool { return strings.Contains(note, musl.CutNote) }
	if l.Libc == probe.Musl && slices.ContainsFunc(p.Notes, cut) {
		return MemoryOfMusl
	}
	if l.Libc == probe.Go && floods(p.Packets) {
		return GoFlood
	}
	if l.Node != "" && slices.Contains(p.Codes, "EAI_SYSTEM") {
		return NodeErrno
	}
	return ""
}
