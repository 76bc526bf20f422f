package diagnose

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// blocks says whether it is known that the NetworkPolicies which select the pod let no message pass to port 53 of a server. In front
// of a Service either address can be the one that is looked at: network plugins judge before or after the Service's address is
// replaced by that of a pod.
func (v *view) blocks(transport probe.Transport, server netip.Addr) bool {
	list, known := v.facts.Policies()
	if !known || len(list) == 0 {
		return false
	}
	service := v.isService(server)
	if !fact.Allows(list, string(transport), server, service) {
		return true
	}
	ready, _ := v.readyEndpoints()
	if !service || len(ready) == 0 {
		return false
	}
	for _, e := range ready {
		if v.passes(list, transport, e) {
			return false
		}
	}
	return true
}

// passes says whether a list of policies lets messages pass to a pod of the cluster's DNS.
func (v *view) passes(list []fact.Policy, transport probe.Transport, e fact.Endpoint) bool {
	port := uint16(53)
	if e.Port > 0 && e.Port < 1<<16 {
		port = uint16(e.Port)
	}
	return fact.AllowsPort(list, string(transport), netip.AddrPortFrom(e.Address, port), true)
}

// blocksAll says whether that is known for each of the servers.
func (v *view) blocksAll(transport probe.Transport, servers []netip.Addr) bool {
	for _, s := range servers {
		if !v.blocks(transport, s) {
			return false
		}
	}
	return len(servers) > 0
}

// policyNames names the policies that select the pod for egress.
func (v *view) policyNames() string {
	policies, _ := v.facts.Policies()
	var names []string
	for _, p := range policies {
		names = append(names, clean(p.Name))
	}
	if len(names) == 1 {
		return "NetworkPolicy " + names[0]
	}
	return "NetworkPolicies " + list(names)
}

// policyVerb is the verb that fits policyNames.
func (v *view) policyVerb(one, many string) string {
	if list, _ := v.facts.Policies(); len(list) == 1 {
		return one
	}
	return many
}

// policyEvidence is what each policy that selects the pod allows.
func (v *view) policyEvidence() []probe.Evidence {
	list, _ := v.facts.Policies()
	var out []probe.Evidence
	for _, p := range list {
		_, rules, _ := strings.Cut(p.String(), ": ")
		out = append(out, v.known(fact.NetworkPolicies, "NetworkPolicy "+clean(p.Name)+" allows egress: "+clean(rules)))
		if len(out) == mostPolicies {
			break
		}
	}
	return out
}

// mostPolicies bounds the policies that are shown one by one.
const mostPolicies = 5

// allowDNS is the remedy for policies that do not let the pod reach the cluster's DNS.
func (v *view) allowDNS(ports string) probe.Remedy {
	r := probe.Remedy{
		Text: "Allow egress from this pod to the cluster's DNS (namespace kube-system, label k8s-app=kube-dns) on " + ports + ".",
	}
	ready, _ := v.readyEndpoints()
	for _, e := range ready {
		if e.Port > 0 && e.Port != 53 {
			r.Caveat = "The DNS pods listen on port " + strconv.Itoa(e.Port) + ": allow that one too, since some network plugins judge after the Service's address was replaced."
			return r
		}
	}
	r.Caveat = "Where the DNS pods listen on another port (5353, 8053), some network plugins judge by that one: allow it too."
	return r
}
