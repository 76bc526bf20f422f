package diagnose

import (
	"strings"
	"testing"
)

// swallowed is a name whose answer is large, and gets lost over UDP where the reply may be large.
func swallowed() modelled {
	return modelled{
		libc: "go", version: "1.26", hosts: []string{"fleet.example.net"}, servers: clusterServers(), facts: clusterFacts(),
		rules: []string{"fleet.example.net A * udp: drop", "fleet.example.net A * *: pad:50", controlRule},
	}
}

func TestLargeUDPLost(t *testing.T) {
	swallowed().expect(t, verdict{first: "large-udp-lost", never: []string{"edns-rejected", "healthy", "dead-", "half-pair"}, says: []string{
		"the answer for fleet.example.net. (835 bytes) is lost over UDP: 0 replies to", "over TCP it arrives, and so do small answers", "bufsize", "use-vc",
	}})
	edns := swallowed()
	edns.libc, edns.version, edns.conf = "glibc", "2.36", strings.Replace(flatConf, "ndots:1", "ndots:1 edns0", 1)
	edns.expect(t, verdict{first: "large-udp-lost", says: []string{"take the option edns0 away"}})
	// A server that does not keep to 512 bytes without EDNS.
	musl := swallowed().on(libcs[1])
	musl.expect(t, verdict{first: "large-udp-lost", never: []string{"use-vc"}})
	plain := swallowed().on(libcs[0])
	plain.expect(t, verdict{first: "large-udp-lost", says: []string{"use-vc"}})
}

func TestLargeUDPLostIsNotClaimedWhere(t *testing.T) {
	for name, rules := range map[string][]string{
		"the answer is small":           {"fleet.example.net A * udp: drop", "fleet.example.net A * *: a:192.0.2.1", controlRule},
		"TCP is silent as well":         {"fleet.example.net A * *: drop", controlRule},
		"it comes when asked once more": {"fleet.example.net A * udp #1,2: drop", "fleet.example.net A * *: pad:50", controlRule},
		"no small answer comes":         {"* * * udp: drop", "fleet.example.net A * *: pad:50", controlRule},
	} {
		t.Run(name, func(t *testing.T) {
			m := swallowed()
			m.rules = rules
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "large-udp") {
				t.Errorf("found %q", got)
			}
		})
	}
}
