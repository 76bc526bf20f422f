package diagnose

import "testing"

func TestDeadNameserverOnEachLibc(t *testing.T) {
	m := modelled{
		hosts: []string{"mail.example.net"}, conf: "search node.example.com\nnameserver 10.20.0.53\nnameserver 10.20.0.54\noptions ndots:1\n",
		servers: []string{"10.20.0.53 silent", "10.20.0.54"}, rules: []string{"mail.example.net * * *: a:198.51.100.70"},
	}
	for i, waits := range map[int]string{0: "5.00 s", 2: "5.00 s", 3: "2.00 s"} {
		m.on(libcs[i]).expect(t, verdict{first: "dead-nameserver", never: []string{"half-pair", "healthy"}, says: []string{
			"nameserver 10.20.0.53 never replied: 0 replies to 4 messages. 10.20.0.54 replied to 2 of 2", "up to " + waits + " were lost", "dnsPolicy None", "timeout to 1",
		}})
	}
	// musl asks both at once: the first reply wins, and nothing waits.
	m.on(libcs[1]).expect(t, verdict{first: "healthy"})
	// What the server says when it is asked again counts: it is not dead.
	alive := m
	alive.servers = []string{"10.20.0.53", "10.20.0.54"}
	alive.rules = append([]string{"mail.example.net * 10.20.0.53 * #1,2: drop"}, m.rules...)
	alive.expect(t, verdict{first: "", never: []string{"dead-nameserver"}})
}

func TestBlockedTCPOnEachLibc(t *testing.T) {
	m := modelled{
		hosts: []string{"fleet.example.net"}, servers: []string{"10.96.0.10 silentTCP", "10.244.0.5", "10.244.1.5"},
		facts: clusterFacts("networkPolicies", "dns-udp: udp/53 to dns-pods"),
		rules: []string{"fleet.example.net A * udp: tc", "fleet.example.net A * tcp: pad:40", "fleet.example.net * * *: nodata", controlRule},
	}
	says := []string{
		"the answer for fleet.example.net. does not fit into UDP, and TCP port 53 of 10.96.0.10 cannot be reached", "asked over TCP for kubernetes.default.svc.cluster.local., a small answer: no connection, twice",
		"NetworkPolicy dns-udp allows 53/UDP only", "53/TCP, beside 53/UDP",
	}
	for i, more := range map[int][]string{
		0: {"135.00 s lost", "set the option edns0"}, 1: {"5.01 s lost", "musl does not listen to the option edns0"}, 2: {"10.00 s lost"}, 3: {"c-ares does not listen to the option edns0"},
	} {
		m.on(libcs[i]).expect(t, verdict{first: "tcp53-blocked", never: []string{"dead-", "healthy", "Set the option use-vc"}, says: append(more, says...)})
	}
	old := m
	old.libc, old.version = "musl", "1.2.3"
	old.expect(t, verdict{first: "tcp53-blocked", says: append(says, "this musl 1.2.3 does not ask again over TCP")})
	for _, servers := range [][]string{{"10.96.0.10 noTCP"}, {"10.96.0.10"}} {
		open := old
		open.servers = servers
		in, _ := open.run(t)
		for _, f := range Diagnose(in) {
			if f.Class == "tcp53-blocked" {
				t.Errorf("%v: %s", servers, f.Title)
			}
		}
	}
}

func TestUpstreamServFailWithoutAWalk(t *testing.T) {
	m := modelled{
		hosts: []string{"api.example.net"}, servers: clusterServers(), facts: clusterFacts("corefile", ".:53 {\n forward . 10.0.0.2\n}\n"),
		rules: []string{"api.example.net * * *: servfail", controlRule}, conf: "search ec2.internal\nnameserver 10.96.0.10\n",
	}
	m.expect(t, verdict{})
	m.conf = flatConf
	for _, libc := range libcs {
		m.on(libc).expect(t, verdict{first: "upstream-servfail", never: []string{"healthy"}, says: []string{
			"api.example.net. gets SERVFAIL, while names of the cluster are answered", "Corefile, block .:53: forward . 10.0.0.2",
		}})
	}
	late := m
	late.rules = []string{"api.example.net * * *: servfail delay:4s", controlRule}
	late.expect(t, verdict{first: "upstream-servfail", says: []string{"It took 4.00 s to say so"}})
	all := m
	all.rules = []string{"* * * *: servfail"}
	in, _ := all.run(t)
	for _, f := range Diagnose(in) {
		if f.Class == "upstream-servfail" {
			t.Errorf("everything fails: %s", f.Title)
		}
	}
}

func TestUpstreamInconsistentOnTheModel(t *testing.T) {
	m := modelled{
		hosts: []string{"inv.corp.example"}, count: 30, conf: clusterConf, servers: clusterServers(),
		facts: clusterFacts("corefile", ".:53 {\n forward . /etc/resolv.conf\n}\n", "nodeResolvConf", "nameserver 10.40.0.53\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n"),
		rules: []string{"inv.corp.example A * * #1 ~3: a:10.40.0.8", "inv.corp.example A * *: nx", "inv.corp.example * * *: nodata", controlRule},
	}
	want := verdict{first: "upstream-inconsistent", never: []string{"no-such-name", "ndots to"}, says: []string{
		"10.96.0.10 contradicts itself about inv.corp.example.", "forward . /etc/resolv.conf", "the node's resolv.conf lists 10.40.0.53, 192.0.2.1 and 192.0.2.2", "a server block of its own",
	}}
	m.expect(t, want)
	m.on(libcs[2]).expect(t, want)
	// A single run that does not find it asks again.
	once := m
	once.count, once.rules = 1, append([]string{"inv.corp.example A * * #2,3 ~3: nx"}, m.rules[0], "inv.corp.example * * *: nx")
	once.rules[0] = "inv.corp.example A * * #1 ~3: nx"
	once.rules[1] = "inv.corp.example A * * #2 ~3: a:10.40.0.8"
	once.expect(t, want)
	// With one upstream there is nothing to ask about.
	one := once
	one.facts = clusterFacts("corefile", ".:53 {\n forward . 10.0.0.2\n}\n")
	in, _ := one.run(t)
	for _, r := range in.Run.Resolutions {
		if r.Question != nil && r.Host == "inv.corp.example." {
			t.Errorf("the name was asked for again: %s", r.Variant)
		}
	}
}
