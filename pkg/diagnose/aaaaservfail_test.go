package diagnose

import (
	"strings"
	"testing"
)

// failingType fails for AAAA of one name.
func failingType() modelled {
	return modelled{
		hosts: []string{"pay.example.net"}, servers: clusterServers(), facts: clusterFacts(),
		rules: []string{"pay.example.net AAAA * *: servfail", "pay.example.net * * *: a:198.51.100.40", controlRule},
	}
}

func TestAAAAServFail(t *testing.T) {
	for _, libc := range libcs {
		want := verdict{first: "aaaa-servfail", never: []string{"healthy", "upstream-servfail"}, says: []string{
			"AAAA of pay.example.net. is answered SERVFAIL, while its A record is found", "The server answers AAAA of kubernetes.default.svc.cluster.local", "NOERROR without records",
		}}
		if libc.libc == "musl" {
			want.says = append(want.says, "(critical)", "it ignores no-aaaa")
		}
		failingType().on(libc).expect(t, want)
	}
}

func TestAAAAServFailIsNotClaimedWhere(t *testing.T) {
	for name, rules := range map[string][]string{
		"it failed once":    {"pay.example.net AAAA * * #1: servfail", "pay.example.net * * *: a:198.51.100.40", controlRule},
		"A fails, too":      {"pay.example.net * * *: servfail", controlRule},
		"every AAAA fails":  {"* AAAA * *: servfail", "pay.example.net * * *: a:198.51.100.40", controlRule},
		"AAAA has no data":  {"pay.example.net * * *: a:198.51.100.40", controlRule},
		"AAAA is denied":    {"pay.example.net AAAA * *: nx", "pay.example.net * * *: a:198.51.100.40", controlRule},
		"the host has no A": {"pay.example.net AAAA * *: servfail", "pay.example.net * * *: nodata", controlRule},
	} {
		t.Run(name, func(t *testing.T) {
			m := failingType()
			m.rules = rules
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "aaaa-servfail") {
				t.Errorf("found %q", got)
			}
		})
	}
}
