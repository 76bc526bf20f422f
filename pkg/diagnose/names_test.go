package diagnose

import (
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// nameFaults are runs that have one fault each in the name, or in who answers for it.
func nameFaults() map[string]Input {
	return map[string]Input{
		"lame-nodata":         input(node(), lame("www.example.net", probe.NoData)),
		"multi-nameserver":    disputing(said("198.19.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.33.3"), said("198.19.0.11", "ledger.billing.svc.cluster.local", probe.NXDomain)),
		"not-ready-endpoints": notReadyPeer("headless ready=1 not-ready=1", "10.244.1.21 not-ready phase=Running node=node-b"),
		"external-name":       alias("ExternalName db.example.com", said("198.19.0.10", "db.example.com", probe.NXDomain)),
		"negative-cache": keptDenial(said("10.244.0.5", "ledger.billing.svc.cluster.local", probe.OK, "10.96.33.3"),
			said("198.19.0.10", "ledger.billing.svc.cluster.local", probe.NXDomain)),
		"client-library": shortName("nginx", "", said("198.19.0.10", "mail-api", probe.NXDomain)),
		"client-queue":   slowInNode(),
		"tool-artifact":  tested("dig", said("198.19.0.10", "ledger.core.svc.cluster.local", probe.OK, "10.96.44.7")),
		"family-mismatch": facts(input(node(), trace{host: "v6.example.net", outcome: probe.OK, addresses: []string{"2001:db8::7"}, tries: []try{
			pair("v6.example.net.", -1, probe.OK, empty(ms), found(ms, "2001:db8::7")),
		}}), fact.PodIPs, "10.244.1.7"),
	}
}

func node() probe.Settings {
	return probe.Settings{Nameservers: []string{"198.19.0.10"}, Ndots: 1, TimeoutSeconds: 5, Attempts: 2, Search: []string{"node.example.com"}}
}

// lame is a host of which a server says that it knows nothing and asks nobody.
func lame(host string, outcome probe.Outcome) trace {
	reply := empty(ms)
	reply.flags = []string{"RD"}
	return trace{host: host, libc: probe.Musl, outcome: outcome, tries: []try{pair(host+".", -1, probe.NoData, reply, reply)}}
}

// disputing is a pod with two nameservers of which the first denies a Service.
func disputing(more ...trace) Input {
	settings := kubernetes(5)
	settings.Nameservers = []string{"198.19.0.11", "198.19.0.10"}
	nx := by(dns1, nx(ms))
	tr := trace{host: "ledger.billing", outcome: probe.NXDomain, tries: []try{
		pair("ledger.billing.svc.cluster.local.", 1, probe.NXDomain, nx, nx), pair("ledger.billing.", -1, probe.NXDomain, nx, nx),
	}}
	return judging(input(settings, append([]trace{tr}, more...)...), "ledger.billing")
}

// notReadyPeer is O25: a pod of a StatefulSet that is not ready.
func notReadyPeer(service, pod string) Input {
	host := "node-1.ring-hl.store"
	in := input(kubernetes(5), trace{host: host, outcome: probe.NXDomain, tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), denied(host+".svc.cluster.local.", 1, ms), denied(host+".cluster.local.", 2, ms),
		denied(host+".ec2.internal.", 3, ms), denied(host+".", -1, ms),
	}})
	return facts(in, "service ring-hl.store", service, "pod node-1.store", pod)
}

// alias is a host that means a Service with this fact.
func alias(service string, more ...trace) Input {
	tr := trace{host: "db", outcome: probe.NXDomain, tries: []try{
		denied("db.shop.svc.cluster.local.", 0, ms), denied("db.svc.cluster.local.", 1, ms), denied("db.cluster.local.", 2, ms), denied("db.ec2.internal.", 3, ms), denied("db.", -1, ms),
	}}
	return facts(judging(input(kubernetes(5), append([]trace{tr}, more...)...), "db"), "service db.shop", service)
}

// keptDenial is a Service that is there, and that the pod's server still denies.
func keptDenial(more ...trace) Input {
	tr := trace{host: "ledger.billing", outcome: probe.NXDomain, tries: []try{
		denied("ledger.billing.shop.svc.cluster.local.", 0, ms), denied("ledger.billing.svc.cluster.local.", 1, ms), denied("ledger.billing.cluster.local.", 2, ms),
		denied("ledger.billing.ec2.internal.", 3, ms), denied("ledger.billing.", -1, ms),
	}}
	return facts(judging(input(kubernetes(5), append([]trace{tr}, more...)...), "ledger.billing"),
		"service ledger.billing", "ClusterIP 10.96.33.3 ready=2", fact.DNSEndpoints, "10.244.0.5 ready pod=coredns-a; 10.244.0.6 ready pod=coredns-b")
}

// shortName is O21: a short name in a pod that runs a program, or has images.
func shortName(runtime, images string, more ...trace) Input {
	in := judging(input(kubernetes(5), append([]trace{bySearch("mail-api", 0, "10.96.3.30")}, more...)...), "mail-api")
	in.Run.Resolver.Runtime = runtime
	if images != "" {
		in = facts(in, fact.Images, images)
	}
	return in
}

// slowInNode is a lookup by Node that waits for a reply that was lost, and then gets an answer.
func slowInNode() Input {
	late := found(1200*time.Millisecond, "203.0.113.7")
	in := input(kubernetes(1), trace{host: "api.stripe.com", outcome: probe.OK, addresses: []string{"203.0.113.7"}, tries: []try{
		pair("api.stripe.com.", -1, probe.OK, late, empty(ms)),
	}})
	in.Run.Resolver.Runtime = "node"
	return in
}

// tested is a Service that a tool asks for as it is written.
func tested(caller string, more ...trace) Input {
	libc := probe.Libc("dig")
	if caller == "nslookup-busybox" {
		libc = "busybox"
	}
	tr := trace{host: "ledger.core", libc: libc, outcome: probe.NXDomain, tries: []try{denied("ledger.core.", -1, ms)}}
	in := judging(input(kubernetes(5), append([]trace{tr}, more...)...), "ledger.core")
	in.Run.Resolver.Caller = caller
	return in
}
