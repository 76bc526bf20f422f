package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// ndotsTooLow: a host that only the search list can answer was first asked as it is, because it has as many dots as ndots.
// It is the walk the other way round. musl never comes to the search list then, so the host does not resolve at all.
var ndotsTooLow = rule{class: "ndots-too-low", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.neverSearched(r); ok {
			findings = append(findings, f)
			continue
		}
		d, first := decided(r), asIsFirst(r)
		if d == nil || first == nil || r.Outcome != probe.OK || d.Origin != probe.OriginSearch || isHost(d, r) {
			continue
		}
		f := probe.Finding{
			Severity: probe.Info,
			Title:    fmt.Sprintf("%s was asked as it is first, which cannot succeed: %s.", clean(first.Name), v.whyWalk(r)),
			Explain: fmt.Sprintf("%s is found as %s. Asking for %s before costs %s and %s here.",
				clean(r.Host), bare(d.Name), clean(first.Name), count(len(first.Queries), "query", "queries"), took(first.Duration)),
			Evidence: []probe.Evidence{
				v.see(r, first),
				at(r, d, fmt.Sprintf("%s: found, %s", clean(d.Name), took(d.Duration))),
			},
		}
		if v.leaves(first.Name) {
			f.Explain += " That query leaves the cluster, and whoever registers this name outside gets the traffic."
		}
		if ndots, ok := v.ndotsRemedy(r); ok {
			f.Remedies = append(f.Remedies, ndots)
		}
		f.Remedies = append(f.Remedies, probe.Remedy{
			Text: fmt.Sprintf("Let the application ask for a longer name, such as %s.", bare(d.Name)),
			Gain: fmt.Sprintf("With at least %s it is asked as it is, and that exists.", count(v.run.Settings.Ndots, "dot", "dots")),
		})
		f.Remedies = append(f.Remedies, v.runtimeRemedies()...)
		findings = append(findings, f)
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if r.Libc == probe.Musl && notFound(r) && dots(r.Host) >= v.run.Settings.Ndots {
			asks = append(asks, v.askUnsearched(r)...)
		}
	}
	return asks
}, page: page{
	needs: "A host with at least as many dots as ndots, denied as it is and found in a search domain; on musl, which does not come to the search list, found there by a direct " +
		"question.",
	remedies: "ndots one higher than the host's number of dots; a name so long that it is complete.",
	wrong:    "\"ndots:1 is always faster\": it is for outside names. On musl it breaks every host with a dot that needs the search list.",
}}

// neverSearched finds that musl asked for r's host as it is only, and that the search list has it.
func (v *view) neverSearched(r *probe.Resolution) (probe.Finding, bool) {
	if r.Libc != probe.Musl || dots(r.Host) < v.run.Settings.Ndots || toolOf(v.run.Resolver.Caller) != "" {
		return probe.Finding{}, false
	}
	known := v.foundUnsearched(r)
	if known == nil {
		return probe.Finding{}, false
	}
	n := dots(r.Host)
	return probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s does not resolve: %s, and musl never searches then. It exists as %s.", clean(r.Host), v.whyWalk(r), bare(known.Host)),
		Explain:  "glibc, Go and c-ares ask for a host with that many dots as it is first and go on to the search list. musl ends with the host as it is.",
		Evidence: []probe.Evidence{
			v.see(r, &r.Attempts[0]),
			{Text: fmt.Sprintf("%s, asked for directly: %s", bare(known.Host), list(answersOf(known))), Resolution: known.ID},
		},
		Remedies: []probe.Remedy{
			{Text: fmt.Sprintf("Set ndots to %d or more, so that hosts with %s are searched for.", n+1, count(n, "dot", "dots")), Caveat: "Outside names with as many dots then walk the search list."},
			{Text: fmt.Sprintf("Or let the application ask for the full name %s.", bare(known.Host))},
		},
	}, true
}

// asIsFirst returns the as-is attempt that r opened with in vain, or nil.
func asIsFirst(r *probe.Resolution) *probe.Attempt {
	if len(r.Attempts) == 0 {
		return nil
	}
	if a := &r.Attempts[0]; a.Origin == probe.OriginAsIs && negative(a) {
		return a
	}
	return nil
}
