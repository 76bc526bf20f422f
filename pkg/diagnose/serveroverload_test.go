package diagnose

import (
	"strings"
	"testing"
)

// busy has DNS pods that answer a name of their own late every other time.
func busy() modelled {
	return modelled{
		hosts: []string{"ledger.core"}, count: 10, conf: clusterConf, servers: clusterServers(), facts: clusterFacts(),
		rules: []string{
			"ledger.core.svc.cluster.local * 10.96.0.10 * #3,8,13: a:10.96.44.7 delay:700", "ledger.core.svc.cluster.local * * *: a:10.96.44.7",
			"kubernetes.default.svc.cluster.local A * * #2,3,6,7: a:10.96.0.1 delay:400", "kubernetes.default.svc.cluster.local * * *: a:10.96.0.1",
		},
	}
}

func TestServerOverload(t *testing.T) {
	busy().expect(t, verdict{first: "server-overload", never: []string{"healthy", "half-pair"}, says: []string{
		"4 of 8 direct questions for a name of its own were late or lost, at each of 2 servers", "It answers such names from memory", "the same at another moment: NOERROR after 1.0 ms", "more replicas or CPU",
	}})
	restarted := busy()
	restarted.facts["dnsEndpoints"] = "10.244.0.5 ready pod=coredns-a node=node-a restarts=4; 10.244.1.5 ready"
	restarted.expect(t, verdict{first: "server-overload", says: []string{"pod coredns-a on node-a): 4 restarts"}})
}

func TestServerOverloadIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := busy()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"the DNS pods are quick": change(func(m *modelled) { m.rules = append(m.rules[:2:2], m.rules[3]) }),
		"one of them is quick": change(func(m *modelled) {
			m.rules[2] = "kubernetes.default.svc.cluster.local A 10.244.0.5 * #1,2,3: a:10.96.0.1 delay:400"
		}),
		"all replies take as long":   change(func(m *modelled) { m.rules[2] = "kubernetes.default.svc.cluster.local A * *: a:10.96.0.1 delay:400" }),
		"nothing was late":           change(func(m *modelled) { m.rules = m.rules[1:] }),
		"nobody knows the endpoints": change(func(m *modelled) { delete(m.facts, "dnsEndpoints") }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "overload") {
				t.Errorf("found %q", got)
			}
		})
	}
}
