package diagnose

import (
	"fmt"
	"strings"
	"testing"
)

// shortened has thirty addresses, of which UDP carries as many as are written out here, without TC.
func shortenedAnswer(overUDP int) modelled {
	udp, all := "nosoa", "pad:30"
	for i := range overUDP {
		udp += fmt.Sprintf(" a:10.9.0.%d", i)
	}
	return modelled{
		hosts: []string{"fleet.example.net"}, servers: clusterServers(), facts: clusterFacts(),
		rules: []string{"fleet.example.net A * udp: " + udp, "fleet.example.net A * *: " + all, "fleet.example.net * * *: nodata nosoa", controlRule},
	}
}

func TestTruncatedNoTC(t *testing.T) {
	shortenedAnswer(28).expect(t, verdict{first: "truncated-no-tc", never: []string{"healthy"}, says: []string{
		"10.96.0.10 gives 28 of 30 records of fleet.example.net. over UDP and does not say that it cut the answer", "RFC 2181", "enable_truncate", "use-vc",
	}})
	shortenedAnswer(28).on(libcs[1]).expect(t, verdict{first: "truncated-no-tc", never: []string{"use-vc in dnsConfig"}})
	// All records cut off: the host has no address at all.
	shortenedAnswer(0).expect(t, verdict{first: "truncated-no-tc", says: []string{"(critical)", "0 of 30 records"}})
}

func TestTruncatedNoTCIsNotClaimedWhere(t *testing.T) {
	change := func(f func(*modelled)) modelled {
		m := shortenedAnswer(28)
		f(&m)
		return m
	}
	for name, m := range map[string]modelled{
		"TC is set":       change(func(m *modelled) { m.rules = m.rules[1:] }),
		"TCP has no more": change(func(m *modelled) { m.rules[1] = strings.Replace(m.rules[0], "udp", "tcp", 1) }),
		"TCP picks others each time": change(func(m *modelled) {
			m.rules = append([]string{"fleet.example.net A * tcp #1: a:10.9.1.1 a:10.9.1.2"}, m.rules...)
		}),
		"TCP is closed":                   change(func(m *modelled) { m.servers = []string{"10.96.0.10 noTCP"} }),
		"the answer is far from the edge": shortenedAnswer(12),
		"UDP has others than TCP":         change(func(m *modelled) { m.rules[0] = strings.ReplaceAll(m.rules[0], "10.9.0.7", "10.77.0.7") }),
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "truncated") {
				t.Errorf("found %q", got)
			}
		})
	}
}
