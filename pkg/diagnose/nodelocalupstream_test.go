package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const forcedCorefile = "cluster.local:53 {\n forward . 10.96.0.11 {\n  force_tcp\n }\n}\n.:53 {\n forward . 10.0.0.2 {\n  force_tcp\n }\n}\n"

// waiting is O23: the cache on the node waits for its upstream now and then.
func waiting() modelled {
	return modelled{
		hosts: []string{"objects.example.net"}, count: 20, servers: []string{"169.254.20.10", "10.96.0.10"},
		conf:  "search orders.svc.cluster.local svc.cluster.local cluster.local\nnameserver 169.254.20.10\noptions ndots:5\n",
		facts: map[string]string{"dnsService": "10.96.0.10", "nodeLocal": "169.254.20.10 ready pod=node-local-dns-x1", "nodeLocalCorefile": forcedCorefile, "dnsUpstreamService": "10.96.0.11"},
		rules: []string{
			"objects.example.net A * * #3,9: a:203.0.113.60 delay:2s", "objects.example.net A * * #10: servfail delay:5s", "objects.example.net * * *: a:203.0.113.60 delay:2ms",
			"kubernetes.default.svc.cluster.local A * *: a:10.96.0.1", "*.cluster.local * * *: nx delay:0.3ms",
		},
	}
}

func TestNodeLocalUpstream(t *testing.T) {
	for _, libc := range libcs[:3] {
		t.Run(string(libc.libc), func(t *testing.T) {
			waiting().on(libc).expect(t, verdict{first: "nodelocal-upstream", never: []string{"healthy", "half-pair", "dead-"}, says: []string{
				"the NodeLocal DNSCache 169.254.20.10 waits for its upstream", "in steps of 2 s", "Names of the cluster are clean", "force_tcp", "Put prefer_udp in the place of force_tcp",
			}})
		})
	}
	// One lookup that waits for both halves is enough to repeat it.
	once := waiting()
	once.count, once.rules = 1, append([]string{"objects.example.net * * *: a:203.0.113.60 delay:2s"}, once.rules...)
	once.expect(t, verdict{first: "nodelocal-upstream"})
	unknown := waiting()
	delete(unknown.facts, "nodeLocalCorefile")
	delete(unknown.facts, "nodeLocal")
	unknown.expect(t, verdict{first: "nodelocal-upstream", says: []string{"The cache's Corefile is not known", "prefer_udp"}})
	plain := waiting()
	plain.facts["nodeLocalCorefile"] = strings.ReplaceAll(forcedCorefile, "force_tcp", "prefer_udp")
	plain.expect(t, verdict{first: "nodelocal-upstream", says: []string{"it is the upstream itself that is slow"}})
}

func TestNodeLocalUpstreamIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := waiting()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"one lookup waited": change(func(m *modelled) {
			m.rules = append(m.rules[:0:0], "objects.example.net A * * #3: a:203.0.113.60 delay:2s")
			m.rules = append(m.rules, waiting().rules[2:]...)
		}),
		"there is no cache": change(func(m *modelled) { m.facts["nodeLocal"] = "none" }),
		"names of the cluster wait": change(func(m *modelled) {
			m.rules = append([]string{"*.orders.svc.cluster.local A * * #3,9: nx delay:2s"}, m.rules...)
		}),
		"names of the cluster are lost": change(func(m *modelled) { m.rules = append([]string{"*.orders.svc.cluster.local A * * #3: drop"}, m.rules...) }),
		"the times are no steps":        change(func(m *modelled) { m.rules[0] = "objects.example.net A * * #3,9: a:203.0.113.60 delay:1300" }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "nodelocal-upstream") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestInSteps(t *testing.T) {
	for text, want := range map[probe.Millis]bool{2000: true, 2040: true, 4010: true, 5000: true, 5300: true, 1500: false, 2400: false, 3000: false, 10000: false} {
		if got := inSteps(text * probe.Millis(ms)); got != want {
			t.Errorf("%d ms: %v", text, got)
		}
	}
}
