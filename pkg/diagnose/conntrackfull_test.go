package diagnose

import (
	"strings"
	"testing"
)

// crowded loses a third of all flows on a node whose table is full.
func crowded() modelled {
	return modelled{
		hosts: []string{"ledger.core"}, count: 20, conf: clusterConf, servers: clusterServers(),
		rules: []string{"* * * udp #3,4,9,10,21,22,30,31,47,48: drop", "ledger.core.svc.cluster.local * * *: a:10.96.44.7", controlRule},
		facts: clusterFacts("conntrack", "262144 of 262144"),
	}
}

func TestConntrackFull(t *testing.T) {
	for _, libc := range libcs {
		crowded().on(libc).expect(t, verdict{first: "conntrack-full", says: []string{
			"the conntrack table of the node is full (262144 of 262144 entries)", "nf_conntrack_max", "NodeLocal DNSCache keeps DNS out of the table",
		}, never: []string{"healthy", "half-pair-loss ("}})
	}
	event := crowded()
	event.facts["conntrack"] = "full"
	event.expect(t, verdict{first: "conntrack-full", says: []string{"is full, so new flows"}})
}

func TestConntrackFullIsNotClaimedWhere(t *testing.T) {
	for name, change := range map[string]func(*modelled){
		"there is room":    func(m *modelled) { m.facts["conntrack"] = "2000 of 262144" },
		"nobody knows":     func(m *modelled) { delete(m.facts, "conntrack") },
		"nothing is lost":  func(m *modelled) { m.rules = m.rules[1:] },
		"one flow is lost": func(m *modelled) { m.rules[0] = "* * * udp #3,4: drop" },
	} {
		t.Run(name, func(t *testing.T) {
			m := crowded()
			change(&m)
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "conntrack") {
				t.Errorf("found %q", got)
			}
		})
	}
}
