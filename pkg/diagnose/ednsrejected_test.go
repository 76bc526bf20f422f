package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// refusing returns a run of m in which the server does to each message with an OPT record what a rcode or ReplyLost says. A model's
// rules do not look at EDNS, so it is the run that is changed: the resolver's own messages are those of a server that always does it.
func refusing(t *testing.T, m modelled, reply string) Input {
	t.Helper()
	m.rules = []string{"* * * *: " + map[string]string{"FORMERR": "formerr", probe.ReplyLost: "drop"}[reply]}
	in, _ := m.run(t)
	in.Run.Resolutions = slices.DeleteFunc(in.Run.Resolutions, func(r probe.Resolution) bool { return r.Question != nil })
	host := m.hosts[0] + "."
	q := over(addressOf("10.96.0.10"), probe.UDP)
	for i, one := range []struct {
		q     probe.Question
		name  string
		reply message
	}{
		{q, host, empty(ms)},
		{withEDNS(q), host, rcode(reply, ms)},
		{withEDNS(q), host, rcode(reply, ms)},
		{q, "kubernetes.default.svc.cluster.local.", found(ms, "10.96.0.1")},
		{withEDNS(q), "kubernetes.default.svc.cluster.local.", rcode(reply, ms)},
	} {
		one.reply.server = "10.96.0.10:53"
		tr := trace{id: "q" + string(rune('0'+i)), host: one.name, variant: one.q.Label(), outcome: probe.OK, tries: []try{
			{name: one.name, search: -1, outcome: probe.OK, a: []message{one.reply}},
		}}
		r := input(in.Run.Settings, tr).Run.Resolutions[0]
		r.Question, r.Purpose = &one.q, probe.PurposeTest
		in.Run.Resolutions = append(in.Run.Resolutions, r)
	}
	return in
}

func ednsPod(libc string) modelled {
	m := modelled{hosts: []string{"pay.example.net"}, servers: clusterServers(), facts: clusterFacts(), libc: probe.Libc(libc), version: "1.26"}
	switch libc {
	case "glibc":
		m.version, m.conf = "2.36", strings.Replace(flatConf, "ndots:1", "ndots:1 edns0", 1)
	case "cares":
		m.version = "1.34.8"
	}
	return m
}

func TestEDNSRejected(t *testing.T) {
	for libc, remedy := range map[string]string{"go": "GODEBUG=netedns0=0", "glibc": "take the option edns0 out", "cares": "No dnsConfig change helps c-ares"} {
		for _, reply := range []string{"FORMERR", probe.ReplyLost} {
			text := told(Diagnose(refusing(t, ednsPod(libc), reply)))
			for _, want := range []string{"edns-rejected (critical)", "10.96.0.10 does not accept EDNS0", "without.", remedy} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: %q is not said:\n%s", libc, reply, want, text)
				}
			}
		}
	}
}

func TestEDNSRejectedIsNotClaimedWhere(t *testing.T) {
	plain := ednsPod("glibc")
	plain.conf = flatConf
	musl := ednsPod("go").on(libcs[1])
	fine := refusing(t, ednsPod("go"), "FORMERR")
	for i := range fine.Run.Resolutions {
		if q := fine.Run.Resolutions[i].Question; q != nil && q.EDNSSize > 0 {
			fine.Run.Resolutions[i].Attempts[0].Queries[0].Transmissions[0].Reply = "NOERROR"
		}
	}
	failing := refusing(t, ednsPod("go"), "FORMERR")
	for i := range failing.Run.Resolutions {
		if q := failing.Run.Resolutions[i].Question; q != nil && q.EDNSSize == 0 {
			failing.Run.Resolutions[i].Attempts[0].Queries[0].Transmissions[0].Reply = "SERVFAIL"
		}
	}
	for name, in := range map[string]Input{
		"glibc sends no OPT record": refusing(t, plain, "FORMERR"), "musl never does": refusing(t, musl, "FORMERR"),
		"it is accepted when asked directly": fine, "the server fails without it, too": failing,
	} {
		if got := classes(Diagnose(in)); strings.Contains(got, "edns") {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// TestEDNSIsAskedAbout: where every message comes back with an error, the rule asks for the same without an OPT record.
func TestEDNSIsAskedAbout(t *testing.T) {
	m := ednsPod("go")
	m.rules = []string{"* * * *: formerr"}
	in, _ := m.run(t)
	q := over(addressOf("10.96.0.10"), probe.UDP)
	if len(newView(in).heard(q, "pay.example.net.")) == 0 {
		t.Error("the name was not asked without an OPT record")
	}
	if got := classes(Diagnose(in)); strings.Contains(got, "edns") {
		t.Errorf("the server fails with and without: found %q", got)
	}
}
