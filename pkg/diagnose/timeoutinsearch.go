package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// samples is how many resolutions have to show the same silence before it is called a property of a name or server. One
// resolution sends all tries of an attempt from one source port, so a single dead backend, or a single flow that a node
// drops, looks the same in it.
const samples = 3

// timeoutInSearch: the name in one search domain gets no reply, every time, while the same servers answer for other names.
var timeoutInSearch = rule{class: "timeout-in-search", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if a.Origin != probe.OriginSearch || isHost(a, r) || silence(a) == 0 {
				continue
			}
			seen := v.silenceOf(a.Name)
			if seen.resolutions < samples || seen.answered || !seen.othersFine {
				continue
			}
			findings = append(findings, v.inSearch(r, a, inSearch{
				title:   fmt.Sprintf("%s gets no reply from search domain %d of %d", clean(a.Name), a.SearchIndex+1, len(v.run.Settings.Search)),
				meaning: "Other names are answered by the same server, so it is this search domain that nobody answers for: most likely whoever the cluster's DNS forwards it to.",
				seen: fmt.Sprintf("%s: 0 replies to %s in %s, other names answered in each", clean(a.Name),
					count(seen.messages, "message", "messages"), count(seen.resolutions, "resolution", "resolutions")),
				cure: "Let the server that this domain is forwarded to answer, or take the domain out of the search list (the node's " +
					"resolv.conf, or dnsPolicy None with a list of your own).",
			}))
			break
		}
	}
	return findings
}}

// silent is what a run knows of a name that once got no reply.
type silent struct {
	resolutions, messages int
	// answered is set when the name got a reply once.
	answered bool
	// othersFine says that in each of these resolutions every other attempt was answered, and there was one.
	othersFine bool
}

func (v *view) silenceOf(name string) silent {
	s := silent{othersFine: true}
	for _, r := range v.all {
		here, others := 0, 0
		for i := range r.Attempts {
			a := &r.Attempts[i]
			n := silence(a)
			switch {
			case a.Name == name && n > 0:
				here += n
			case a.Name == name:
				s.answered = s.answered || answered(a)
			case answered(a):
				others++
			case n > 0:
				s.othersFine = false
			}
		}
		if here > 0 {
			s.resolutions, s.messages = s.resolutions+1, s.messages+here
			s.othersFine = s.othersFine && others > 0
		}
	}
	return s
}
