package diagnose

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// windowsNames: the pod's node runs Windows, and the host is only found through the search list in a way that Windows does not go: it takes
// a name with a dot for complete, and it has one suffix for a pod, that of the pod's own namespace.
//
// What is shown is what the resolver of the run does; Windows has its own, which this version does not follow.
var windowsNames = rule{class: "windows-names", judge: func(v *view) []probe.Finding {
	system, known := v.facts.Text(fact.OSImage)
	if !known || !strings.HasPrefix(strings.ToLower(system), "windows") {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		d := decided(r)
		if r.Outcome != probe.OK || d == nil || d.Origin != probe.OriginSearch || isHost(d, r) || dots(r.Host) == 0 && d.SearchIndex == 0 {
			continue
		}
		why := "it has a dot, and Windows takes such a name for complete"
		if dots(r.Host) == 0 {
			why = fmt.Sprintf("only search domain %d has it, and Windows gives a pod one suffix, that of its own namespace", d.SearchIndex+1)
		}
		findings = append(findings, probe.Finding{
			Severity: probe.Warning,
			Title:    fmt.Sprintf("On Windows %s is not found: %s.", clean(r.Host), why),
			Explain: fmt.Sprintf("The node runs %s. The search list of Linux leads to %s; the DNS client of Windows does not walk it (Kubernetes documentation, DNS for Services and Pods, "+
				"limits on Windows).", clean(system), bare(d.Name)),
			Evidence: []probe.Evidence{{Text: "the node runs " + clean(system), Fact: fact.OSImage}, at(r, d, fmt.Sprintf("found as %s", bare(d.Name)))},
			Remedies: []probe.Remedy{{Text: fmt.Sprintf("Let the application ask for the full name %s.", bare(d.Name))}},
		})
	}
	return findings
}, page: page{
	needs:    "The operating system of the node from its status, and a host that the search list answers other than as NAME in the pod's own namespace.",
	remedies: "Full names in the configuration of workloads on Windows.",
	wrong:    "ndots: Windows does not know it. nslookup in the container: it walks suffixes of its own.",
}}
