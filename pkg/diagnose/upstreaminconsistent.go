package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// upstreamInconsistent: one server says of one question that the name exists, that it does not, and then the first again. One
// change could be the name's own; going back and forth is not.
var upstreamInconsistent = rule{class: "upstream-inconsistent", judge: func(v *view) []probe.Finding {
	hosts := map[string]bool{}
	for _, r := range v.now {
		hosts[canonical(r.Host)] = true
	}
	var findings []probe.Finding
	for _, s := range v.stories() {
		if s.changes < 2 || !hosts[s.name] || !v.outsideOrUnknown(s.name) {
			continue
		}
		hosts[s.name] = false // A and AAAA tell the same story
		findings = append(findings, probe.Finding{
			Severity: probe.Critical,
			Title: fmt.Sprintf("%s contradicts itself about %s: found %s, NXDOMAIN %s, in turn.", clean(host(s.server)), s.name+".",
				times(s.yes), times(s.no)),
			Explain: "The server passes this name on to upstreams that do not know the same things, and asks one or the other. Names of the " +
				"cluster are not affected.",
			Evidence: s.evidence,
			Remedies: []probe.Remedy{
				{
					Text:   "Give the zone a server block of its own in the Corefile that forwards only to the upstreams which know it.",
					Caveat: "An order among mixed upstreams (policy sequential) only hides it.",
				},
				{Text: "No dnsConfig change helps: the pod asks the right server."},
			},
		})
	}
	return findings
}}

// story is what one server said of one question, one resolution after the other.
type story struct {
	name, server     string
	yes, no, changes int
	last             string
	// evidence are the first reply and the first one that contradicts it.
	evidence []probe.Evidence
}

func (v *view) stories() []*story {
	var order []*story
	index := map[string]*story{}
	for _, r := range v.all {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			for _, q := range a.Queries {
				answered := lastReply(q)
				word := existence(q)
				if answered == nil || word == "" {
					continue
				}
				name := canonical(a.Name)
				key := strings.Join([]string{name, string(q.Type), answered.Server}, " ")
				if index[key] == nil {
					index[key] = &story{name: name, server: answered.Server}
					order = append(order, index[key])
				}
				index[key].add(word, at(r, a, fmt.Sprintf("%s %s: %s", clean(a.Name), q.Type, word)))
			}
		}
	}
	return order
}

// existence is what a query's reply says about the name: "found" or "NXDOMAIN", empty when it says neither.
func existence(q probe.Query) string {
	switch {
	case q.Rcode == "NXDOMAIN":
		return q.Rcode
	case q.Rcode == "NOERROR" && len(q.Answers) > 0:
		return "found"
	}
	return ""
}

func (s *story) add(word string, seen probe.Evidence) {
	if word == "NXDOMAIN" {
		s.no++
	} else {
		s.yes++
	}
	if word == s.last {
		return
	}
	if s.last != "" {
		s.changes++
	}
	s.last = word
	if len(s.evidence) < 3 {
		s.evidence = append(s.evidence, seen)
	}
}

func lastReply(q probe.Query) *probe.Transmission {
	for i := len(q.Transmissions) - 1; i >= 0; i-- {
		if q.Transmissions[i].Received != nil {
			return &q.Transmissions[i]
		}
	}
	return nil
}

// outsideOrUnknown says whether name is not known to be one of the cluster's own, which come and go with its Services.
func (v *view) outsideOrUnknown(name string) bool { return v.zone == "" || v.leaves(name) }

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
