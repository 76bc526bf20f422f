package diagnose

import (
	"strings"
	"testing"
)

// holed is O07: nobody answers AAAA in one zone.
func holed() modelled {
	return modelled{
		hosts: []string{"pay.example.net"}, servers: clusterServers(), facts: clusterFacts(),
		rules: []string{"pay.example.net AAAA * *: drop", "pay.example.net * * *: a:198.51.100.40", controlRule},
	}
}

func TestAAAABlackhole(t *testing.T) {
	for libc, says := range map[int][]string{
		0: {"waits 15.00 s and then goes on without IPv6", "glibc tries the lost half three times", "Set the option no-aaaa", "musl and Go ignore it, hickory-resolver 0.25 rejects the whole file", "0 replies to 5 messages"},
		1: {"(critical)", "The lookup fails after 5.01 s", "ignores no-aaaa"},
		2: {"waits 10.00 s", "timeout to 1"},
		3: {"waits 2.00 s", "timeout to 1"},
	} {
		t.Run(string(libcs[libc].libc), func(t *testing.T) {
			holed().on(libcs[libc]).expect(t, verdict{first: "aaaa-blackhole", never: []string{"half-pair-loss (", "dead-nameserver", "healthy"}, says: append(says,
				"AAAA of pay.example.net. is never answered", "10.96.0.10 answers AAAA of kubernetes.default.svc.cluster.local after 1.0 ms", "not NXDOMAIN")})
		})
	}
	old := holed()
	old.libc, old.version = "glibc", "2.31"
	old.expect(t, verdict{first: "aaaa-blackhole", says: []string{"Set the option timeout to 1"}, never: []string{"no-aaaa"}})
	many := holed()
	many.count = 30
	many.expect(t, verdict{first: "aaaa-blackhole"})
	// A resolver outside of a cluster: the control name does not exist there, and is answered all the same.
	node := holed()
	node.conf, node.facts, node.servers = "nameserver 192.0.2.1\n", nil, []string{"192.0.2.1"}
	node.rules = node.rules[:2]
	node.expect(t, verdict{first: "aaaa-blackhole"})
}

func TestAAAABlackholeIsNotClaimedWhere(t *testing.T) {
	for name, rules := range map[string][]string{
		"AAAA was lost once":                {"pay.example.net AAAA * * #1: drop", "pay.example.net * * *: a:198.51.100.40", controlRule},
		"no AAAA is answered by the server": {"* AAAA * *: drop", "pay.example.net * * *: a:198.51.100.40", controlRule},
		"A is lost, too":                    {"pay.example.net * * *: drop", controlRule},
		"AAAA is answered alone":            {"pay.example.net AAAA * * #1,2,3: drop", "pay.example.net * * *: a:198.51.100.40", controlRule},
	} {
		t.Run(name, func(t *testing.T) {
			m := holed()
			m.rules = rules
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "blackhole") {
				t.Errorf("found %q", got)
			}
		})
	}
}
