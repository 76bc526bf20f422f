package diagnose

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// refusedInSearch: every reply for the name in one search domain is REFUSED.
var refusedInSearch = rule{class: "refused-in-search", judge: func(v *view) []probe.Finding {
	return v.rejectedInSearch("REFUSED", "The server will not answer for names in this search domain: often a policy proxy between pod and "+
		"DNS, or a server that is not responsible for the domain.")
}}
