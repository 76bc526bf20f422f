package diagnose

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// walkFaults are runs that have one fault each on the way through the search list.
func walkFaults() map[string]Input {
	return map[string]Input{
		"nodata-in-search":  emptyDomain(said("198.19.0.10", "mirror.example.net", probe.OK, "198.51.100.21")),
		"nxdomain-hijack":   hijacked(said("198.19.0.10", "dnsprobe-abc.org", probe.OK, "203.0.113.99")),
		"namespace-shadow":  shadowed(said("198.19.0.10", "status.example", probe.OK, "198.51.100.77"), said("198.19.0.10", "dnsprobe-abc.example", probe.NXDomain)),
		"autopath-mismatch": facts(input(kubernetes(5), otherList("corp.example")), fact.Corefile, withAutopath, "service api.shop", "none"),
		"windows-names":     facts(input(kubernetes(5), bySearch("ledger.core", 1, "10.96.44.7")), fact.OSImage, "Windows Server 2022 Datacenter"),
	}
}

// bySearch is a host that a search domain of the cluster answers, after those before it denied it.
func bySearch(host string, search int, address string) trace {
	domains := kubernetes(5).Search
	tr := trace{host: host, outcome: probe.OK, addresses: []string{address}}
	for i := range search {
		tr.tries = append(tr.tries, denied(host+"."+domains[i]+".", i, ms))
	}
	tr.tries = append(tr.tries, pair(host+"."+domains[search]+".", search, probe.OK, found(ms, address), empty(ms)))
	return tr
}

// emptyDomain is O04: the last search domain answers with no data, and musl stops there.
func emptyDomain(more ...trace) Input {
	host := "mirror.example.net"
	tr := trace{host: host, libc: probe.Musl, version: "1.2.3", outcome: probe.NoData, tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), denied(host+".svc.cluster.local.", 1, ms), denied(host+".cluster.local.", 2, ms),
		pair(host+".ec2.internal.", 3, probe.NoData, empty(ms), empty(ms)),
	}}
	return judging(input(kubernetes(5), append([]trace{tr}, more...)...), host)
}

// hijacked is a misspelled Service that gets an address through the search domain of the node.
func hijacked(more ...trace) Input {
	settings := kubernetes(5)
	settings.Search[3] = "lab.example.org"
	host := "ledger.biling"
	tr := trace{host: host, outcome: probe.OK, addresses: []string{"203.0.113.99"}, tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), pair(host+".lab.example.org.", 3, probe.OK, found(ms, "203.0.113.99"), empty(ms)),
	}}
	in := judging(input(settings, append([]trace{tr}, more...)...), host)
	in.Label = "abc"
	return in
}

// shadowed is O26: Service status in namespace example answers for status.example.
func shadowed(more ...trace) Input {
	in := judging(input(kubernetes(5), append([]trace{bySearch("status.example", 1, "10.96.33.3")}, more...)...), "status.example")
	in.Label = "abc"
	return in
}

const withAutopath = ".:53 {\n  kubernetes cluster.local {\n    pods verified\n  }\n  autopath @kubernetes\n  forward . 10.0.0.2\n}\n"

// otherList is a host that autopath answers at the first search domain, as an alias of the host in a domain; of the host itself for an
// empty one.
func otherList(domain string) trace {
	host := "api"
	target := strings.TrimSuffix(host+"."+domain, ".") + "."
	reply := found(ms, "203.0.113.7")
	reply.alias = target
	return trace{host: host, outcome: probe.OK, addresses: []string{"203.0.113.7"}, tries: []try{
		pair(host+".shop.svc.cluster.local.", 0, probe.OK, reply, empty(ms)),
	}}
}
