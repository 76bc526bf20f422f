package diagnose

import (
	"strings"
	"testing"
)

// denied is O11: a policy swallows everything of this pod but one database.
func deniedEgress() modelled {
	return modelled{
		hosts: []string{"db.orders"}, conf: clusterConf, servers: []string{"10.96.0.10 silent", "10.244.0.5 silent", "10.244.1.5 silent"},
		facts: clusterFacts("networkPolicies", "db-only: tcp/5432 to 10.50.0.0/16"),
	}
}

func TestEgressBlocked(t *testing.T) {
	for _, libc := range libcs {
		t.Run(string(libc.libc), func(t *testing.T) {
			deniedEgress().on(libc).expect(t, verdict{first: "egress-blocked", says: []string{
				"NetworkPolicy db-only does not let this pod reach its DNS", "over UDP and 1 connection over TCP", "2 endpoints of the cluster's DNS are ready",
				"endpoint 10.244.0.5 (pod coredns-a on node-a), which is ready, asked directly: no reply", "allows egress: tcp/5432 to 10.50.0.0/16",
				"53/UDP and 53/TCP", "No dnsConfig change helps",
			}, never: []string{"dead-nameserver", "half-pair"}})
		})
	}
	two := deniedEgress()
	two.facts["networkPolicies"] = "db-only: tcp/5432 to 10.50.0.0/16; deny-all: nothing"
	two.expect(t, verdict{first: "egress-blocked", says: []string{"NetworkPolicies db-only and deny-all do not let"}})
	// A block that holds the Service's address does not hold the pods behind it.
	service := deniedEgress()
	service.facts["networkPolicies"] = "cluster-ips: any/53 to 10.96.0.0/12"
	service.expect(t, verdict{first: "egress-blocked"})
	// A node's resolver outside of the cluster.
	outside := modelled{
		hosts: []string{"db.example"}, conf: "nameserver 192.0.2.9\n", servers: []string{"192.0.2.9 silent"},
		facts: map[string]string{"networkPolicies": "cluster-only: any/any to dns-pods"},
	}
	outside.expect(t, verdict{first: "egress-blocked", says: []string{"allow no message to 192.0.2.9"}})
}

func TestEgressBlockedIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := deniedEgress()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"nobody knows the policies":   change(func(m *modelled) { delete(m.facts, "networkPolicies") }),
		"no policy selects the pod":   change(func(m *modelled) { m.facts["networkPolicies"] = "none" }),
		"a policy allows it":          change(func(m *modelled) { m.facts["networkPolicies"] = "dns: udp/53 to dns-pods, tcp/53 to dns-pods" }),
		"a policy may allow it":       change(func(m *modelled) { m.facts["networkPolicies"] = "dns: any/dns to maybe-dns-pods" }),
		"the port refuses":            change(func(m *modelled) { m.servers = nil }),
		"TCP answers":                 change(func(m *modelled) { m.servers[0] = "10.96.0.10"; m.rules = []string{"* * 10.96.0.10 udp: drop"} }),
		"a DNS pod answers this pod":  change(func(m *modelled) { m.servers[1] = "10.244.0.5" }),
		"the Service answers at last": change(func(m *modelled) { m.servers[0] = "10.96.0.10"; m.rules = []string{"db.orders* * * *: drop"} }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "egress-blocked") {
				t.Errorf("found %q", got)
			}
		})
	}
}

// tcpOnly lets TCP pass and nothing over UDP.
func tcpOnly() modelled {
	m := deniedEgress()
	m.servers, m.rules = clusterServers(), []string{"* * * udp: drop", "kubernetes.default.svc.cluster.local A * *: a:10.96.0.1"}
	m.facts["networkPolicies"] = "web: tcp/any to any"
	return m
}

func TestEgressBlockedUDP(t *testing.T) {
	m := tcpOnly()
	for _, libc := range libcs {
		want := verdict{first: "egress-blocked-udp", says: []string{
			"NetworkPolicy web lets this pod ask 10.96.0.10 over TCP, but not over UDP", "The server is alive: asked over TCP it replied after 1.0 ms", "53/UDP, beside 53/TCP",
		}, never: []string{"dead-nameserver", "overlay"}}
		if libc.libc == "glibc" || libc.libc == "go" {
			want.says = append(want.says, "use-vc")
		} else {
			want.never = append(want.never, "use-vc")
		}
		m.on(libc).expect(t, want)
	}
	m.facts["networkPolicies"] = "none"
	m.expect(t, verdict{})
	// A name that nobody answers is no matter of policies.
	m.facts["networkPolicies"] = "web: tcp/any to any"
	m.rules = []string{"db.orders* * * udp: drop", controlRule}
	m.expect(t, verdict{never: []string{"egress"}})
}
