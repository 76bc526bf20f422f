package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// upstreamRateLimit: names that leave the cluster fail, are late or lost once about the same number of them was asked within a second,
// and are answered again in the next one; names of the cluster, asked all the while, never fail.
//
// A limit is a matter of counts: it takes three seconds with failures, each after a like number of answers. Failures that come at random
// come after numbers that differ.
var upstreamRateLimit = rule{class: "upstream-rate-limit", judge: func(v *view) []probe.Finding {
	if v.zone == "" {
		return nil
	}
	sent := inOrder(only(v.sent(), func(m transmission) bool { return m.t.Transport == probe.UDP }))
	outside := only(sent, func(m transmission) bool { return v.leaves(m.a.Name) })
	inside := only(sent, func(m transmission) bool { return !v.leaves(m.a.Name) })
	bad := only(outside, transmission.failed)
	if len(bad) < samples || len(inside) < minInside || number(inside, transmission.failed) > 0 {
		return nil
	}
	limit, seconds, ok := limitOf(outside)
	if !ok {
		return nil
	}
	first := bad[0]
	f := probe.Finding{
		Severity: severity(first.r),
		Title: fmt.Sprintf("names that leave the cluster fail above about %d upstream queries in a second, and are answered again in the next: %d of %d messages, in %d "+
			"different seconds.", limit, len(bad), len(outside), seconds),
		Explain: fmt.Sprintf("Names of the cluster never failed meanwhile (0 of %d), so the pod's way to the cluster's DNS is fine. Whoever it asks limits the rate: cloud "+
			"resolvers do so for each network interface. %s", len(inside), v.upstreamCost(first)),
		Evidence: []probe.Evidence{
			first.evidence(fmt.Sprintf("%s %s: %s, after %s in that second", clean(first.a.Name), first.q.Type, fate(first), count(limit, "answer", "answers"))),
		},
		Remedies: v.rateRemedies(first),
	}
	f.Evidence = append(f.Evidence, v.sameNode()...)
	return []probe.Finding{f}
}, page: page{
	needs: "Hundreds of lookups within seconds (`--count 300`), among them names of the cluster; failures only of names that leave it, each time after " +
		"about as many answers within the second.",
	remedies: "Fewer upstream queries for each lookup (a smaller ndots, fewer search domains that leave the cluster), a cache on the nodes, DNS pods on " +
		"different nodes, dnsPolicy Default for pods that use no Service.",
	wrong: "half-pair-loss and its options: whole lookups fail, and only those that leave the cluster. More DNS pods on the same node: they share its limit.",
}}

// minInside is how many answers for names of the cluster show that the way to its DNS is fine.
const minInside = 10

// failed says whether the libc got nothing that it can use, or late.
func (m transmission) failed() bool { return !m.understood() || m.rtt() >= slow }

// limitOf looks for a number of answers in a second after which messages fail until the second is over. Where seconds begin is up to
// whoever counts, so each moment at which failures ended is tried.
func limitOf(list []transmission) (limit, seconds int, ok bool) {
	starts := []time.Duration{0}
	for i := 1; i < len(list); i++ {
		if list[i-1].failed() && !list[i].failed() {
			starts = append(starts, time.Duration(list[i].at().UnixNano())%time.Second)
		}
	}
	slices.Sort(starts)
	for _, start := range slices.Compact(starts) {
		if limit, seconds, ok = limitFrom(list, start); ok {
			return limit, seconds, true
		}
	}
	return 0, 0, false
}

// limitFrom is limitOf where seconds begin at start.
func limitFrom(list []transmission, start time.Duration) (limit, seconds int, ok bool) {
	before := map[int64]int{} // answers of a second, before its first failure
	failed := map[int64]bool{}
	for _, m := range list {
		second := (m.at().UnixNano() - int64(start)) / int64(time.Second)
		switch {
		case m.failed():
			failed[second] = true
		case failed[second]:
			return 0, 0, false // an answer after a failure: no limit was reached
		default:
			before[second]++
		}
	}
	least, most := 0, 0
	for second := range failed {
		n := before[second]
		if least == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	for second, n := range before {
		if !failed[second] && n > most+most/10 {
			return 0, 0, false // more went through in another second
		}
	}
	// As many answers each time, and enough of them that chance does not do it.
	if len(failed) < samples || least < minInside || least < most-most/5 {
		return 0, 0, false
	}
	return (least + most) / 2, len(failed), true
}

// upstreamCost says how many queries of a lookup leave the cluster.
func (v *view) upstreamCost(m transmission) string {
	for _, r := range v.asTheyAre() {
		if r.Host != m.r.Host || r.Outcome != probe.OK || number(transmissionsOf(r), transmission.failed) > 0 {
			continue
		}
		all, search := 0, 0
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if !v.leaves(a.Name) {
				continue
			}
			all += len(a.Queries)
			if a.Origin == probe.OriginSearch && !isHost(a, r) {
				search += len(a.Queries)
			}
		}
		if search > 0 {
			return fmt.Sprintf("Each lookup of %s costs %d upstream queries: %d for search domains that leave the cluster, %d for the name itself.", clean(r.Host), all, search, all-search)
		}
		return fmt.Sprintf("Each lookup of %s costs %s.", clean(r.Host), count(all, "upstream query", "upstream queries"))
	}
	return ""
}

// sameNode is the evidence that all DNS pods run on one node, and so share its limit.
func (v *view) sameNode() []probe.Evidence {
	ready, known := v.readyEndpoints()
	if !known || len(ready) < 2 || ready[0].Node == "" {
		return nil
	}
	for _, e := range ready {
		if e.Node != ready[0].Node {
			return nil
		}
	}
	return []probe.Evidence{v.known(fact.DNSEndpoints, fmt.Sprintf("all %d DNS pods run on %s: they share one network interface and its limit", len(ready), clean(ready[0].Node)))}
}

func (v *view) rateRemedies(m transmission) []probe.Remedy {
	var out []probe.Remedy
	for _, r := range v.now {
		if r.Host != m.r.Host {
			continue
		}
		if better, ok := v.ndotsRemedy(r); ok {
			better.Gain += "; fewer of them leave the cluster"
			out = append(out, better)
		} else if walkOf(r).queries > 0 {
			out = append(out, probe.Remedy{Text: fmt.Sprintf("Set ndots to %d in dnsConfig, so that outside names are asked as they are first: fewer queries leave the cluster.",
				min(dots(r.Host), 2)), Caveat: "Check it on all names that this workload uses (--also)."})
		}
	}
	spread := "Spread the DNS pods over nodes (topologySpreadConstraints): each node has a limit of its own."
	if len(v.sameNode()) > 0 {
		spread = "Spread the DNS pods over nodes (topologySpreadConstraints): all of them share the limit of one now."
	}
	return append(out, probe.Remedy{Text: spread},
		probe.Remedy{Text: "NodeLocal DNSCache: repeated names are then answered on the node, and each node asks with its own limit."},
		probe.Remedy{Text: "dnsPolicy Default for pods that use no Service: they then ask without the search list of the cluster.", Caveat: "No Service can be found any more."})
}
