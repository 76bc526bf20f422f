package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nodataInSearch: a search domain answers for the host with no data in the place of NXDOMAIN, the libc takes that for the answer and
// ends the lookup, and a name that it never came to exists. musl does so; glibc, Go and c-ares go on.
var nodataInSearch = rule{class: "nodata-in-search", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		a := endedByNoData(r)
		if a == nil || v.beyond(r) == nil {
			// Without a name that exists, it would not resolve anywhere else either.
			continue
		}
		findings = append(findings, v.inSearch(r, a, inSearch{
			title: fmt.Sprintf("%s is answered with no data by search domain %d of %d, and %s stops there", clean(a.Name), a.SearchIndex+1,
				len(v.run.Settings.Search), libcName(r.Libc)),
			meaning: "No data means that the name exists and has no address. musl believes that and does not go on; glibc, Go and c-ares would have gone on. " +
				"A zone that answers so for every name is often a signed one, or one with a wildcard of another type.",
			seen: v.see(r, a).Text,
			cure: fmt.Sprintf("In full: take %s out of the search list, on the nodes or with dnsPolicy None and a list of your own, or let its server deny names with NXDOMAIN.",
				v.domainOf(a)),
		}))
	}
	return findings
}, asks: func(v *view) []FollowUp { return v.askBeyond(endedByNoData) }, page: page{
	needs: "A lookup by musl that ended with no data at a search domain, and a reply to a direct question that has the host itself, or in a search domain " +
		"behind it.",
	remedies: "The search domain out of the list; its server denying names with NXDOMAIN. ndots as low as the host's number of dots helps that host and all " +
		"with as many dots, not those with fewer.",
	wrong: "\"CoreDNS is broken\": it passes on what the zone says. \"Use IPv4 only\": the answer is the same for both types.",
}}

// endedByNoData returns the attempt in a search domain that ended r with no data; nil when r ended otherwise.
func endedByNoData(r *probe.Resolution) *probe.Attempt {
	if r.Outcome == probe.OK || len(r.Attempts) == 0 {
		return nil
	}
	last := &r.Attempts[len(r.Attempts)-1]
	if last.Origin != probe.OriginSearch || isHost(last, r) || last.Outcome != probe.NoData || !negative(last) {
		return nil
	}
	for _, q := range last.Queries {
		if q.Rcode != "NOERROR" || len(q.Answers) > 0 {
			return nil
		}
	}
	return last
}

// domainOf is the search domain of an attempt, for sentences.
func (v *view) domainOf(a *probe.Attempt) string {
	if a.SearchIndex < 0 || a.SearchIndex >= len(v.run.Settings.Search) {
		return "the domain"
	}
	return bare(v.run.Settings.Search[a.SearchIndex])
}
