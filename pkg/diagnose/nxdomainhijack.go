package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nxdomainHijack: whoever answers for outside names gives an address for names that do not exist: a random name under the same top-level
// domain gets the address that the host got. Providers do so to show advertisements, and the search list turns it into wrong answers.
var nxdomainHijack = rule{class: "nxdomain-hijack", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		name, ok := v.hijackTest(r)
		if !ok {
			continue
		}
		test := v.foundAt(v.server(r), name)
		if test == nil || !sharesAnswer(r, test) {
			continue
		}
		findings = append(findings, v.hijackFinding(r, test))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if name, ok := v.hijackTest(r); ok && v.server(r) != "" {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, name))
		}
	}
	return asks
}, page: page{
	needs: "A host that was answered outside of the cluster, and a random name under the same top-level domain that gets the same address.",
	remedies: "Other upstream servers in the Corefile's forward line, or the provider's switch for honest answers. A shorter search list, or a trailing dot, " +
		"keeps hosts that exist from being answered this way.",
	wrong: "\"The search domain has a wildcard\": every name that does not exist gets this address, wherever it is. Retrying gives the same.",
}}

// hijackTest returns a random name that cannot exist, under the top-level domain of the name that answered for r; false when r was not
// answered from outside of the cluster, or when its name is plainly one of the outside world: with a search domain of its own it can
// be meant.
func (v *view) hijackTest(r *probe.Resolution) (string, bool) {
	d := decided(r)
	if r.Outcome != probe.OK || d == nil || probe.InZone(d.Name, v.zone) || r.AnsweredBy == answeredByHosts {
		return "", false
	}
	if d.Origin != probe.OriginSearch && !likeService(r.Host) {
		return "", false
	}
	return v.randomBeside(d.Name), true
}

// randomBeside is a name that nobody has, under the top-level domain of name.
func (v *view) randomBeside(name string) string {
	name = canonical(name)
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return WildcardLabel + v.label
	}
	return WildcardLabel + v.label + name[i:]
}

// sharesAnswer says whether two resolutions found an address in common.
func sharesAnswer(a, b *probe.Resolution) bool {
	for _, one := range answersOf(a) {
		for _, other := range answersOf(b) {
			if one == other {
				return true
			}
		}
	}
	return false
}

func (v *view) hijackFinding(r, test *probe.Resolution) probe.Finding {
	d := decided(r)
	return probe.Finding{
		Severity: probe.Critical,
		Title: fmt.Sprintf("%s gets %s, which is what every name that does not exist gets: somebody on the way replaces NXDOMAIN with an address.", clean(r.Host),
			list(answersOf(r))),
		Explain: fmt.Sprintf("A random name, %s, has the same address. The lookup of %s succeeds with the address of whoever does that, and so does that of every misspelled name; "+
			"with a search list it hides names that exist.", bare(test.Host), clean(r.Host)),
		Evidence: []probe.Evidence{
			at(r, d, fmt.Sprintf("%s: %s", bare(d.Name), list(answersOf(r)))),
			{Text: fmt.Sprintf("%s, a random name: %s", bare(test.Host), list(answersOf(test))), Resolution: test.ID},
		},
		Remedies: []probe.Remedy{
			{Text: "Let the cluster's DNS ask other servers: the forward line of the Corefile, or the node's nameservers where it forwards to /etc/resolv.conf."},
			{Text: "Or switch it off at the provider that runs those servers.", Caveat: "Until then no answer for a name outside proves that the name exists."},
		},
	}
}
