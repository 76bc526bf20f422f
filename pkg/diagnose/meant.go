package diagnose

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// namespace is that of the pod: as the target says, else as the first search domain does.
func (v *view) namespace() string {
	if v.run.Target.Namespace != "" {
		return v.run.Target.Namespace
	}
	if len(v.run.Settings.Search) > 0 && v.zone != "" {
		if ns, ok := strings.CutSuffix(canonical(v.run.Settings.Search[0]), ".svc."+canonical(v.zone)); ok && !strings.Contains(ns, ".") {
			return ns
		}
	}
	return ""
}

// serviceIn is the full name of the Service that a host would mean in a cluster with this zone; empty when it has no such shape.
func (v *view) serviceIn(host, zone string) string {
	host, zone = canonical(host), canonical(zone)
	switch {
	case zone == "" || host == "" || !likeService(host):
		return ""
	case strings.HasSuffix(host, ".svc"):
		return host + "." + zone
	case strings.Contains(host, ".svc."):
		before, _, _ := strings.Cut(host, ".svc.")
		return before + ".svc." + zone
	case strings.Contains(host, "."):
		return host + ".svc." + zone
	case v.namespace() != "":
		return host + "." + canonical(v.namespace()) + ".svc." + zone
	}
	return ""
}

// clusterZone is the zone that the cluster's DNS serves as facts tell it, and the fact that does; empty when none is known. A Corefile
// with several zones tells none.
func (v *view) clusterZone() (zone, name string) {
	if text, known := v.facts.Text(fact.ClusterDomain); known && text != fact.None {
		if words := strings.Fields(text); len(words) == 1 && domainFits(words[0]) {
			return canonical(words[0]), fact.ClusterDomain
		}
		return "", ""
	}
	blocks, _ := v.facts.Corefile(fact.Corefile)
	var zones []string
	for _, b := range blocks {
		for _, p := range b.Named("kubernetes") {
			for _, arg := range p.Args {
				arg = canonical(arg)
				if strings.HasSuffix(arg, ".arpa") || strings.Contains(arg, "/") || !domainFits(arg) || slices.Contains(zones, arg) {
					continue
				}
				zones = append(zones, arg)
			}
		}
	}
	if len(zones) != 1 {
		return "", ""
	}
	return zones[0], fact.Corefile
}

// dnsService are the addresses of the cluster's DNS Service, in words; none when they are not known.
func (v *view) dnsService() []string {
	text, known := v.facts.Text(fact.DNSService)
	if !known {
		return nil
	}
	var out []string
	for _, a := range fact.Addresses(text) {
		out = append(out, a.String())
	}
	return out
}

// asksCluster says whether the pod asks the cluster's DNS: its Service, a cache on the node, or one of the servers behind it. It is
// also true where nobody knows.
func (v *view) asksCluster() bool {
	service := v.dnsService()
	if len(service) == 0 {
		return true
	}
	known := slices.Clone(service)
	for _, name := range []string{fact.NodeLocal, fact.DNSUpstreamService, fact.DNSEndpoints} {
		text, _ := v.facts.Text(name)
		for _, a := range fact.Addresses(text) {
			known = append(known, a.String())
		}
	}
	return slices.ContainsFunc(v.run.Settings.Nameservers, func(s string) bool {
		// A cache on the node has a link-local address, whether or not the cluster tells of it.
		return slices.Contains(known, s) || isLinkLocal(s) || isLoopback(s)
	})
}

// knownToCluster returns what the cluster's DNS Service said when it was asked directly for the Service that r's host means: the
// reply with an address, or nil.
func (v *view) knownToCluster(r *probe.Resolution) *probe.Resolution {
	server, name := v.clusterQuestion(r)
	if server == "" {
		return nil
	}
	return v.foundAt(server, name)
}

// clusterQuestion is the question by which the cluster's DNS Service tells whether it knows r's host; server is empty when it cannot
// be asked.
func (v *view) clusterQuestion(r *probe.Resolution) (server, name string) {
	service := v.dnsService()
	if len(service) == 0 {
		return "", ""
	}
	zone := v.zone
	if zone == "" {
		zone, _ = v.clusterZone()
	}
	if zone == "" {
		// The zone of nearly all clusters; a question tells whether it is that of this one.
		zone = "cluster.local"
	}
	if name = v.serviceIn(r.Host, zone); name == "" {
		name = strings.TrimSuffix(r.Host, ".")
	}
	return service[0], name
}

func isLinkLocal(s string) bool {
	for _, a := range fact.Addresses(s) {
		return a.IsLinkLocalUnicast()
	}
	return false
}

// meant is a Service that a name of a trace stands for, with the label in front of it for a pod of a headless one.
type meant struct{ name, pod, service, namespace string }

// meanings are the Services that the names of r stand for, in the order in which they were asked.
func (v *view) meanings(r *probe.Resolution) []meant {
	var out []meant
	for i := range r.Attempts {
		name := canonical(r.Attempts[i].Name)
		service, namespace, ok := Service(name, v.zone)
		if !ok {
			continue
		}
		rest, _ := strings.CutSuffix(name, service+"."+namespace+".svc."+canonical(v.zone))
		m := meant{name: name, pod: strings.TrimSuffix(rest, "."), service: service, namespace: namespace}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
