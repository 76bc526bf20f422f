package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// said returns what a server said when it was asked directly for a name, nil when it was not asked.
func (v *view) said(q probe.Question, name string) *probe.Resolution {
	for _, r := range v.direct {
		if canonical(r.Host) == canonical(name) && r.Variant == q.Label() {
			return r
		}
	}
	return nil
}

// ask is a follow-up that asks a server directly.
func ask(q probe.Question, name string, types ...probe.QueryType) FollowUp {
	return FollowUp{Ask: q.AskOf(name, types...)}
}

// again is f asked a number of times in all.
func (f FollowUp) again(times int) FollowUp {
	f.Times = times
	return f
}

// deaf says whether the run has no reply from a server so far, asked directly or by a libc.
func (v *view) deaf(server string) bool {
	return !slices.ContainsFunc(v.run.Resolutions, func(r probe.Resolution) bool {
		return number(only(transmissionsOf(&r), func(m transmission) bool { return host(m.t.Server) == host(server) }), transmission.replied) > 0
	})
}

// gotReply says whether anything came back from a server that was asked directly: it can be reached that way.
func gotReply(r *probe.Resolution) bool {
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if t.Received != nil {
					return true
				}
			}
		}
	}
	return false
}

// over is a question to an address, of one message.
func over(addr netip.Addr, transport probe.Transport) probe.Question {
	if transport == probe.UDP {
		transport = ""
	}
	return probe.Question{Server: addr.String(), Transport: transport, Tries: 1}
}

// ednsSize is the payload size that Go and c-ares announce.
const ednsSize = 1232

// withEDNS is q with an OPT record.
func withEDNS(q probe.Question) probe.Question {
	q.EDNSSize = ednsSize
	return q
}

// heard returns the messages of the direct questions that q stands for: to that server, over that transport, with or without EDNS.
// An empty name means any.
func (v *view) heard(q probe.Question, name string) []transmission {
	var list []*probe.Resolution
	for _, r := range v.direct {
		if r.Variant == q.Label() && (name == "" || canonical(r.Host) == canonical(name)) {
			list = append(list, r)
		}
	}
	return transmissionsOf(list...)
}

// control is a name that every cluster has: its DNS can answer it from memory, and it has nothing to do with the host.
func (v *view) control() string {
	zone := v.zone
	if text, known := v.facts.Text(fact.ClusterDomain); known && zone == "" {
		zone = text
	}
	if zone == "" {
		// Outside of a cluster any reply serves, NXDOMAIN too.
		zone = "cluster.local"
	}
	return "kubernetes.default.svc." + canonical(zone) + "."
}

// inPod says whether the run took place in a pod.
func (v *view) inPod() bool { return v.run.Target.Pod != "" }

// isService says whether an address is known to be one of the cluster's DNS Service.
func (v *view) isService(addr netip.Addr) bool {
	text, known := v.facts.Text(fact.DNSService)
	return known && slices.Contains(fact.Addresses(text), addr)
}

// service returns an address of the cluster's DNS Service, the invalid one when none is known.
func (v *view) service() netip.Addr {
	text, _ := v.facts.Text(fact.DNSService)
	if list := fact.Addresses(text); len(list) > 0 {
		return list[0]
	}
	return netip.Addr{}
}

// defaultNodeCache is the address that NodeLocal DNSCache listens on unless it was told another one
// (kubernetes.io/docs/tasks/administer-cluster/nodelocaldns).
var defaultNodeCache = netip.MustParseAddr("169.254.20.10")

// isNodeCache says whether an address is that of the NodeLocal DNSCache on the pod's node.
func (v *view) isNodeCache(addr netip.Addr) bool {
	cache, known := v.facts.NodeCache()
	if known {
		return cache.Exists && slices.Contains(cache.Addresses, addr)
	}
	return addr == defaultNodeCache
}

// readyEndpoints are the servers behind the cluster's DNS Service that are ready; known is false when nobody knows.
func (v *view) readyEndpoints() (ready []fact.Endpoint, known bool) {
	list, known := v.facts.Endpoints()
	for _, e := range list {
		if e.Ready {
			ready = append(ready, e)
		}
	}
	return ready, known
}

// mostEndpoints bounds the servers behind the Service that are asked one by one.
const mostEndpoints = 3

// dnsPods are the ready endpoints that can be asked directly, which is always on port 53: no more than mostEndpoints, those on the
// pod's own node first.
func (v *view) dnsPods() []fact.Endpoint {
	ready, _ := v.readyEndpoints()
	var out []fact.Endpoint
	for _, e := range ready {
		if e.Port == 0 || e.Port == 53 {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b fact.Endpoint) int {
		return v.distance(a) - v.distance(b)
	})
	return out[:min(len(out), mostEndpoints)]
}

// distance is 0 for an endpoint on the pod's own node, else 1.
func (v *view) distance(e fact.Endpoint) int {
	if v.here(e) {
		return 0
	}
	return 1
}

// here says whether an endpoint is known to run on the pod's own node.
func (v *view) here(e fact.Endpoint) bool { return e.Node != "" && e.Node == v.run.Target.Node }

// elsewhere says whether an endpoint is known to run on another node than the pod.
func (v *view) elsewhere(e fact.Endpoint) bool {
	return e.Node != "" && v.run.Target.Node != "" && e.Node != v.run.Target.Node
}

// called names an endpoint: "10.244.0.5 (pod coredns-abc on node-a)".
func called(e fact.Endpoint) string {
	where := ""
	if e.Pod != "" {
		where = "pod " + clean(e.Pod)
	}
	if e.Node != "" {
		where += " on " + clean(e.Node)
	}
	if where = strings.TrimSpace(where); where == "" {
		return e.Address.String()
	}
	return fmt.Sprintf("%s (%s)", e.Address, where)
}

// known is the evidence of a fact.
func (v *view) known(name, text string) probe.Evidence { return probe.Evidence{Text: text, Fact: name} }

// whyUnknown says why a fact is not known, with the permission that would tell where that is the reason; empty when it is known.
func (v *view) whyUnknown(name, what string) string {
	f := v.facts[name]
	if _, known := v.facts.Text(name); known {
		return ""
	}
	if f.Unknown == "" {
		return what + " is not known."
	}
	return fmt.Sprintf("%s is not known: %s.", what, clean(strings.TrimSuffix(f.Unknown, ".")))
}
