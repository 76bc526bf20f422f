package diagnose

import (
	"strings"
	"testing"
)

// uncovered is O24: the policy means the DNS pods, the pod asks the cache on its node.
func uncovered() modelled {
	return modelled{
		hosts: []string{"api.checkout"}, conf: strings.Replace(clusterConf, "10.96.0.10", "169.254.20.10", 1),
		servers: []string{"169.254.20.10 silent", "10.96.0.10", "10.244.0.5", "10.244.1.5"},
		rules:   []string{"api.checkout.svc.cluster.local A * *: a:10.96.61.2", controlRule},
		facts:   clusterFacts("networkPolicies", "dns: udp/53 to dns-pods, tcp/53 to dns-pods", "nodeLocal", "169.254.20.10 ready pod=node-local-dns-x1"),
	}
}

func TestNodeLocalBlocked(t *testing.T) {
	for _, libc := range libcs {
		t.Run(string(libc.libc), func(t *testing.T) {
			uncovered().on(libc).expect(t, verdict{first: "nodelocal-blocked", says: []string{
				"NetworkPolicy dns allows the cluster's DNS, but not 169.254.20.10", "no selector of pods matches it", "10.96.0.10 asked directly for kubernetes.default.svc.cluster.local.: NOERROR",
				"ipBlock 169.254.20.10/32 on 53/UDP and 53/TCP", "dnsPolicy to None with nameserver 10.96.0.10",
			}, never: []string{"egress-blocked (", "dead-nameserver"}})
		})
	}
	// The cache can listen on the Service's address, too: then only a pod behind it tells.
	same := uncovered()
	same.conf = clusterConf
	same.servers[1] = "10.96.0.10 silent"
	same.facts["nodeLocal"] = "169.254.20.10 10.96.0.10 ready"
	same.expect(t, verdict{first: "nodelocal-blocked", says: []string{"10.244.0.5 asked directly", "ipBlock 10.96.0.10/32"}})
}

func TestNodeLocalBlockedIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := uncovered()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"nobody knows the policies":   change(func(m *modelled) { delete(m.facts, "networkPolicies") }),
		"no policy selects the pod":   change(func(m *modelled) { m.facts["networkPolicies"] = "none" }),
		"a policy allows the address": change(func(m *modelled) { m.facts["networkPolicies"] += "; cache: any/53 to 169.254.20.10/32" }),
		"the cache is not ready":      change(func(m *modelled) { m.facts["nodeLocal"] = "169.254.20.10 not-ready" }),
		"there is no such cache":      change(func(m *modelled) { m.facts["nodeLocal"] = "none" }),
		"the cluster's DNS is silent": change(func(m *modelled) {
			m.servers = []string{"169.254.20.10 silent", "10.96.0.10 silent", "10.244.0.5 silent", "10.244.1.5 silent"}
		}),
		"the cache answers other names": change(func(m *modelled) {
			m.servers[0] = "169.254.20.10"
			m.rules = append([]string{"api.checkout.shop* * 169.254.20.10 *: drop"}, m.rules...)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "nodelocal-blocked") {
				t.Errorf("found %q", got)
			}
		})
	}
}
