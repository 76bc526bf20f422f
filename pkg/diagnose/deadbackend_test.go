package diagnose

import (
	"strings"
	"testing"
)

// halfDead is O14: half of the source ports still go to a DNS pod that is gone; the pods themselves are fine.
func halfDead() modelled {
	return modelled{
		hosts: []string{"inventory.stock"}, count: 100, conf: clusterConf, servers: clusterServers(),
		rules: []string{"* * 10.96.0.10 udp even: drop", "inventory.stock.svc.cluster.local * * *: a:100.70.1.5", controlRule},
		facts: clusterFacts("kubeProxyMode", "ipvs", "dnsEndpointsChanged", "1m30s"),
	}
}

func TestDeadBackend(t *testing.T) {
	for _, libc := range libcs {
		t.Run(string(libc.libc), func(t *testing.T) {
			want := verdict{first: "dead-backend", says: []string{
				"source ports lost everything that they sent to 10.96.0.10", "so the fault lies between the Service's address and them", "2 endpoints asked directly: 16 of 16 messages answered",
				"changed 1m30s ago", "kube-proxy mode: ipvs", "conntrack -D -p udp --orig-dst 10.96.0.10 --dport 53", "lameduck",
			}, never: []string{"half-pair-loss (", "healthy", "timeout-in-search"}}
			switch libc.libc {
			case "glibc", "go":
				want.says = append(want.says, "use-vc")
			default:
				want.says = append(want.says, "it ignores use-vc")
			}
			if libc.libc == "go" {
				want.says = append(want.says, "each half of a pair is lost on its own")
			} else {
				want.says = append(want.says, "both halves of a pair and each retransmission")
			}
			halfDead().on(libc).expect(t, want)
		})
	}
	unknown := halfDead()
	delete(unknown.facts, "dnsEndpoints")
	unknown.expect(t, verdict{first: "dead-backend", says: []string{"Which servers stand behind the address is not known"}})
	// One lookup that meets it is enough to ask, and what is asked is enough to tell.
	once := halfDead()
	once.count = 1
	once.expect(t, verdict{first: "dead-backend"})
}

func TestDeadEndpoint(t *testing.T) {
	m := halfDead()
	m.servers[2] = "10.244.1.5 silent"
	m.facts["dnsEndpoints"] = "10.244.0.5 ready pod=coredns-a node=node-a; 10.244.1.5 ready pod=coredns-b node=node-a"
	m.expect(t, verdict{first: "dead-backend", says: []string{"Endpoint 10.244.1.5 (pod coredns-b on node-a) is ready and never replied to this pod"}, never: []string{"Until then set the option use-vc"}})
}

func TestDeadBackendIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := halfDead()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"messages are lost one by one": change(func(m *modelled) { m.rules[0] = "inventory.stock* AAAA 10.96.0.10 udp #3,9,14,40,41,77: drop" }),
		"a name is silent":             change(func(m *modelled) { m.count = 3; m.rules[0] = "inventory.stock.shop* * * udp: drop" }),
		"the DNS pods lose as much":    change(func(m *modelled) { m.rules[0] = "* * * udp even: drop" }),
		"everything is lost":           change(func(m *modelled) { m.count = 3; m.rules[0] = "* * 10.96.0.10 udp: drop" }),
		"Go loses few, and pods say too little": change(func(m *modelled) {
			m.libc, m.version = "go", "1.26"
			m.rules[0] = "* * 10.96.0.10 udp #3,19,44,80: drop"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "dead-backend") {
				t.Errorf("found %q:\n%s", got, told(Diagnose(in)))
			}
		})
	}
}
