package diagnose

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// refusedInSearch: every reply for the name in one search domain is REFUSED. Go goes on to the next one; glibc leaves the search list
// and only asks for the host itself, so that a search domain behind it is never asked; musl and c-ares end the lookup there.
var refusedInSearch = rule{class: "refused-in-search", judge: func(v *view) []probe.Finding {
	return v.rejectedInSearch("REFUSED", "The server will not answer for names in this search domain: often a policy proxy between pod and "+
		"DNS, or a server that is not responsible for the domain.")
}, asks: func(v *view) []FollowUp {
	return v.askBeyond(func(r *probe.Resolution) *probe.Attempt { return v.rejectedAttempt(r, "REFUSED") })
}, page: page{
	needs: "An attempt in a search domain of which every message was answered REFUSED. Where the lookup fails, the names that it never came to are asked " +
		"directly.",
	remedies: "NXDOMAIN in the place of REFUSED for denied names (Cilium: the reject response nameError). For a host with dots: ndots as low as its number of " +
		"dots. For a host that needs the search list: its full name with a final dot.",
	wrong: "\"glibc is not affected\": it reaches outside names, but a Service behind the refused search domain is lost to it too.",
}}
