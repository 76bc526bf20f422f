package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
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
			Evidence: slices.Concat(s.evidence, v.forwardEvidence(), v.nodeServers()),
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
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if r.Outcome != probe.NXDomain || v.zone == "" || !v.leaves(r.Host) || dots(bare(r.Host)) == 0 || !v.mixedUpstreams() {
			continue
		}
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if list := lastReplies(a); isHost(a, r) && len(list) > 0 && addressOf(list[0].Server).IsValid() {
				// As many as it takes to meet one of three upstreams.
				asks = append(asks, ask(over(addressOf(list[0].Server), probe.UDP), a.Name, probe.TypeA).again(upstreamSamples))
				break
			}
		}
	}
	return asks
}, page: page{
	needs: "Two changes of mind about one name, found or not, of one server. A single run asks four times more where a name outside does not exist and its " +
		"Corefile names several upstreams; `--count 30` sees more.",
	remedies: "A server block for the zone that forwards only to the servers which know it.",
	wrong:    "ndots, or waiting for a negative cache to run out: the answer changes back at once. policy sequential: it hides the fault until the first upstream fails.",
}}

// upstreamSamples is how often a name that does not exist is asked for again.
const upstreamSamples = 4

// lastReplies are the replies that counted of each query of an attempt.
func lastReplies(a *probe.Attempt) []*probe.Transmission {
	var out []*probe.Transmission
	for _, q := range a.Queries {
		if t := lastReply(q); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// mixedUpstreams says whether the Corefile names upstreams that can know different things: several of them, or a file that is not
// known to have only one.
func (v *view) mixedUpstreams() bool {
	blocks, _ := v.facts.Corefile(fact.Corefile)
	for _, b := range blocks {
		for _, p := range b.Named("forward") {
			if len(p.Args) > 2 {
				return true
			}
			if len(p.Args) == 2 && strings.HasPrefix(p.Args[1], "/") {
				servers := nameserversOf(v.facts)
				return len(servers) != 1
			}
		}
	}
	return false
}

// nameserversOf returns the nameservers of the node's resolv.conf, empty when it is not known.
func nameserversOf(facts fact.Facts) []string {
	text, _ := facts.Text(fact.NodeResolvConf)
	var out []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "nameserver" {
			out = append(out, words[1])
		}
	}
	return out
}

// nodeServers is the evidence of several nameservers in the file of the node that the cluster's DNS forwards to.
func (v *view) nodeServers() []probe.Evidence {
	servers := nameserversOf(v.facts)
	if len(servers) < 2 {
		return nil
	}
	return []probe.Evidence{v.known(fact.NodeResolvConf, "the node's resolv.conf lists "+listOr(servers, ""))}
}

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
	for _, r := range append(v.all[:len(v.all):len(v.all)], v.direct...) {
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
