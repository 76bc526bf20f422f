package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nodeLocalUpstream: the NodeLocal DNSCache answers names of the cluster at once and loses none, and names outside now and then in steps
// of 2 s, which is how long CoreDNS waits for an upstream before it tries again (coredns plugin forward), or with SERVFAIL after its
// 5 s.
var nodeLocalUpstream = rule{class: "nodelocal-upstream", judge: func(v *view) []probe.Finding {
	for _, server := range askedAt(v.sent()) {
		l := v.lateAtCache(server)
		if l.resolutions < 2 || l.odd || l.insideFailed > 0 || len(l.inside) < minInsideCache {
			continue
		}
		first := l.late[0]
		f := probe.Finding{
			Severity: severity(first.r),
			Title: fmt.Sprintf("the NodeLocal DNSCache %s waits for its upstream: %d of %s for names outside took %s, in steps of 2 s.", server, len(l.late),
				count(l.outside, "reply", "replies"), spread(l.late)),
			Explain: fmt.Sprintf("Names of the cluster are clean: %s in %s (p50), none lost, so the way from the pod to the cache is fine. The cache gives an upstream 2 s before it asks "+
				"again. %s", count(len(l.inside), "reply", "replies"), took(median(l.inside)), v.forcedTCPText()),
			Evidence: []probe.Evidence{first.evidence(fmt.Sprintf("%s %s: %s", clean(first.a.Name), first.q.Type, fate(first)))},
			Remedies: v.cacheRemedies(),
		}
		if other := l.late[len(l.late)-1]; other.r != first.r {
			f.Evidence = append(f.Evidence, other.evidence(fmt.Sprintf("%s %s: %s", clean(other.a.Name), other.q.Type, fate(other))))
		}
		if text, known := v.facts.Text(fact.NodeLocal); known {
			f.Evidence = append(f.Evidence, v.known(fact.NodeLocal, "NodeLocal DNSCache: "+clean(text)))
		}
		if v.forcedTCP() {
			f.Evidence = append(f.Evidence, v.known(fact.NodeLocalCorefile, "the cache's Corefile has force_tcp for names outside"))
		}
		return []probe.Finding{f}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, server := range askedAt(v.sent()) {
		l := v.lateAtCache(server)
		if len(l.late) == 0 || l.odd || l.insideFailed > 0 {
			continue
		}
		if len(l.inside) < minInsideCache {
			asks = append(asks, ask(over(server, probe.UDP), v.control(), probe.TypeA).again(minInsideCache))
		}
		if l.resolutions < 2 {
			asks = append(asks, FollowUp{Ask: probe.Ask{Host: l.late[0].r.Host, Purpose: probe.PurposeRepeat}, Times: samples - 1})
		}
	}
	return asks
}, page: page{
	needs: "The fact `nodeLocal` (or its usual address 169.254.20.10), two lookups at least with replies in steps of 2 s for names that leave the cluster, and " +
		"five quick replies for names of the cluster.",
	remedies: "prefer_udp in the place of force_tcp for names outside, in the cache's Corefile. Else mend its upstream.",
	wrong:    "Scaling CoreDNS, or a conntrack race: the pod's own messages are all answered.",
}}

// minInsideCache is how many quick replies show that the way to the cache is fine.
const minInsideCache = 5

// lateReplies are what a cache on the node did with names of the cluster and with others.
type lateReplies struct {
	// inside are the times of replies for names of the cluster; insideFailed counts what was lost or late there.
	inside       []probe.Millis
	insideFailed int
	// outside counts the replies for other names; late are those that took a second or longer, in so many resolutions.
	outside     int
	late        []transmission
	resolutions int
	// odd is set when a late reply is in no step of the cache's.
	odd bool
}

func (v *view) lateAtCache(server netip.Addr) lateReplies {
	var l lateReplies
	if !v.isNodeCache(server) || v.zone == "" {
		return l
	}
	late := map[string]bool{}
	for _, m := range only(transmissionsOf(append(v.asTheyAre(), v.direct...)...), udpTo(server)) {
		switch {
		case !v.leaves(m.a.Name) && (!m.replied() || m.rtt() >= slow):
			l.insideFailed++
		case !v.leaves(m.a.Name):
			l.inside = append(l.inside, m.rtt())
		case m.replied() && m.rtt() >= slow:
			l.outside++
			l.late = append(l.late, m)
			late[m.r.ID] = true
			l.odd = l.odd || !inSteps(m.rtt())
		case m.replied():
			l.outside++
		}
	}
	slices.Sort(l.inside)
	l.resolutions = len(late)
	return l
}

// inSteps says whether a reply took about 2 s or 4 s, or the 5 s after which the cache gives up.
func inSteps(m probe.Millis) bool {
	for _, step := range []float64{2, 4, 5} {
		if s := m.Duration().Seconds(); s >= step*0.97 && s <= step*1.08 {
			return true
		}
	}
	return false
}

// spread writes the range of times of replies: "2.00 s", "2.00 s to 5.00 s".
func spread(list []transmission) string {
	times := rtts(list)
	least, most := took(times[0]), took(times[len(times)-1])
	if least == most {
		return least
	}
	return least + " to " + most
}

// forcedTCP says whether it is known that the cache asks about names outside over TCP only.
func (v *view) forcedTCP() bool {
	blocks, _ := v.facts.Corefile(fact.NodeLocalCorefile)
	for _, b := range blocks {
		for _, p := range b.Named("forward") {
			root := slices.ContainsFunc(b.Zones, func(z string) bool { return z == "." || strings.HasPrefix(z, ".:") })
			if _, forced := p.Option("force_tcp"); forced && root {
				return true
			}
		}
	}
	return false
}

func (v *view) forcedTCPText() string {
	switch _, known := v.facts.Corefile(fact.NodeLocalCorefile); {
	case v.forcedTCP():
		return "Its Corefile has force_tcp for names outside, so each of them needs a connection to the upstream, which cloud resolvers limit or drop."
	case known:
		return "Its Corefile does not force TCP for names outside, so it is the upstream itself that is slow."
	}
	return v.whyUnknown(fact.NodeLocalCorefile, "The cache's Corefile")
}

func (v *view) cacheRemedies() []probe.Remedy {
	none := probe.Remedy{Text: "No dnsConfig change helps: the pod is answered as fast as the cache can."}
	switch _, known := v.facts.Corefile(fact.NodeLocalCorefile); {
	case v.forcedTCP():
		return []probe.Remedy{{Text: "Put prefer_udp in the place of force_tcp for names outside (the block for \".\"), in the ConfigMap node-local-dns of kube-system."}, none}
	case known:
		return []probe.Remedy{{Text: "Find out why the upstream of the cache is slow: ask the servers of the forward plugin for this name from the node."}, none}
	}
	return []probe.Remedy{
		{Text: "Look at the ConfigMap node-local-dns of kube-system: if names outside (the block for \".\") have force_tcp, put prefer_udp in its place."}, none,
	}
}
