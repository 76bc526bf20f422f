package experiment

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Same says whether b gives the application what a gives it: the same outcome, and the same addresses in any order.
//
// Addresses of one name may rotate from reply to reply (load balancing does that), so other addresses count as the same when
// both come from the same fully qualified name.
func Same(a, b probe.Resolution) bool {
	if a.Outcome != b.Outcome {
		return false
	}
	if a.Outcome != probe.OK || sameSet(a.Addresses, b.Addresses) {
		return true
	}
	x, y := DecidedName(a), DecidedName(b)
	return x != "" && strings.EqualFold(x, y)
}

// DecidedName is the fully qualified name that decided r, empty when none did.
func DecidedName(r probe.Resolution) string {
	for _, a := range r.Attempts {
		if a.Decided {
			return a.Name
		}
	}
	return ""
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
