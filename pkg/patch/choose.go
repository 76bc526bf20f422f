package patch

import (
	"slices"
	"time"

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
	// Others are the same names through the other libcs of the pod's containers, in which they must keep working too.
	Others []Other
}

// Other is another libc that reads the same settings in the same pod.
type Other struct {
	Libc probe.Resolver
	// Before holds the resolution of each name under the settings as they are, by host.
	Before map[string]probe.Resolution
}

// names are all resolutions, hosts first.
func (s Situation) names() []probe.Resolution {
	return append(append([]probe.Resolution{}, s.Hosts...), s.Also...)
}

// Candidate is a change with the resolution of every name in use under it, by host.
type Candidate struct {
	// Ndots is the value that the change sets; 0 for another change.
	Ndots int
	// Change is that other change.
	Change Change
	After  map[string]probe.Resolution
	// Others are the resolutions through the libcs of Situation.Others, in the same order.
	Others []map[string]probe.Resolution
}

// Choose returns the candidate to propose: among those that leave every name with its outcome and addresses and save queries
// for the hosts, for outside names the usual value of ndots, then the one that makes the fewest names in use leave the cluster that did not before, then the one with the
// fewest queries in all, then the one nearest to the value in force.
//
// A name that does not resolve now may resolve then, which weighs more than any query.
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

// usual is the value of ndots that serves nearly every outside name, those as well that the pod will use tomorrow: few have less
// than two dots. Where it breaks nothing in use, two more queries for a cluster name of two dots are a fair price for that.
const usual = 2

// cost is what speaks against a candidate, the weightiest first.
type cost struct {
	failing int
	// unusual is 1 for another value of ndots than the usual one, where the hosts are outside of the cluster.
	unusual                    int
	leaving, queries, distance int
}

func (a cost) less(b cost) bool {
	if a.failing != b.failing {
		return a.failing < b.failing
	}
	if a.unusual != b.unusual {
		return a.unusual < b.unusual
	}
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
	if c.Ndots != usual && s.outside() {
		k.unusual = 1
	}
	if k.distance == 0 {
		return k, false
	}
	saved, mended := 0, 0
	for i, before := range s.names() {
		after, known := c.After[before.Host]
		if !known || !s.keeps(c, before, after) {
			return k, false
		}
		if c.Change.wanted(before, after) && i < len(s.Hosts) {
			mended++
			continue
		}
		if after.Outcome != probe.OK {
			k.failing++
		}
		if i < len(s.Hosts) {
			saved += before.QueriesSent - after.QueriesSent
		}
		k.queries += after.QueriesSent - before.QueriesSent
		if LeavesMore(before, after, s.Zone) {
			k.leaving++
		}
	}
	return k, mended > 0 || saved > 0 && k.queries < 0
}

// outside says whether every host is a name outside of the cluster.
func (s Situation) outside() bool {
	return !slices.ContainsFunc(s.Hosts, func(r probe.Resolution) bool { return !diagnose.LeavesCluster(r.Host, s.Zone) })
}

// keeps says whether the change leaves a name as good as it is in every container.
func (s Situation) keeps(c Candidate, before, after probe.Resolution) bool {
	strict := c.Change.Class == ""
	ok := func(before, after probe.Resolution) bool {
		if strict && before.Outcome != probe.OK && after.Outcome != probe.OK {
			// An order of names that is chosen to save queries has no business with how a name fails.
			return experiment.Same(before, after)
		}
		return c.Change.keeps(before, after)
	}
	if !ok(before, after) {
		return false
	}
	for i, other := range s.Others {
		was, known := other.Before[before.Host]
		if !known || i >= len(c.Others) || !ok(was, c.Others[i][before.Host]) {
			return false
		}
	}
	return true
}

// most is the part of its time that a resolution may still take for a change to count as quicker, and least what it has to save: below
// it is noise.
const (
	most  = 0.5
	least = probe.Millis(500 * time.Millisecond)
)

// Helps says whether a change that a finding calls for does what it is for, and harms no name in use: a host resolves or gets the
// answer that it should, or gets it in half the time, or the gain is one that a few tries cannot show.
func (s Situation) Helps(c Candidate) bool {
	helps := c.Change.Unseen != ""
	for i, before := range s.names() {
		after, known := c.After[before.Host]
		if !known || !s.keeps(c, before, after) {
			return false
		}
		if i < len(s.Hosts) {
			quicker := after.Outcome == probe.OK && before.Duration-after.Duration >= least && float64(after.Duration) <= most*float64(before.Duration)
			helps = helps || quicker || c.Change.wanted(before, after)
			continue
		}
	}
	if helps {
		return true
	}
	// What is broken for another libc of the pod is worth mending as well.
	for i, other := range s.Others {
		for _, host := range s.Hosts {
			was, known := other.Before[host.Host]
			if known && i < len(c.Others) && c.Change.wanted(was, c.Others[i][host.Host]) {
				return true
			}
		}
	}
	return false
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
			Same: after.Outcome != "" && experiment.Same(before, after), Wanted: c.Change.wanted(before, after),
		}
		if LeavesMore(before, after, s.Zone) {
			n.Note = "leaves the cluster"
		}
		for i, other := range s.Others {
			was, had := other.Before[before.Host]
			if !had || i >= len(c.Others) {
				continue
			}
			will := c.Others[i][before.Host]
			n.Libcs = append(n.Libcs, probe.PatchLibc{
				Libc: other.Libc.Libc, LibcVersion: other.Libc.Version, Before: result(was), After: result(will),
				Same: will.Outcome != "" && experiment.Same(was, will), Wanted: c.Change.wanted(was, will),
			})
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
