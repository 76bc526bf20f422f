package diagnose

import (
	"strings"
	"testing"
)

// split loses UDP to the DNS pods on other nodes: whatever the Service sends there is gone.
func split() modelled {
	return modelled{
		hosts: []string{"ledger.core"}, count: 20, conf: clusterConf, servers: append(clusterServers(), "10.244.2.5"),
		rules: []string{"* * 10.96.0.10 udp even: drop", "* * 10.244.1.5 *: drop", "* * 10.244.2.5 *: drop", "ledger.core.svc.cluster.local * * *: a:10.96.44.7", controlRule},
		facts: map[string]string{
			"dnsService": "10.96.0.10", "networkPolicies": "none",
			"dnsEndpoints": "10.244.1.5 ready pod=coredns-b node=node-b; 10.244.2.5 ready pod=coredns-c node=node-c; 10.244.0.5 ready pod=coredns-a node=node-a",
		},
	}
}

func TestOverlayUDP(t *testing.T) {
	for _, libc := range libcs {
		split().on(libc).expect(t, verdict{first: "overlay-udp", says: []string{
			"the DNS pod on this node answers, 2 pods on other nodes never did", "nothing in common but that they are on other nodes", "VXLAN 8472 or 4789",
		}, never: []string{"dead-backend", "half-pair", "healthy"}})
	}
	// One pod elsewhere will do when it answers over TCP.
	tcp := split()
	tcp.rules[1] = "* * 10.244.1.5 udp: drop"
	tcp.facts["dnsEndpoints"] = "10.244.1.5 ready pod=coredns-b node=node-b; 10.244.0.5 ready pod=coredns-a node=node-a"
	tcp.expect(t, verdict{first: "overlay-udp", says: []string{"only UDP is lost", "tx-checksum-ip-generic off"}})
}

func TestOverlayUDPIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := split()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"one pod elsewhere answers":  change(func(m *modelled) { m.rules[1] = "* * 10.244.1.5 tcp: nodata" }),
		"the one here is silent too": change(func(m *modelled) { m.rules[1] = "* * 10.244.0.5 *: drop" }),
		"one pod could be at fault": change(func(m *modelled) {
			m.servers[2] = "10.244.1.5 silent"
			m.facts["dnsEndpoints"] = "10.244.1.5 ready pod=coredns-b node=node-b; 10.244.0.5 ready pod=coredns-a node=node-a"
		}),
		"nobody knows the nodes": change(func(m *modelled) { m.facts["dnsEndpoints"] = "10.244.1.5 ready; 10.244.2.5 ready; 10.244.0.5 ready" }),
		"the policies leave them out": change(func(m *modelled) {
			m.facts["networkPolicies"] = "near: any/53 to 10.244.0.0/24, any/53 to 10.96.0.10/32"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "overlay") {
				t.Errorf("found %q:\n%s", got, told(Diagnose(in)))
			}
		})
	}
}
