package diagnose

import "testing"

// serverFaults are runs that show the classes of the way to the servers and of the servers themselves, by class.
func serverFaults(t *testing.T) map[string]Input {
	t.Helper()
	out := map[string]Input{}
	for class, m := range map[string]modelled{
		"no-endpoints":        deserted(),
		"egress-blocked":      deniedEgress(),
		"egress-blocked-udp":  tcpOnly(),
		"nodelocal-blocked":   uncovered(),
		"mesh-dns":            meshed(),
		"dead-backend":        few(halfDead(), 8),
		"rollout-window":      replaced(),
		"conntrack-full":      crowded(),
		"overlay-udp":         few(split(), 8),
		"half-pair-loss":      few(raced().with("pay.example.net AAAA * * #3,9,14: drop"), 25),
		"large-udp-lost":      swallowed(),
		"truncated-no-tc":     shortenedAnswer(28),
		"aaaa-blackhole":      holed(),
		"aaaa-servfail":       failingType(),
		"upstream-rate-limit": limited(),
		"nodelocal-upstream":  waiting(),
		"server-overload":     busy(),
	} {
		out[class], _ = m.run(t)
	}
	out["edns-rejected"] = refusing(t, ednsPod("go"), "FORMERR")
	return out
}

// few is m with fewer lookups.
func few(m modelled, count int) modelled {
	m.count = count
	return m
}
