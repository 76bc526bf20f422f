package patch

import (
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/diagnose"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Situation is the settings as they are and what they do to the names in use.
type Situation struct {
	// Ndots is the value in force.
	Ndots int
	// Zone is the cluster's zone, empty when unknown (probe.ClusterZone).
	Zone string
	// Hosts are the resolutions of the hosts that a change is meant to help.
	Hosts []probe.Resolution
	// Also are the resolutions of the other names in use: they must keep working.
	Also []probe.Resolution
}

// names are all resolutions, hosts first.
func (s Situation) names() []probe.Resolution {
	return append(append([]probe.Resolution{}, s.Hosts...), s.Also...)
}

// Candidate is a value of ndots with the resolution of every name in use under it, by host.
type Candidate struct {
	Ndots int
	After map[string]probe.Resolution
}

// Choose returns the candidate to propose: among those that leave every name with its outcome and addresses and save queries
// for the hosts, the one that makes the fewest names in use leave the cluster that did not before, then the one with the
// fewest queries in all, then the one nearest to the value in force.
//
// It returns false when no candidate helps, or none is needed. A candidate of which the resolution of a name is not known
// is never chosen.
func Choose(s Situation, candidates []Candidate) (Candidate, bool) {
	var best Candidate
	var bestCost cost
	chosen := false
	for _, c := range candidates {
		k, ok := s.cost(c)
		if !ok || chosen && !k.less(bestCost) {
			continue
		}
		best, bestCost, chosen = c, k, true
	}
	return best, chosen
}

// cost is what speaks against a candidate, the weightiest first.
type cost struct{ leaving, queries, distance int }

func (a cost) less(b cost) bool {
	if a.leaving != b.leaving {
		return a.leaving < b.leaving
	}
	if a.queries != b.queries {
		return a.queries < b.queries
	}
	return a.distance < b.distance
}

// cost weighs c, and returns false when c cannot be proposed at all.
func (s Situation) cost(c Candidate) (cost, bool) {
	k := cost{distance: max(c.Ndots-s.Ndots, s.Ndots-c.Ndots)}
	if k.distance == 0 {
		return k, false
	}
	saved := 0
	for i, before := range s.names() {
		after, known := c.After[before.Host]
		if !known || after.Outcome == "" || !experiment.Same(before, after) {
			return k, false
		}
		if i < len(s.Hosts) {
			saved += before.QueriesSent - after.QueriesSent
		}
		k.queries += after.QueriesSent - before.QueriesSent
		if LeavesMore(before, after, s.Zone) {
			k.leaving++
		}
	}
	return k, saved > 0 && k.queries < 0
}

// LeavesMore says whether after asks more names outside of the cluster than before does.
func LeavesMore(before, after probe.Resolution, zone string) bool {
	return outside(after, zone) > outside(before, zone)
}

// outside counts the attempts whose name the cluster's DNS has to ask somebody else about.
func outside(r probe.Resolution, zone string) int {
	n := 0
	for _, a := range r.Attempts {
		if len(a.Queries) > 0 && diagnose.LeavesCluster(a.Name, zone) {
			n++
		}
	}
	return n
}

// Names compares every name in use before and after the change.
func (s Situation) Names(c Candidate) []probe.PatchName {
	names := []probe.PatchName{}
	for _, before := range s.names() {
		after := c.After[before.Host]
		n := probe.PatchName{
			Name: before.Host, Before: result(before), After: result(after),
			Same: after.Outcome != "" && experiment.Same(before, after),
		}
		if LeavesMore(before, after, s.Zone) {
			n.Note = "leaves the cluster"
		}
		names = append(names, n)
	}
	return names
}

func result(r probe.Resolution) probe.NameResult {
	addresses := r.Addresses
	if addresses == nil {
		addresses = []string{}
	}
	return probe.NameResult{
		Outcome: r.Outcome, Addresses: addresses, QueriesSent: r.QueriesSent, Duration: r.Duration, Source: r.Source,
	}
}
