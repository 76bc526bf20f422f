package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// aaaaNXDomain: one half of a pair says that the name has an address, the other that the name does not exist. Both cannot be
// true (RFC 8020: NXDOMAIN is about the name, not the type).
var aaaaNXDomain = rule{class: "aaaa-nxdomain", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			found, denied := halves(a)
			if found == "" || denied == "" {
				continue
			}
			findings = append(findings, probe.Finding{
				Severity: severity(r),
				Title: fmt.Sprintf("%s has an %s record, but %s is answered NXDOMAIN: the name exists and does not exist.",
					clean(a.Name), found, denied),
				Explain: "glibc, Go and c-ares take the address. musl believes the NXDOMAIN, so the same name does not resolve in Alpine images. A " +
					"server that has the name has to answer the other type with no data.",
				Evidence: []probe.Evidence{v.see(r, a)},
				Remedies: []probe.Remedy{{
					Text: "Mend whoever answers for this name: a mesh that captures DNS, a policy proxy, or a CoreDNS template that answers AAAA with NXDOMAIN.",
				}},
			})
			break
		}
	}
	return findings
}, page: page{
	needs: "A pair of queries for one name, one half answered with records, the other with NXDOMAIN.",
	remedies: "Mend whoever answers: in a mesh that captures DNS upgrade it or switch its capture off for the pod; in a CoreDNS " +
		"template answer NODATA (NOERROR without records) for AAAA.",
	wrong: "no-aaaa, which musl ignores. Changing ndots: the name is found at once, and denied at once. A retry gets the same two " +
		"answers.",
}}

// halves returns the type of a pair that was answered with records and the type that was answered NXDOMAIN.
func halves(a *probe.Attempt) (found, denied probe.QueryType) {
	for _, q := range a.Queries {
		switch {
		case q.Rcode == "NOERROR" && len(q.Answers) > 0:
			found = q.Type
		case q.Rcode == "NXDOMAIN":
			denied = q.Type
		}
	}
	return found, denied
}
