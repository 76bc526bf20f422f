package diagnose

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// servFailInSearch: every reply for the name in one search domain is SERVFAIL. glibc and Go go on to the next one; musl and c-ares
// end the lookup there, musl after its whole timeout.
var servFailInSearch = rule{class: "servfail-in-search", judge: func(v *view) []probe.Finding {
	return v.rejectedInSearch("SERVFAIL", "The server could not find out whether the name exists: often the search domain is one that no "+
		"server on the way is responsible for, such as a workgroup name from the node's resolv.conf.")
}, asks: func(v *view) []FollowUp {
	return v.askBeyond(func(r *probe.Resolution) *probe.Attempt { return v.rejectedAttempt(r, "SERVFAIL") })
}, page: page{
	needs: "An attempt in a search domain of which every message was answered SERVFAIL. Where the lookup fails, the names that it never came to are asked " +
		"directly.",
	remedies: "The domain out of the search list of the nodes. For a host with dots: ndots as low as its number of dots, so that it is asked as it is first.",
	wrong: "ndots:2 for all: on musl it breaks every host with two dots that needs the search list (NAME.NAMESPACE.svc). Restarting CoreDNS: it answers, and " +
		"says what it could not find out.",
}}
