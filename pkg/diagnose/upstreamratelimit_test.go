package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// limited is O22: whoever the cluster's DNS asks answers the first hundred queries of a second.
func limited() modelled {
	return modelled{
		hosts: []string{"objects.example.net", "db.orders"}, count: 150, servers: clusterServers(),
		conf:  "search orders.svc.cluster.local svc.cluster.local cluster.local eu-west-9.compute.internal\nnameserver 10.96.0.10\noptions ndots:5\n",
		facts: map[string]string{"dnsService": "10.96.0.10", "dnsEndpoints": "10.244.0.5 ready node=node-a; 10.244.0.6 ready node=node-a"},
		rules: []string{
			"db.orders.svc.cluster.local * * *: a:172.20.5.5", "*.cluster.local * * *: nx", "* * * * >100: servfail delay:2s",
			"*.compute.internal * * *: nx delay:2ms", "objects.example.net * * *: a:203.0.113.60 delay:2ms",
		},
	}
}

func TestUpstreamRateLimit(t *testing.T) {
	for _, libc := range libcs {
		if libc.libc == probe.CAres {
			continue // It ends the lookup at the first SERVFAIL that is repeated, so fewer of its seconds look alike.
		}
		t.Run(string(libc.libc), func(t *testing.T) {
			limited().on(libc).expect(t, verdict{first: "upstream-rate-limit", never: []string{"half-pair-loss", "dead-backend (", "healthy"}, says: []string{
				"names that leave the cluster fail above about 100 upstream queries in a second", "Names of the cluster never failed meanwhile (0 of",
				"Each lookup of objects.example.net costs 4 upstream queries: 2 for search domains that leave the cluster, 2 for the name itself", "Set ndots to 2",
				"all 2 DNS pods run on node-a", "NodeLocal DNSCache", "dnsPolicy Default for pods that use no Service",
			}})
		})
	}
}

func TestUpstreamRateLimitIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := limited()
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"nothing fails":                   change(func(m *modelled) { m.rules[2] = "* * * * >100000: servfail" }),
		"it fails at random":              change(func(m *modelled) { m.rules[2] = "* * * *: loss:0.02" }),
		"names of the cluster fail":       change(func(m *modelled) { m.rules = append([]string{"db.orders.svc* * * * #40,200: servfail"}, m.rules...) }),
		"no name of the cluster is asked": change(func(m *modelled) { m.hosts = []string{"objects.example.net."} }),
		"a few lookups":                   change(func(m *modelled) { m.count = 30 }),
		"the upstream always fails":       change(func(m *modelled) { m.count = 20; m.rules[2] = "objects.example.net * * *: servfail" }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "rate-limit") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestLimitOf(t *testing.T) {
	// burst is a second with so many answers, then failures, told as seconds and hundredths.
	var list []transmission
	send := func(at time.Duration, fails bool) {
		reply, received := "NOERROR", probe.Millis(time.Millisecond)
		if fails {
			reply = "SERVFAIL"
		}
		list = append(list, transmission{
			r: &probe.Resolution{StartedAt: time.Unix(1000, 0).Add(at)}, a: &probe.Attempt{}, q: &probe.Query{},
			t: &probe.Transmission{Reply: reply, Received: &received},
		})
	}
	for second := range 4 {
		for i := range 60 {
			// The seconds of the one who counts begin 300 ms after those of the clock.
			send(time.Duration(second)*time.Second+300*time.Millisecond+time.Duration(i)*10*time.Millisecond, i >= 40+second%2)
		}
	}
	limit, seconds, ok := limitOf(list)
	if !ok || limit != 40 || seconds != 4 {
		t.Errorf("limit %d in %d seconds, %v", limit, seconds, ok)
	}
	list = list[:60*2]
	if _, _, ok := limitOf(list); ok {
		t.Error("two seconds are enough")
	}
}
