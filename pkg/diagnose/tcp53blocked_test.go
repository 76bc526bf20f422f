package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// cut is O12: the answer does not fit into UDP, and TCP is swallowed.
func cut(over ...message) trace {
	short := empty(ms)
	short.tc = true
	gone := message{server: dns0, reply: probe.ReplyAbandoned, after: 135 * time.Second}
	return trace{host: "fleet.example.net", outcome: probe.Again, decidedBy: -1, tries: []try{
		{name: "fleet.example.net.", search: -1, outcome: probe.Unreachable, a: append([]message{short}, over...), aaaa: []message{gone}},
		denied("fleet.example.net.svc.cluster.local.", 1, ms),
	}}
}

func TestBlockedTCPInFull(t *testing.T) {
	want := `tcp53-blocked (critical) the answer for fleet.example.net. does not fit into UDP, and TCP port 53 of 198.19.0.10 cannot be reached: 135.00 s lost.
  The reply over UDP has TC set, so the libc asks again over TCP, and nothing comes back. Names with small answers are not affected, which makes this look like a fault of one host.
  - fleet.example.net.: truncated over UDP, then unreachable over TCP after 135.00 s [r-fleet.example.net-now #1]
  > Allow TCP port 53 beside UDP: in the NetworkPolicies that select this pod, and in firewalls on the way. |  | 
  > Until then set the option edns0 in dnsConfig: glibc then takes answers of up to 1200 bytes over UDP. |  | An answer that is larger still needs TCP. Do not set use-vc: it sends everything the blocked way.
`
	if diff := cmp.Diff(want, told(Diagnose(input(kubernetes(1), cut())))); diff != "" {
		t.Error(diff)
	}
}

func TestBlockedTCPIsNotClaimedWhere(t *testing.T) {
	over := func(reply string, after time.Duration) message {
		return message{server: dns0, reply: reply, after: after, tcp: true}
	}
	quick := cut()
	quick.tries[0].aaaa[0].after = ms
	small := cut()
	small.tries[0].a[0].tc = false
	good := cut(over("NOERROR", ms))
	good.outcome, good.tries[0].outcome, good.decidedBy = probe.OK, probe.OK, 1
	tests := map[string]trace{
		"TCP answers":          cut(over("NOERROR", 2*time.Second)),
		"TCP answers SERVFAIL": cut(over("SERVFAIL", 2*time.Second)),
		"the port is closed":   cut(over(probe.ReplyICMPRefused, ms)),
		"the server hangs up":  cut(over(probe.ReplyClosed, ms)),
		"nothing was lost":     quick,
		"nothing was cut":      small,
		"it resolved":          good,
	}
	for name, tr := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(1), tr))); strings.Contains(got, "tcp53") {
				t.Errorf("found %q", got)
			}
		})
	}
	if got := classes(Diagnose(input(kubernetes(1), cut(over(probe.ReplyLost, 20*time.Second))))); got != "tcp53-blocked" {
		t.Errorf("silence over TCP: found %q", got)
	}
}
