package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// rejectedInSearch finds, for each host, the first search domain in which every reply is rcode.
func (v *view) rejectedInSearch(rcode, meaning string) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if a.Origin != probe.OriginSearch || isHost(a, r) || !allReplies(a, rcode) {
				continue
			}
			findings = append(findings, v.inSearch(r, a, inSearch{
				title:   fmt.Sprintf("%s gets %s from search domain %d of %d", clean(a.Name), rcode, a.SearchIndex+1, len(v.run.Settings.Search)),
				meaning: meaning,
				seen:    v.see(r, a).Text,
				cure: "Let that server answer NXDOMAIN for names that it does not know, or take the domain out of the search list " +
					"(the node's resolv.conf, or dnsPolicy None with a list of your own).",
			}))
			// The search domains after it fail alike and are no second cause.
			break
		}
	}
	return findings
}

// inSearch is what the findings about a search domain differ in.
type inSearch struct{ title, meaning, seen, cure string }

// inSearch builds the finding about the attempt a in a search domain: what it did to the resolution is read from the trace.
func (v *view) inSearch(r *probe.Resolution, a *probe.Attempt, s inSearch) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Title:    s.title + ", " + v.consequence(r) + ".",
		Explain:  s.meaning,
		Evidence: []probe.Evidence{at(r, a, s.seen)},
	}
	if skipped := v.skipped(r); len(skipped) > 0 {
		f.Explain += fmt.Sprintf(" %s then left the search list: %s never asked.", clean(string(r.Libc)), wasWere(skipped))
	}
	if ndots, ok := v.ndotsRemedy(r); ok {
		ndots.Caveat = strings.TrimSpace("Hosts with fewer dots still meet this search domain. " + ndots.Caveat)
		f.Remedies = append(f.Remedies, ndots)
	}
	f.Remedies = append(f.Remedies, probe.Remedy{Text: s.cure})
	return f
}

func (v *view) consequence(r *probe.Resolution) string {
	if r.Outcome == probe.OK {
		return clean(r.Host) + " resolves all the same after " + took(r.Duration)
	}
	return clean(r.Host) + " does not resolve"
}

// skipped returns the search domains that r never asked although nothing in them was found.
func (v *view) skipped(r *probe.Resolution) []string {
	tried := map[int]bool{}
	for _, a := range r.Attempts {
		if a.Origin == probe.OriginSearch {
			if a.Outcome == probe.OK {
				return nil
			}
			tried[a.SearchIndex] = true
		}
	}
	var skipped []string
	for i, domain := range v.run.Settings.Search {
		if !tried[i] {
			skipped = append(skipped, bare(domain))
		}
	}
	return skipped
}

func wasWere(words []string) string {
	if len(words) == 1 {
		return words[0] + " was"
	}
	return list(words) + " were"
}
