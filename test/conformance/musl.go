package conformance

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/musl"
)

// MemoryOfMusl is a reason for leaving out a random case.
const MemoryOfMusl = "musl before 1.2.4 fills the end of an address with what is in its memory, where a reply does not fit its buffer"

// unpredictable says why what is predicted cannot be compared, empty when it can.
func (l Library) unpredictable(p Prediction) string {
	cut := func(note string) bool { return strings.Contains(note, musl.CutNote) }
	if l.Libc == probe.Musl && slices.ContainsFunc(p.Notes, cut) {
		return MemoryOfMusl
	}
	return ""
}
