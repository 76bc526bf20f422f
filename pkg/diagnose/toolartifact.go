package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// toolArtifact: the run follows a test tool that walks the search list otherwise than the application's libc, and what it says is its own
// doing: it fails for a host that the search list completes, or it prints errors beside an answer.
var toolArtifact = rule{class: "tool-artifact", judge: func(v *view) []probe.Finding {
	tool := toolOf(v.run.Resolver.Caller)
	if tool == "" {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		if known := v.foundUnsearched(r); known != nil {
			f := v.artifact(r, tool)
			f.Title = fmt.Sprintf("%s fails for %s, the application would not: its libc walks the search list and finds %s.", tool, clean(r.Host), bare(known.Host))
			f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked for directly: %s", bare(known.Host), list(answersOf(known))), Resolution: known.ID})
			findings = append(findings, f)
			continue
		}
		if denied, found := mixed(r); tool == busyboxName && found != nil && denied > 0 {
			f := v.artifact(r, tool)
			f.Title = fmt.Sprintf("%s prints %s and ends with an error, although %s is found as %s.", tool, count(denied, "denial", "denials"), clean(r.Host), bare(found.Name))
			f.Evidence = append(f.Evidence, at(r, found, bare(found.Name)+": "+replies(found)))
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	if toolOf(v.run.Resolver.Caller) == "" {
		return nil
	}
	var asks []FollowUp
	for _, r := range v.now {
		asks = append(asks, v.askUnsearched(r)...)
	}
	return asks
}, page: page{
	needs: "A run that follows a tool (--caller dig, nslookup-busybox), and a reply that has the host in a search domain which the tool never asked; for busybox also " +
		"denials beside an answer.",
	remedies: "Nothing in DNS. Test with getent ahosts, or with the application itself.",
	wrong:    "Any change of dnsConfig: the application resolves the host.",
}}

const busyboxName = "nslookup of busybox"

// toolOf names the tool that a caller is; empty for programs.
func toolOf(caller string) string {
	switch {
	case caller == "nslookup-busybox":
		return busyboxName
	case caller == "dig" || strings.HasPrefix(caller, "dig+"):
		return "dig"
	}
	return ""
}

// mixed counts the denied names of r and returns the first one that was found.
func mixed(r *probe.Resolution) (denied int, found *probe.Attempt) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Outcome == probe.OK && found == nil {
			found = a
		}
		if negative(a) {
			denied++
		}
	}
	return denied, found
}

func (v *view) artifact(r *probe.Resolution, tool string) probe.Finding {
	f := probe.Finding{
		Severity: probe.Info,
		Explain: "Tools bring a resolver of their own. dig asks for the name as it is and for A only; nslookup of busybox asks for a name with a dot as it is and for one without in every search " +
			"domain, and its exit code is not that of a resolver.",
		Remedies: []probe.Remedy{{Text: "Change nothing. Test with getent ahosts " + clean(r.Host) + ", or with the application itself."}},
	}
	if len(r.Attempts) > 0 {
		f.Evidence = append(f.Evidence, at(r, &r.Attempts[0], fmt.Sprintf("%s asked for %s: %s", tool, bare(r.Attempts[0].Name), replies(&r.Attempts[0]))))
	}
	return f
}
