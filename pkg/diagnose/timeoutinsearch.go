package diagnose

import (
	"fmt"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// samples is how many flows have to show the same silence before it is called a property of a name or server. One resolution
// sends all tries of an attempt from one source port, so a single dead backend, or a single flow that a node drops, looks the
// same in it. Every message of a direct question has a port of its own.
const samples = 3

// timeoutInSearch: the name in one search domain gets no reply, every time, while the same servers answer for other names. glibc then
// leaves the search list and asks for the host itself, Go goes on to the next domain; musl and c-ares end the lookup there.
var timeoutInSearch = rule{class: "timeout-in-search", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		a := v.silentAttempt(r)
		if a == nil {
			continue
		}
		seen := v.silenceOf(a.Name)
		if seen.flows < samples || seen.answered || !seen.othersFine {
			continue
		}
		f := v.inSearch(r, a, inSearch{
			title: fmt.Sprintf("%s gets no reply from search domain %d of %d", clean(a.Name), a.SearchIndex+1, len(v.run.Settings.Search)),
			meaning: "Other names are answered by the same server, so it is this search domain that nobody answers for: most likely whoever the cluster's DNS " +
				"forwards it to." + goesOn(r),
			seen: fmt.Sprintf("%s: 0 replies to %s in %s, other names answered in each", clean(a.Name), count(seen.messages, "message", "messages"), seen.places()),
			cure: "Let the server that this domain is forwarded to answer, or take the domain out of the search list (the node's " +
				"resolv.conf, or dnsPolicy None with a list of your own).",
		})
		v.alike(&f, r, a, func(b *probe.Attempt) bool { return silence(b) > 0 })
		findings = append(findings, f)
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		a := v.silentAttempt(r)
		server := v.server(r)
		if a == nil || server == "" {
			continue
		}
		if seen := v.silenceOf(a.Name); seen.answered || seen.flows >= samples && seen.othersFine {
			continue
		}
		if v.deaf(server) {
			// Nothing came from there so far: as long as that is so, no name is worth more than a second of waiting.
			asks = append(asks, ask(over(addressOf(server), probe.UDP), v.control(), probe.TypeA))
			continue
		}
		// The host itself is the control: where it is answered at once, the way to the server is fine. Only then is the silence worth the wait.
		itself := probe.Question{Server: server}
		asks = append(asks, ask(itself, canonical(r.Host)))
		if said := v.said(itself, canonical(r.Host)); said != nil && gotReply(said) {
			asks = append(asks, ask(probe.Question{Server: server}, canonical(a.Name), probe.TypeA))
		}
	}
	return append(asks, v.askBeyond(v.silentAttempt)...)
}, page: page{
	needs: "Three flows from different ports that got no reply for the name, none that got one, and replies for other names beside each of them. What one " +
		"lookup does not show is asked directly.",
	remedies: "The server that the domain is forwarded to; the domain out of the search list. For a host with dots: ndots as low as its number of dots.",
	wrong:    "A shorter timeout: the lookup fails sooner. \"CoreDNS is overloaded\": it answers everything else at once.",
}}

// silentAttempt returns the first attempt of r in a search domain that got no reply; nil when there is none.
func (v *view) silentAttempt(r *probe.Resolution) *probe.Attempt {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if _, odd := v.oddElement(a); a.Origin == probe.OriginSearch && !isHost(a, r) && !odd && silence(a) > 0 {
			return a
		}
	}
	return nil
}

// silent is what a run knows of a name that once got no reply.
type silent struct {
	resolutions, questions, messages int
	// flows counts source ports: one for a resolution, one for each message of a direct question.
	flows int
	// answered is set when the name got a reply once.
	answered bool
	// othersFine says that beside each of these every other attempt was answered, and there was one.
	othersFine bool
}

// places says where the silence was seen.
func (s silent) places() string {
	text := count(s.resolutions, "resolution", "resolutions")
	if s.questions > 0 {
		text += " and " + count(s.questions, "direct question", "direct questions")
	}
	return text
}

func (v *view) silenceOf(name string) silent {
	s := silent{othersFine: true}
	for _, r := range v.all {
		here, others := 0, 0
		for i := range r.Attempts {
			a := &r.Attempts[i]
			n := silence(a)
			switch {
			case canonical(a.Name) == canonical(name) && n > 0:
				here += n
			case canonical(a.Name) == canonical(name):
				s.answered = s.answered || answered(a)
			case answered(a):
				others++
			case n > 0:
				s.othersFine = false
			}
		}
		if here > 0 {
			s.resolutions, s.flows, s.messages = s.resolutions+1, s.flows+1, s.messages+here
			s.othersFine = s.othersFine && (others > 0 || v.controlled(r))
		}
	}
	v.silentQuestions(name, &s)
	return s
}

// silentQuestions adds what servers said that were asked directly for the name.
func (v *view) silentQuestions(name string, s *silent) {
	for _, r := range v.direct {
		if canonical(r.Host) != canonical(name) || r.Question == nil || r.Question.Transport == probe.TCP {
			continue
		}
		switch {
		case gotReply(r):
			s.answered = true
		case v.controlled(r):
			for i := range r.Attempts {
				n := silence(&r.Attempts[i])
				s.flows, s.messages = s.flows+n, s.messages+n
			}
			s.questions++
		}
	}
}

// controlled says whether a server that r asked answered a direct question for something that r got no reply for.
func (v *view) controlled(r *probe.Resolution) bool {
	return slices.ContainsFunc(v.direct, func(other *probe.Resolution) bool {
		same := r.Question != nil && canonical(other.Host) == canonical(r.Host)
		return !same && other.Question != nil && gotReply(other) && slices.Contains(serversOf(r), other.Question.Server)
	})
}

// serversOf are the servers that r sent messages to, by address.
func serversOf(r *probe.Resolution) []string {
	var out []string
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if s := host(t.Server); !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	return out
}
