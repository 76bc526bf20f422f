package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// searchWalk: a host with fewer dots than ndots was tried in every search domain before the name that exists. A host that a
// search domain answers is no walk: that is what the search list is for.
var searchWalk = rule{class: "search-walk", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if w := walkOf(r); w.queries > 0 {
			findings = append(findings, v.walkFinding(r, w))
		}
	}
	return findings
}, page: page{
	needs: "A resolution that succeeded with the host as it is, after search domains that each denied it. Queries that were lost " +
		"or refused on the way do not count, other findings are about those.",
	remedies: "A value of ndots that was checked for every name in use on the libc of the pod, or a final dot on the outside name in " +
		"the application.",
	wrong: "Treating it as an outage. ndots:1 or ndots:2 without a check: on musl a name with that many dots is never searched, " +
		"so a Service like ledger.billing.svc no longer resolves. More replicas of CoreDNS, which answer the same questions " +
		"that need not be asked.",
}}

// walk is what a resolution spent on search domains before the host itself answered.
type walk struct {
	wasted  []*probe.Attempt
	queries int
	lost    probe.Millis
}

func walkOf(r *probe.Resolution) walk {
	d := decided(r)
	if r.Outcome != probe.OK || d == nil || !isHost(d, r) {
		return walk{}
	}
	var w walk
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.N >= d.N || a.Origin != probe.OriginSearch || isHost(a, r) || len(a.Queries) == 0 {
			continue
		}
		if a.Outcome == probe.OK {
			return walk{}
		}
		if !negative(a) {
			// A name that could not be asked about may exist: its queries are no walk, another rule judges them.
			continue
		}
		w.wasted = append(w.wasted, a)
		w.queries += len(a.Queries)
		w.lost += a.Duration
	}
	return w
}

func (v *view) walkFinding(r *probe.Resolution, w walk) probe.Finding {
	f := probe.Finding{
		Severity: probe.Warning,
		Title: v.title(r, fmt.Sprintf("%d of %d queries cannot succeed: %s. Costs %s here.",
			w.queries, r.QueriesSent, v.whyWalk(r), part(w.lost, r.Duration))),
	}
	left := 0
	var outside []string
	for _, a := range w.wasted {
		if v.leaves(a.Name) {
			left += len(a.Queries)
			outside = append(outside, bare(a.Name))
		}
		f.Evidence = append(f.Evidence, v.see(r, a))
	}
	f.Explain = "Not an outage: " + clean(r.Host) + " resolves. But every lookup of it sends " +
		count(r.QueriesSent, "query", "queries") + " where " + fmt.Sprint(r.QueriesSent-w.queries) +
		" would do, and each of them can be lost. " + v.whereWasted(left, outside, w)
	f.Remedies = v.walkRemedies(r)
	return f
}

func (v *view) whyWalk(r *probe.Resolution) string {
	n := dots(r.Host)
	return fmt.Sprintf("the name has %s, ndots is %d", count(n, "dot", "dots"), v.run.Settings.Ndots)
}

func (v *view) whereWasted(left int, outside []string, w walk) string {
	switch {
	case v.zone == "":
		return "The search list has no cluster domains, so which of the wasted queries leave the cluster is not known."
	case left == 0:
		return "None of the wasted queries leaves the cluster: they are load on the cluster's own DNS."
	case left == w.queries:
		return "All wasted queries leave the cluster: " + list(outside) + "."
	}
	verb := " leave the cluster: "
	if left == 1 {
		verb = " leaves the cluster: "
	}
	return count(left, "of the wasted queries", "of the wasted queries") + verb + list(outside) + "."
}

// replies tells what an attempt was answered, the pair in one word where both halves agree.
func replies(a *probe.Attempt) string {
	var words []string
	same := true
	for _, q := range a.Queries {
		word := q.Rcode
		switch {
		case word == "":
			word = "no reply"
		case word == "NOERROR" && len(q.Answers) == 0:
			word = "no data"
		}
		same = same && (len(words) == 0 || strings.HasSuffix(words[0], " "+word))
		words = append(words, string(q.Type)+" "+word)
	}
	if same && len(words) > 1 {
		_, word, _ := strings.Cut(words[0], " ")
		return word + " for A and AAAA"
	}
	return strings.Join(words, ", ")
}

func (v *view) walkRemedies(r *probe.Resolution) []probe.Remedy {
	var remedies []probe.Remedy
	if ndots, ok := v.ndotsRemedy(r); ok {
		remedies = append(remedies, ndots)
	}
	if own := v.runtimeRemedies(); len(own) > 0 {
		remedies = append(remedies, own...)
	} else {
		remedies = append(remedies, probe.Remedy{
			Text:   "Let the application keep its connections open (keep-alive, a pool): fewer connections are fewer lookups.",
			Caveat: "Each new connection still walks.",
		})
	}
	remedies = append(remedies,
		probe.Remedy{
			Text:   "Run NodeLocal DNSCache: what the walk asks again and again is then answered on the node.",
			Caveat: "A change of the whole cluster, and the number of queries stays the same.",
		})
	dot := probe.Remedy{
		Text:   "As a test only, ask for " + bare(r.Host) + ". with a final dot.",
		Caveat: "Not a fix: the dot reaches TLS and HTTP as part of the name, which some clients and servers refuse.",
	}
	if w := v.whatIf(r.Host, probe.VariantDot); w != nil {
		dot.Gain = v.gain(r, w)
	}
	return append(remedies, dot)
}
