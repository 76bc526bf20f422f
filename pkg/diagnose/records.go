package diagnose

import (
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// addressesOnly returns r without the attempts that asked for other records than addresses, as gRPC-Go's for TXT: they are about
// other names than the host, and rules would take them for candidates of it. It is r itself where there are none.
func addressesOnly(r *probe.Resolution) *probe.Resolution {
	other := func(a probe.Attempt) bool {
		return len(a.Queries) > 0 && !slices.ContainsFunc(a.Queries, func(q probe.Query) bool {
			return q.Type == probe.TypeA || q.Type == probe.TypeAAAA
		})
	}
	if !slices.ContainsFunc(r.Attempts, other) {
		return r
	}
	seen := *r
	seen.Attempts = slices.DeleteFunc(slices.Clone(r.Attempts), other)
	return &seen
}
