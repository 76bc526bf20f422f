package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// lameNodata: a nameserver answers with no data although it neither is responsible for the name nor asks others for it (its reply has
// neither AA nor RA). glibc and Go pass over such a reply and ask the next server; musl and c-ares take it for "exists, no address".
var lameNodata = rule{class: "lame-nodata", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			server := lameServer(a)
			if server == "" {
				continue
			}
			findings = append(findings, v.lameFinding(r, a, server))
			break
		}
	}
	return findings
}, page: page{
	needs:    "A reply NOERROR without any record, with neither of the flags AA and RA, from a server of the settings; the lookup fails or takes another server.",
	remedies: "A nameserver that answers for all names (a resolver) in the place of one that only knows its own zones.",
	wrong:    "\"The name has no address\": this server does not know, and does not ask. A lower ndots changes nothing about its replies.",
}}

// lameServer returns the server whose replies in a are all lame; empty when there is none, or when another server had data.
func lameServer(a *probe.Attempt) string {
	lame, other := map[string]bool{}, map[string]bool{}
	var order []string
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.Received == nil {
				continue
			}
			isLame := t.Reply == "NOERROR" && len(t.Flags) > 0 && !slices.Contains(t.Flags, "AA") && !slices.Contains(t.Flags, "RA") && !slices.Contains(t.Flags, "TC") &&
				(q.Rcode == "" || len(q.Answers) == 0 || t.Use == probe.UseRejected)
			if isLame && !lame[t.Server] {
				lame[t.Server] = true
				order = append(order, t.Server)
			}
			other[t.Server] = other[t.Server] || !isLame
		}
	}
	for _, s := range order {
		if !other[s] {
			return clean(host(s))
		}
	}
	return ""
}

func (v *view) lameFinding(r *probe.Resolution, a *probe.Attempt, server string) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Title: fmt.Sprintf("nameserver %s answers %s with nothing: it is not responsible for the name and does not ask others for it. %s.", server, bare(a.Name),
			v.consequence(r)),
		Explain: "Its replies have neither the flag AA (it owns the zone) nor RA (it asks others). glibc and Go take such a reply for none and go to the next server; " +
			"musl and c-ares believe that the name exists and has no address.",
		Evidence: []probe.Evidence{at(r, a, fmt.Sprintf("%s: NOERROR without records, flags without AA and RA, from %s", bare(a.Name), server))},
		Remedies: []probe.Remedy{
			{Text: fmt.Sprintf("Take %s out of the nameservers, or let it answer recursive queries for this pod's address.", server), Caveat: "Where it is a forwarder's target, give it only the zones that it owns."},
		},
	}
	if len(v.askable()) == 0 {
		f.Remedies[0].Text = fmt.Sprintf("Give the pod a nameserver that asks others (a resolver) in the place of %s, or let that one answer recursive queries for this pod's address.", server)
	}
	return f
}
