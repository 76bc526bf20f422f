package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// raced is O05: of 200 lookups five lose their first AAAA message.
func raced() modelled {
	return modelled{
		hosts: []string{"pay.example.net"}, count: 200, servers: clusterServers(),
		rules: []string{"pay.example.net AAAA * * #17,59,92,136,175: drop", "pay.example.net * * *: a:198.51.100.40"},
		facts: clusterFacts("kubeProxyMode", "iptables", "nodeLocal", "none", "kernel", "4.14.35-generic"),
	}
}

// What is sent again matches a rule of the model too, so the numbers of lost messages grow by one after each loss.
func TestHalfPairLoss(t *testing.T) {
	raced().expect(t, verdict{first: "half-pair-loss", never: []string{"dead-backend", "healthy", "aaaa-blackhole", "cale CoreDNS"}, says: []string{
		"5 of 200 pairs to 10.96.0.10 lost one half, and the other half of the same pair was answered in 1.0 ms (p50)", "that is the wait of 5.00 s", "lost halves: AAAA 5, A 0; whole pairs lost: 0 of 200",
		"kube-proxy mode iptables, 2 ready endpoints behind the Service", "no NodeLocal DNSCache on this node", "kernel 4.14.35-generic: fixes for this race came with 4.19 and 5.0",
		"single-request-reopen", "NodeLocal DNSCache is the lasting cure",
	}})
	// The A half can be the one that loses, and the walk has pairs too.
	walk := raced()
	walk.conf, walk.hosts, walk.count = clusterConf, []string{"a.b"}, 30
	walk.rules = []string{"a.b.svc.cluster.local AAAA * * #4,12: drop", "a.b.shop.svc.cluster.local A * * #9,28: drop", "a.b.svc.cluster.local * * *: a:198.51.100.40"}
	walk.expect(t, verdict{first: "half-pair-loss", says: []string{"4 of 58 pairs", "AAAA 2, A 2"}})
}

func TestHalfPairLossOnMusl(t *testing.T) {
	m := raced().on(libcs[1])
	m.conf = strings.Replace(flatConf, "ndots:1", "ndots:1 single-request-reopen", 1)
	m.rules[0] = "pay.example.net AAAA * * #9,41,43,170: drop"
	m.expect(t, verdict{first: "half-pair-loss", says: []string{
		"musl sends again after timeout/attempts, 5 s / 2 here: that is the wait of 2.50 s, not glibc's 5 s", "The option single-request-reopen is set and has no effect on this target",
		"timeout:5 and attempts:10", "every 0.5 s", "A glibc or Go container in the same pod would try a dead server ten times", "an image with glibc",
	}, never: []string{"Set the option single-request-reopen", "use-vc"}})
}

func TestHalfPairLossOnCAres(t *testing.T) {
	m := raced().on(libcs[3])
	m.rules[0] = "pay.example.net AAAA * * #17,58,90: drop"
	m.expect(t, verdict{first: "half-pair-loss", says: []string{"3 of 200 pairs", "c-ares does not ask again for AAAA", "c-ares ignores single-request"}})
}

func TestKernelOfTheRace(t *testing.T) {
	for kernel, want := range map[string]string{
		"4.18.0-553.el8": "with later updates of older kernels", "5.15.0-91-generic": "do not cover a pair whose halves are sent to two DNS pods",
	} {
		m := raced()
		m.facts["kernel"] = kernel
		m.expect(t, verdict{first: "half-pair-loss", says: []string{want}})
	}
	one := raced()
	one.facts["kernel"], one.facts["dnsEndpoints"] = "6.1.0", "10.244.0.5 ready"
	one.expect(t, verdict{first: "half-pair-loss", says: []string{"NFQUEUE"}})
}

func TestHalfPairLossIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := raced()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"Go sends the halves from two ports": raced().on(libcs[2]),
		"two losses are an accident":         change(func(m *modelled) { m.rules[0] = "pay.example.net AAAA * * #17,59: drop" }),
		"there are few pairs":                change(func(m *modelled) { m.count = 12; m.rules[0] = "pay.example.net AAAA * * #2,5,8: drop" }),
		"whole pairs are lost, too": change(func(m *modelled) {
			m.rules = append([]string{"pay.example.net A * * #17: drop"}, m.rules...)
		}),
		"AAAA is never answered": change(func(m *modelled) { m.count = 30; m.rules[0] = "pay.example.net AAAA * *: drop" }),
		"the cache on the node is asked": change(func(m *modelled) {
			m.facts["nodeLocal"] = "10.96.0.10 ready"
		}),
		"the halves are asked one after the other": change(func(m *modelled) { m.conf = strings.Replace(flatConf, "ndots:1", "ndots:1 single-request-reopen", 1) }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "half-pair") {
				t.Errorf("found %q:\n%s", got, told(Diagnose(in)))
			}
		})
	}
}

func TestPairings(t *testing.T) {
	one := trace{host: "x", outcome: probe.OK, tries: []try{pair("x.", -1, probe.OK, found(ms, "192.0.2.1"), empty(ms))}}
	other := trace{host: "y", outcome: probe.OK, tries: []try{pair("y.", -1, probe.OK, found(ms, "192.0.2.1"), by(dns1, empty(ms)))}}
	only := trace{host: "z", outcome: probe.OK, tries: []try{{name: "z.", search: -1, outcome: probe.OK, a: []message{found(ms, "192.0.2.1")}}}}
	in := input(kubernetes(1), one, other, only)
	got := pairings(transmissionsOf(&in.Run.Resolutions[0], &in.Run.Resolutions[1], &in.Run.Resolutions[2]))
	if len(got) != 1 || got[0].first.a.Name != "x." {
		t.Errorf("%d pairs, want that of x alone: another server and a lone A are none", len(got))
	}
}
