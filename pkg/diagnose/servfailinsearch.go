package diagnose

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// servFailInSearch: every reply for the name in one search domain is SERVFAIL.
var servFailInSearch = rule{class: "servfail-in-search", judge: func(v *view) []probe.Finding {
	return v.rejectedInSearch("SERVFAIL", "The server could not find out whether the name exists: often the search domain is one that no "+
		"server on the way is responsible for, such as a workgroup name from the node's resolv.conf.")
}}
