package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// rejectedInSearch finds, for each host, the first search domain in which every reply is rcode.
func (v *view) rejectedInSearch(rcode, meaning string) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		a := v.rejectedAttempt(r, rcode)
		if a == nil {
			continue
		}
		f := v.inSearch(r, a, inSearch{
			title:   fmt.Sprintf("%s gets %s from search domain %d of %d", clean(a.Name), rcode, a.SearchIndex+1, len(v.run.Settings.Search)),
			meaning: meaning + goesOn(r),
			seen:    v.see(r, a).Text,
			cure: "Let that server answer NXDOMAIN for names that it does not know, or take the domain out of the search list " +
				"(the node's resolv.conf, or dnsPolicy None with a list of your own).",
		})
		v.alike(&f, r, a, func(b *probe.Attempt) bool { return allReplies(b, rcode) })
		findings = append(findings, f)
	}
	return findings
}

// alike adds the search domains behind a that fail as it does: they are no second cause, but have to be mended, too.
func (v *view) alike(f *probe.Finding, r *probe.Resolution, a *probe.Attempt, fails func(*probe.Attempt) bool) {
	var domains []string
	for i := range r.Attempts {
		b := &r.Attempts[i]
		if b.N > a.N && b.Origin == probe.OriginSearch && !isHost(b, r) && fails(b) {
			domains = append(domains, v.domainOf(b))
			f.Evidence = append(f.Evidence, v.see(r, b))
		}
	}
	if len(domains) > 0 {
		f.Explain += " The same happens in " + list(domains) + "."
	}
}

// rejectedAttempt returns the first attempt of r in a search domain that got nothing but rcode. The search domains after it fail
// alike and are no second cause.
func (v *view) rejectedAttempt(r *probe.Resolution, rcode string) *probe.Attempt {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if _, odd := v.oddElement(a); a.Origin == probe.OriginSearch && !isHost(a, r) && !odd && allReplies(a, rcode) {
			return a
		}
	}
	return nil
}

// askBeyond asks, for every host that failed at a search domain which fails says, for what it never came to: the host itself, and the
// search domains behind it.
func (v *view) askBeyond(fails func(*probe.Resolution) *probe.Attempt) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		server := v.server(r)
		if a := fails(r); a == nil || r.Outcome == probe.OK || server == "" || v.deaf(server) {
			continue
		}
		for _, name := range v.neverAsked(r) {
			asks = append(asks, ask(probe.Question{Server: server}, name))
		}
	}
	return asks
}

// mostBeyond bounds how many search domains are asked that a resolution never came to.
const mostBeyond = 3

// neverAsked are the names that r's libc could have gone on to, the search domains first.
func (v *view) neverAsked(r *probe.Resolution) []string {
	var names []string
	domains := v.skippedDomains(r)
	for _, domain := range domains[:min(len(domains), mostBeyond)] {
		if domainFits(domain) {
			names = append(names, strings.TrimSuffix(r.Host, ".")+"."+strings.TrimSuffix(domain, "."))
		}
	}
	if !slices.ContainsFunc(r.Attempts, func(a probe.Attempt) bool { return isHost(&a, r) && len(a.Queries) > 0 }) {
		names = append(names, strings.TrimSuffix(r.Host, "."))
	}
	return names
}

// beyond returns a name that r never came to and that exists, with the reply that says so: one of the cluster before the host itself, and
// that before one in another search domain, which can be a wildcard's.
func (v *view) beyond(r *probe.Resolution) *probe.Resolution {
	if r.Outcome == probe.OK {
		return nil
	}
	var best *probe.Resolution
	rank := 0
	for _, name := range v.neverAsked(r) {
		is := 1
		switch {
		case v.zone != "" && probe.InZone(name, v.zone):
			is = 3
		case canonical(name) == canonical(r.Host):
			is = 2
		}
		if known := v.foundAt(v.server(r), name); known != nil && is > rank {
			best, rank = known, is
		}
	}
	return best
}

// inSearch is what the findings about a search domain differ in.
type inSearch struct{ title, meaning, seen, cure string }

// inSearch builds the finding about the attempt a in a search domain: what it did to the resolution is read from the trace.
func (v *view) inSearch(r *probe.Resolution, a *probe.Attempt, s inSearch) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Title:    s.title + ", " + v.consequence(r) + ".",
		Explain:  s.meaning + v.whereItEnded(r),
		Evidence: []probe.Evidence{at(r, a, s.seen)},
	}
	known := v.beyond(r)
	if known != nil {
		f.Explain += fmt.Sprintf(" %s exists: it was asked for directly and has %s.", bare(known.Host), list(answersOf(known)))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: bare(known.Host) + ", asked for directly: " + list(answersOf(known)), Resolution: known.ID})
	}
	f.Remedies = append(v.walkAround(r, known), probe.Remedy{Text: s.cure})
	return f
}

// whereItEnded says what r's libc did after the search domain that failed.
func (v *view) whereItEnded(r *probe.Resolution) string {
	domains := v.skipped(r)
	host := slices.ContainsFunc(r.Attempts, func(a probe.Attempt) bool { return isHost(&a, r) })
	switch {
	case len(domains) > 0 && host:
		return fmt.Sprintf(" %s then left the search list: %s never asked.", libcName(r.Libc), wasWere(domains))
	case r.Outcome != probe.OK && !host:
		return fmt.Sprintf(" %s ends the lookup there: %s never asked.", libcName(r.Libc), wasWere(append(domains, clean(r.Host)+" itself")))
	}
	return ""
}

// goesOn says what other libcs do where one ends a lookup.
func goesOn(r *probe.Resolution) string {
	if r.Outcome != probe.OK && (r.Libc == probe.Musl || r.Libc == probe.CAres) {
		return " Others in the same pod may well resolve it: Go goes on to the next search domain, and glibc comes to the host itself in any case."
	}
	return ""
}

// walkAround are the changes by which r's host gets past a search domain that fails, best first. Known is the name that exists, nil when
// none is known to.
func (v *view) walkAround(r, known *probe.Resolution) []probe.Remedy {
	n := dots(r.Host)
	fewer := "Hosts with fewer dots still meet this search domain."
	if ndots, ok := v.ndotsRemedy(r); ok {
		ndots.Caveat = strings.TrimSpace(fewer + " " + ndots.Caveat)
		return []probe.Remedy{ndots}
	}
	itself := known != nil && !v.needSearch(r, n) && canonical(known.Host) == canonical(r.Host)
	switch {
	case itself && n > 0 && n < v.run.Settings.Ndots:
		remedy := probe.Remedy{
			Text:   fmt.Sprintf("Set ndots to %d: a host with %s is then asked as it is before the search list.", n, count(n, "dot", "dots")),
			Caveat: fewer,
		}
		if w := v.whatIf(r.Host, fmt.Sprintf("ndots:%d", n)); w != nil && w.Outcome == probe.OK {
			if broken := brokenNames(w); len(broken) > 0 {
				return []probe.Remedy{{Text: fmt.Sprintf("Leave ndots as it is: with %s this host resolves, but %s would not any more.", w.Variant, list(broken))}}
			}
			remedy.Gain = v.resolvesWith(w)
		}
		if r.Libc == probe.Musl {
			remedy.Caveat += fmt.Sprintf(" musl never searches for a host with as many dots as ndots: those with %s that need the search list would break.", count(n, "dot", "dots"))
		}
		return []probe.Remedy{remedy}
	case known != nil && canonical(known.Host) != canonical(r.Host):
		return []probe.Remedy{{
			Text:   fmt.Sprintf("Let the application ask for the full name, %q with its final dot.", bare(known.Host)+"."),
			Caveat: "No value of ndots helps this host: it exists only behind the search domain that fails.",
		}}
	}
	return nil
}

// needSearch says whether another name in use would break when ndots is n: on musl one with as many dots that the search list completes.
// With another libc none does: those go on to the search list.
func (v *view) needSearch(r *probe.Resolution, n int) bool {
	return r.Libc == probe.Musl && slices.ContainsFunc(v.all, func(other *probe.Resolution) bool {
		return asTheyAre(other) && searched(other) != nil && dots(other.Host) >= n
	})
}

// brokenNames are the other names in use that a variant is known to break.
func brokenNames(w *probe.WhatIf) []string {
	var out []string
	for _, part := range strings.Split(w.Note, "; ") {
		if name, _, breaks := strings.Cut(part, ": breaks ("); breaks {
			out = append(out, clean(name))
		}
	}
	return out
}

// resolvesWith tells what a variant does for a host that fails with the settings as they are.
func (v *view) resolvesWith(w *probe.WhatIf) string {
	text := fmt.Sprintf("resolves with %s in %s", count(w.QueriesSent, "query", "queries"), took(w.Duration))
	if w.Source != "" {
		text += " (" + w.Source + ")"
	}
	return text
}

func (v *view) consequence(r *probe.Resolution) string {
	if r.Outcome == probe.OK {
		return clean(r.Host) + " resolves all the same after " + took(r.Duration)
	}
	return clean(r.Host) + " does not resolve"
}

// skipped returns the search domains that r never asked although nothing in them was found, for sentences.
func (v *view) skipped(r *probe.Resolution) []string {
	var out []string
	for _, domain := range v.skippedDomains(r) {
		out = append(out, bare(domain))
	}
	return out
}

func (v *view) skippedDomains(r *probe.Resolution) []string {
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
			skipped = append(skipped, domain)
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
