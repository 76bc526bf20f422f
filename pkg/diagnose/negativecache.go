package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// negativeCache: the server that the pod asks still says that the name does not exist, while the one that it has its answers from has the
// name by now: a denial is kept for as long as the SOA's minimum says.
var negativeCache = rule{class: "negative-cache", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if slices.Contains(v.explained[r.Host], "upstream-inconsistent") || slices.Contains(v.explained[r.Host], "multi-nameserver") {
			continue
		}
		for _, q := range v.behind(r) {
			known := v.foundAt(q.server, q.name)
			// The pod's own server has to say no still, after the other one said yes: else the name has just come into being.
			still := v.deniedAt(v.server(r), q.name)
			if known == nil || still == nil {
				continue
			}
			findings = append(findings, v.keptDenial(r, q, known))
			break
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		for _, q := range v.behind(r) {
			// A server that may not be asked from here costs a second, no more.
			asks = append(asks, ask(probe.Question{Server: q.server, Tries: 1}, q.name))
			if v.foundAt(q.server, q.name) != nil {
				asks = append(asks, ask(probe.Question{Server: v.server(r)}, q.name))
			}
		}
	}
	return asks
}, page: page{
	needs: "A host that was denied; a server behind the one that the pod asks (an endpoint of the cluster's DNS, or the only upstream server of the Corefile) that " +
		"has the name; and the pod's own server denying it once more after that.",
	remedies: "Waiting for as long as the SOA's minimum says. A smaller denial time in the plugin cache, where names come into being while clients wait for them.",
	wrong:    "Restarting the application: it asks and is told the same. Restarting CoreDNS helps once and for all names.",
}}

// behindQuestion is a question to a server behind the one that the pod asks.
type behindQuestion struct{ server, name, what string }

// mostBehind bounds how many servers behind the pod's own are asked for one name.
const mostBehind = 2

// behind are the questions that tell whether a denial of r's host is an old one: a Service that is known to be there is asked for at the
// endpoints of the cluster's DNS, an outside name at the one server that the Corefile forwards to.
func (v *view) behind(r *probe.Resolution) []behindQuestion {
	if !notFound(r) || v.server(r) == "" || v.zone == "" {
		return nil
	}
	for _, m := range v.meanings(r) {
		s, known := v.facts.Service(m.service, m.namespace)
		if !known || !s.Exists || s.ExternalName != "" || s.Headless && s.Ready == 0 || m.pod != "" {
			continue
		}
		var out []behindQuestion
		endpoints, _ := v.facts.Endpoints()
		for _, e := range endpoints {
			if e.Ready && e.Address.String() != v.server(r) && len(out) < mostBehind {
				out = append(out, behindQuestion{e.Address.String(), m.name, "a server behind it"})
			}
		}
		return out
	}
	if upstream := v.onlyUpstream(r.Host); upstream != "" && dots(r.Host) > 0 && !probe.InZone(r.Host, v.zone) {
		return []behindQuestion{{upstream, canonical(r.Host), "the server that it forwards to"}}
	}
	return nil
}

// onlyUpstream is the one server that the Corefile forwards names outside to; empty when there are several, none, or a file decides.
func (v *view) onlyUpstream(host string) string {
	blocks, _ := v.facts.Corefile(fact.Corefile)
	best, length := "", -1
	for _, b := range blocks {
		for _, zone := range b.Zones {
			zone = canonical(zoneOf(zone))
			if zone != "" && !probe.InZone(host, zone) || len(zone) <= length {
				continue
			}
			best, length = "", len(zone)
			if forwards := b.Named("forward"); len(forwards) == 1 && len(forwards[0].Args) == 2 && isAddress(forwards[0].Args[1]) {
				best = forwards[0].Args[1]
			}
		}
	}
	return best
}

// zoneOf is the zone of a server block's key, without scheme and port: ".:53", "dns://corp.example:53".
func zoneOf(key string) string {
	if _, rest, found := strings.Cut(key, "://"); found {
		key = rest
	}
	zone, _, _ := strings.Cut(key, ":")
	return zone
}

func (v *view) keptDenial(r *probe.Resolution, q behindQuestion, known *probe.Resolution) probe.Finding {
	asked := v.attemptNamed(r, q.name)
	f := probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s exists by now, but %s still says NXDOMAIN: %s, %s, has it.", bare(q.name), clean(v.server(r)), clean(q.server), q.what),
		Explain:  "A server may keep the answer that a name does not exist. Whoever asked before the name came into being makes all others wait.",
		Evidence: []probe.Evidence{
			v.see(r, asked),
			{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(q.server), bare(q.name), list(answersOf(known))), Resolution: known.ID},
		},
		Remedies: []probe.Remedy{
			{Text: "Wait: the denial ends by itself.", Caveat: "Where it lasts longer, a server behind that address no longer hears of changes: look at the logs of CoreDNS."},
			{Text: "Where names come into being while clients wait for them, lower the time for denials: `cache 30 { denial 9984 5 }` in the Corefile.", Caveat: "More queries for names that do not exist, which with ndots 5 are most of them."},
		},
	}
	if kept := soaMinimum(asked); kept > 0 {
		f.Explain += fmt.Sprintf(" The SOA of the denial allows %d s.", kept)
		f.Remedies[0].Text = fmt.Sprintf("Wait: the denial is kept for %d s at most, counted from when it was given.", kept)
	}
	if v.run.Resolver.Runtime == "jvm" {
		f.Explain += " The JVM keeps it for 10 s more of its own (networkaddress.cache.negative.ttl)."
	}
	return f
}
