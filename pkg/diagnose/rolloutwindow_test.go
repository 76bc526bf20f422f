package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// replaced loses what is sent in the first resolutions, while the new DNS pods are not known on the node yet.
func replaced() modelled {
	return modelled{
		hosts: []string{"ledger.core"}, count: 12, conf: clusterConf, servers: clusterServers(),
		rules:  []string{"ledger.core.svc.cluster.local * * *: a:10.96.44.7", controlRule},
		facts:  clusterFacts("dnsEndpointsChanged", "8s", "corefile", ".:53 {\n health {\n lameduck 2s\n }\n}\n"),
		before: func(n int, w *simnet.World) { w.Servers[0].Silent = n < 1 },
	}
}

func TestRolloutWindow(t *testing.T) {
	replaced().expect(t, verdict{first: "rollout-window", says: []string{
		"the servers behind 10.96.0.10 were just replaced: 8 messages got no answer at first", "The list of endpoints changed 8s before this run", "The Corefile has lameduck 2s",
	}, never: []string{"healthy", "dead-backend"}})
	refused := replaced()
	refused.before = func(n int, w *simnet.World) {
		if n == 2 {
			w.Servers = append(w.Servers, simnet.Server{Addr: w.Servers[0].Addr})
		}
	}
	refused.servers = refused.servers[1:]
	refused.before = func(n int, w *simnet.World) {
		if n == 2 {
			w.Servers = (modelled{servers: clusterServers()}).world(t).Servers
		}
	}
	refused.expect(t, verdict{first: "rollout-window", says: []string{"refused (ICMP)"}})
	// A single lookup that meets it: what follows shows that it is over.
	once := replaced()
	once.count = 1
	once.expect(t, verdict{first: "rollout-window"})
}

func TestRolloutWindowIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := replaced()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"nothing changed lately":   change(func(m *modelled) { m.facts["dnsEndpointsChanged"] = "5h0m0s" }),
		"nobody knows":             change(func(m *modelled) { delete(m.facts, "dnsEndpointsChanged") }),
		"it goes on":               change(func(m *modelled) { m.before = func(n int, w *simnet.World) { w.Servers[0].Silent = n%3 == 0 } }),
		"nothing was lost":         change(func(m *modelled) { m.before = nil }),
		"nothing was answered yet": change(func(m *modelled) { m.count = 2; m.before = func(_ int, w *simnet.World) { w.Servers[0].Silent = true } }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "rollout") {
				t.Errorf("found %q:\n%s", got, told(Diagnose(in)))
			}
		})
	}
}
