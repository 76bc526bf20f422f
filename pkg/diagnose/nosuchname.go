package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// noSuchName: every name that the host can stand for was asked, and each answer says NXDOMAIN.
//
// It stays silent when lines of the resolv.conf were ignored: the right name may then never have been asked.
var noSuchName = rule{class: "no-such-name", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if v.found["wrong-dns-policy"] && likeService(r.Host) {
			// The name was looked for in the wrong place, which says nothing about whether it exists.
			continue
		}
		if r.Outcome == probe.NXDomain && allNXDomain(r) && !v.namesCut() {
			findings = append(findings, v.noSuchNameFinding(r))
		}
	}
	return findings
}, page: page{
	needs: "Every name that the host stands for was asked, under settings of which no line that decides names was ignored, and " +
		"each answer is NXDOMAIN.",
	remedies: "Compare the spelling with what was meant, look for the Service in the namespace that the host names, or ask whoever " +
		"owns the zone. Once the name exists, caches can deny it for as long as the SOA record's minimum says.",
	wrong: "ndots and search domains where the name exists nowhere. Restarting CoreDNS: it has answered.",
}}

func allNXDomain(r *probe.Resolution) bool {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Outcome != probe.NXDomain || len(a.Queries) == 0 {
			return false
		}
		for _, q := range a.Queries {
			if q.Rcode != "NXDOMAIN" {
				return false
			}
		}
	}
	return len(r.Attempts) > 0
}

// namesCut says whether a line that decides which names and servers are asked was not taken as written.
func (v *view) namesCut() bool {
	for _, w := range v.run.Settings.Warnings {
		for _, keyword := range []string{"search", "domain", "nameserver"} {
			if strings.HasPrefix(strings.TrimSpace(w.Text), keyword) {
				return true
			}
		}
	}
	return false
}

func (v *view) noSuchNameFinding(r *probe.Resolution) probe.Finding {
	f := probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s does not exist: %s tried, NXDOMAIN for each.", clean(r.Host), count(len(r.Attempts), "name", "names")),
		Explain: "The nameserver answered every query and says that none of the names exists right now. That is an answer, not an " +
			"outage. Whether the name ought to exist cannot be seen from here.",
	}
	var cached uint32
	for i := range r.Attempts {
		a := &r.Attempts[i]
		f.Evidence = append(f.Evidence, v.see(r, a))
		cached = max(cached, soaMinimum(a))
	}
	if cached > 0 {
		f.Explain += fmt.Sprintf(" Caches may keep the answer for up to %d s (the SOA's minimum) after the name comes into being.", cached)
	}
	f.Remedies = append(f.Remedies, probe.Remedy{Text: "Compare the spelling of " + clean(r.Host) + " with what was meant."})
	if look, ok := v.lookForService(r); ok {
		f.Remedies = append(f.Remedies, look)
	}
	return f
}

// lookForService proposes to look for the Service that r's host would mean, when that name was tried.
func (v *view) lookForService(r *probe.Resolution) (probe.Remedy, bool) {
	meant := v.serviceName(canonical(r.Host))
	tried := slices.ContainsFunc(r.Attempts, func(a probe.Attempt) bool { return canonical(a.Name) == meant })
	service, namespace, ok := Service(meant, v.zone)
	// The names come from outside, and people paste commands.
	if !ok || !tried || !plain(service) || !plain(namespace) {
		return probe.Remedy{}, false
	}
	return probe.Remedy{
		Text:   fmt.Sprintf("If a Service is meant, look for it: kubectl -n %s get service,endpointslices | grep %s", namespace, service),
		Caveat: "A pod of a headless Service has no name until it is ready.",
	}, true
}

// serviceName is the full name that a host has when it means a Service: NAME in the pod's own namespace, else
// NAME.NAMESPACE[.svc[.ZONE]].
func (v *view) serviceName(host string) string {
	switch {
	case v.zone == "" || probe.InZone(host, v.zone):
		return host
	case strings.HasSuffix(host, ".svc"):
		return host + "." + canonical(v.zone)
	case !strings.Contains(host, "."):
		return host + "." + canonical(v.run.Settings.Search[0])
	}
	return host + ".svc." + canonical(v.zone)
}

// plain says whether s is a DNS label as Kubernetes names are (RFC 1123), and so safe in a command.
func plain(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && s[0] != '-' && len(s) <= 63
}

func soaMinimum(a *probe.Attempt) uint32 {
	var most uint32
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.SOAMinimum != nil {
				most = max(most, *t.SOAMinimum)
			}
		}
	}
	return most
}
