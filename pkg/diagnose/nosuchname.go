package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// noSuchName: every name that the host can stand for was asked, and each answer says NXDOMAIN.
//
// It stays silent when lines of the resolv.conf were ignored: the right name may then never have been asked. It also does when another
// finding says why a name that is there was not found, and for a tool that does not walk the search list until the names of that
// list were asked too.
var noSuchName = rule{class: "no-such-name", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if r.Outcome != probe.NXDomain || !allNXDomain(r) || v.namesCut() || v.foundElsewhere(r) || v.pending(mayFind) {
			continue
		}
		findings = append(findings, v.noSuchNameFinding(r))
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if r.Outcome == probe.NXDomain && allNXDomain(r) {
			asks = append(asks, v.askUnsearched(r)...)
		}
	}
	return asks
}, page: page{
	needs: "NXDOMAIN for both types of every name that the host stands for, a resolv.conf that was read as it is written, and no other finding that says why the name " +
		"was looked for in the wrong place.",
	remedies: "The spelling; the Service or pod that should be there; time, where the name has just come into being and the denial is cached.",
	wrong:    "ndots and search domains: their order changes nothing when every name is denied. More replicas of CoreDNS: it answers.",
}}

// wrongPlace are the classes that say that a host which was denied was looked for in the wrong place, or at the wrong time.
var wrongPlace = []string{
	"resolvconf-invalid", "search-limit", "wrong-dns-policy", "kubelet-dns-config", "stale-resolvconf", "wrong-cluster-domain", "nameserver-limit", "mesh-dns",
	"upstream-inconsistent", "multi-nameserver", "not-ready-endpoints", "external-name", "negative-cache", "client-library", "tool-artifact",
}

// mayFind are the classes of rules that ask whether a host which was denied exists somewhere: until they have their answers, nobody can
// say that it does not.
var mayFind = []string{
	"search-limit", "wrong-dns-policy", "kubelet-dns-config", "stale-resolvconf", "wrong-cluster-domain", "nameserver-limit", "multi-nameserver", "external-name",
	"negative-cache", "client-library", "tool-artifact", "ndots-too-low",
}

// foundElsewhere says whether r's host exists although r was denied it, or may do so since names of it were never asked.
func (v *view) foundElsewhere(r *probe.Resolution) bool {
	if slices.ContainsFunc(v.explained[r.Host], func(class string) bool { return slices.Contains(wrongPlace, class) }) {
		return true
	}
	if v.found["wrong-dns-policy"] && likeService(r.Host) {
		// Another host of the run was looked for in the wrong place, so this one was, too.
		return true
	}
	if v.hasOne(r) {
		return true
	}
	asksAsIs := toolOf(v.run.Resolver.Caller) != "" || v.run.Resolver.Caller == callerNodeResolve
	return v.foundUnsearched(r) != nil || asksAsIs && len(v.unsearched(r)) > 0 && !v.deniedUnsearched(r)
}

// hasOne says whether a server that was asked directly has r's host, as it is or under some domain.
func (v *view) hasOne(r *probe.Resolution) bool {
	return slices.ContainsFunc(v.direct, func(said *probe.Resolution) bool {
		return said.Outcome == probe.OK && endsWithHost(canonical(said.Host), canonical(r.Host))
	})
}

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
	for _, m := range v.meanings(r) {
		if e, ok := v.inTheAPI(m); ok {
			f.Evidence = append(f.Evidence, e)
		}
	}
	if v.deniedUnsearched(r) {
		f.Explain += fmt.Sprintf(" The search list, which %s does not come to here, was asked directly: %s is not there either.", libcName(r.Libc), bare(r.Host))
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

// inTheAPI is the evidence of what the API server says of a Service that a name means.
func (v *view) inTheAPI(m meant) (probe.Evidence, bool) {
	s, known := v.facts.Service(m.service, m.namespace)
	if !known {
		return probe.Evidence{}, false
	}
	about := fmt.Sprintf("Service %s in namespace %s", clean(m.service), clean(m.namespace))
	text := "the API server has no " + about
	if s.Exists {
		text = "the API server has " + about + ", whatever DNS says"
	}
	return probe.Evidence{Text: text, Fact: fact.ServiceName(m.service, m.namespace)}, true
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
