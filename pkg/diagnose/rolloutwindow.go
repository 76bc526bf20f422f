package diagnose

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// rolloutWindow: the list of servers behind the cluster's DNS Service changed a moment before, messages to the Service were lost or
// refused at first, and from one moment on none was any more.
//
// Losses that go on while others are answered are those of a dead backend.
var rolloutWindow = rule{class: "rollout-window", judge: func(v *view) []probe.Finding {
	age, known := v.facts.Age(fact.DNSEndpointsChanged)
	if !known || age > rolloutAge || v.found[noEndpoints.class] || v.found[deadBackend.class] {
		return nil
	}
	for _, server := range askedAt(v.sent()) {
		if !v.isService(server) {
			continue
		}
		w := v.window(server)
		if len(w.bad) < 2 || w.fineAfter < fineAfterRollout {
			continue
		}
		last := w.bad[len(w.bad)-1]
		f := probe.Finding{
			Severity: probe.Warning,
			Title: fmt.Sprintf("the servers behind %s were just replaced: %s got no answer at first, the %d after that all did.", server,
				count(len(w.bad), "message", "messages"), w.fineAfter),
			Explain: fmt.Sprintf("The list of endpoints changed %s before this run. Until every node knows the new servers, messages still go to old ones. It has "+
				"ended by itself.", age.Round(time.Second)),
			Evidence: []probe.Evidence{
				w.bad[0].evidence(fmt.Sprintf("%s: %s from %s", clean(w.bad[0].a.Name), fate(w.bad[0]), server)),
				last.evidence(fmt.Sprintf("the last one without an answer: %s", clean(last.a.Name))),
				v.known(fact.DNSEndpointsChanged, fmt.Sprintf("the list of endpoints changed %s before", age.Round(time.Second))),
			},
			Remedies: v.rolloutRemedies(),
		}
		if list, known := v.facts.Endpoints(); known {
			f.Evidence = append(f.Evidence, v.endpointEvidence(list)...)
		}
		return []probe.Finding{f}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	age, known := v.facts.Age(fact.DNSEndpointsChanged)
	if !known || age > rolloutAge {
		return nil
	}
	for _, server := range askedAt(v.sent()) {
		if v.isService(server) && len(v.window(server).bad) >= 2 {
			return []FollowUp{ask(over(server, probe.UDP), v.control(), probe.TypeA).again(fineAfterRollout)}
		}
	}
	return nil
}, page: page{
	needs: "The fact `dnsEndpointsChanged` of at most two minutes, two messages at least without an answer, and then at least five source ports that lost " +
		"nothing.",
	remedies: "Let CoreDNS go on answering when it ends (lameduck), with readiness by the plugin ready, and replace its pods one at a time.",
	wrong:    "Tuning timeouts: what was lost is lost for the length of the rollout.",
}}

// rolloutAge is how long after a change of the endpoints losses can still come from it.
const rolloutAge = 2 * time.Minute

// fineAfterRollout is how many flows without a loss show that it is over.
const fineAfterRollout = 5

// window is the time in which messages to a server were not answered.
type window struct {
	bad []transmission
	// fineAfter counts the flows after the last of bad, none of which lost anything.
	fineAfter int
}

func (v *view) window(server netip.Addr) window {
	var w window
	after := map[socket]bool{}
	for _, m := range inOrder(only(transmissionsOf(append(v.asTheyAre(), v.direct...)...), udpTo(server))) {
		if m.replied() {
			after[m.flow()] = true
			continue
		}
		w.bad = append(w.bad, m)
		clear(after)
	}
	w.fineAfter = len(after)
	return w
}

func (v *view) rolloutRemedies() []probe.Remedy {
	text := "Give the health plugin of the Corefile a lameduck of 5 s or longer, so that a server that ends goes on answering until every node knows."
	if blocks, known := v.facts.Corefile(fact.Corefile); known {
		for _, b := range blocks {
			for _, p := range b.Named("health") {
				if words, found := p.Option("lameduck"); found && len(words) > 0 {
					text = fmt.Sprintf("The Corefile has lameduck %s: make it longer than nodes here take to follow a change of endpoints.", clean(words[0]))
				}
			}
		}
	}
	return []probe.Remedy{
		{Text: text},
		{Text: "Replace DNS pods one at a time, and only once the new one is ready: maxUnavailable 1 or a PodDisruptionBudget, with the plugin ready."},
		{Text: "No dnsConfig change helps: the pod asks the right server."},
	}
}
