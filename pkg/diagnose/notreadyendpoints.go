package diagnose

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// notReadyEndpoints: the host is a pod behind a headless Service, or the Service itself, that exists but is not ready: DNS has no record
// for it until it is, unless the Service publishes addresses that are not ready.
var notReadyEndpoints = rule{class: "not-ready-endpoints", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if !notFound(r) {
			continue
		}
		for _, m := range v.meanings(r) {
			if f, ok := v.notReady(r, m); ok {
				findings = append(findings, f)
				break
			}
		}
	}
	return findings
}, page: page{
	needs: "A host that was denied, a headless Service that a name of the trace means and that does not publish addresses that are not ready, and the pod behind " +
		"it that exists and is not ready (or a Service with no ready endpoint at all).",
	remedies: "publishNotReadyAddresses on the Service where peers have to find each other before they are ready; else whatever keeps the pod from becoming ready.",
	wrong:    "\"The name does not exist\": it comes into being when the pod is ready. Restarting CoreDNS does not make it ready.",
}}

func (v *view) notReady(r *probe.Resolution, m meant) (probe.Finding, bool) {
	s, known := v.facts.Service(m.service, m.namespace)
	if !known || !s.Exists || !s.Headless || s.PublishNotReady {
		return probe.Finding{}, false
	}
	service := fmt.Sprintf("%s in namespace %s", clean(m.service), clean(m.namespace))
	f := probe.Finding{Severity: probe.Critical}
	state, _ := v.facts.Text(fact.ServiceName(m.service, m.namespace))
	switch {
	case m.pod != "":
		peer, known := v.facts.Peer(m.pod, m.namespace)
		if !known || !peer.Exists || peer.Ready {
			return probe.Finding{}, false
		}
		phase := ""
		if peer.Phase != "" {
			phase = clean(peer.Phase) + ", but "
		}
		f.Title = fmt.Sprintf("%s has no record yet: pod %s is %snot ready, and the headless Service %s only publishes ready pods.", clean(r.Host), clean(m.pod), phase, service)
		about, _ := v.facts.Text(fact.PodName(m.pod, m.namespace))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("pod %s: %s", clean(m.pod), clean(about)), Fact: fact.PodName(m.pod, m.namespace)})
	case s.Ready == 0 && s.NotReady > 0:
		f.Title = fmt.Sprintf("%s has no record yet: the headless Service %s has %s, and none is ready.", clean(r.Host), service, count(s.NotReady, "endpoint", "endpoints"))
	default:
		return probe.Finding{}, false
	}
	f.Explain = "A headless Service has the addresses of its ready pods in DNS. The name is right, it comes into being when the pod is ready."
	if cached := longestDenial(r); cached > 0 {
		f.Explain += fmt.Sprintf(" Caches may keep saying NXDOMAIN for up to %d s after that (the SOA's minimum).", cached)
	}
	f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("Service %s: %s", service, clean(state)), Fact: fact.ServiceName(m.service, m.namespace)},
		v.see(r, v.attemptNamed(r, m.name)))
	f.Remedies = []probe.Remedy{
		{
			Text:   fmt.Sprintf("Set publishNotReadyAddresses to true on Service %s, if peers have to find each other before they are ready.", clean(m.service)),
			Caveat: "Clients then also get pods that cannot serve yet.",
		},
		{Text: "Else find out what keeps the pod from becoming ready: " + v.describe(m)},
	}
	return f, true
}

// describe is the command that shows why a pod is not ready.
func (v *view) describe(m meant) string {
	switch {
	case m.pod != "" && plain(m.pod) && plain(m.namespace):
		return fmt.Sprintf("kubectl -n %s describe pod %s", m.namespace, m.pod)
	case plain(m.service) && plain(m.namespace):
		return fmt.Sprintf("kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", m.namespace, m.service)
	}
	return "look at its readiness probe."
}

// longestDenial is the longest time for which the denials in r may be kept, in seconds.
func longestDenial(r *probe.Resolution) uint32 {
	var most uint32
	for i := range r.Attempts {
		most = max(most, soaMinimum(&r.Attempts[i]))
	}
	return most
}

// attemptNamed returns r's attempt for a name, its first one where there is none.
func (v *view) attemptNamed(r *probe.Resolution, name string) *probe.Attempt {
	for i := range r.Attempts {
		if canonical(r.Attempts[i].Name) == canonical(name) {
			return &r.Attempts[i]
		}
	}
	return &r.Attempts[0]
}
