package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// ndotsTooLow: a host that only the search list can answer was first asked as it is, because it has as many dots as ndots.
// It is the walk the other way round.
var ndotsTooLow = rule{class: "ndots-too-low", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
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
		findings = append(findings, f)
	}
	return findings
}, page: page{
	needs: "A host with at least as many dots as ndots, asked as it is first and denied, then found in a search domain.",
	remedies: "A value of ndots that was checked for every name in use, or a longer name in the application, which is asked as it is " +
		"and exists.",
	wrong: "Setting ndots back to 5 without a look at the outside names: every one of them then walks the search list again.",
}}

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
