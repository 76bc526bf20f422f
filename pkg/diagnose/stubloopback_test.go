package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// stub is a resolution whose every message goes to server and comes to the same end.
func stub(server, end string) trace {
	m := []message{by(server, message{reply: end, after: ms})}
	return trace{host: "repo.example.com", outcome: probe.Again, decidedBy: -1, tries: []try{
		{name: "repo.example.com.", search: -1, outcome: probe.Unreachable, a: m, aaaa: m},
		{name: "repo.example.com.node.example.net.", search: 0, outcome: probe.Unreachable, a: m, aaaa: m},
	}}
}

func inPod(in Input) Input {
	in.Run.Target.Pod = "app-1"
	return in
}

func TestStubLoopbackInFull(t *testing.T) {
	settings := probe.Settings{Nameservers: []string{"127.0.0.53"}, Search: []string{"node.example.net"}, Ndots: 1}
	want := `stub-loopback (critical) nameserver 127.0.0.53 is the pod's own loopback, and its port is closed: no name resolves.
  The address is that of a local stub on the node (systemd-resolved, dnsmasq). In the pod's own network it means the pod itself, where nothing listens.
  - repo.example.com.: refused by 127.0.0.53 [r-repo.example.com-now #1]
  > Give the kubelet a file without the stub: resolvConf: /run/systemd/resolve/resolv.conf in its configuration. |  | Pods get it when they are created anew.
  > Until then set dnsPolicy to ClusterFirst, or to None with nameservers that the pod can reach. |  | dnsConfig alone does not help: its nameservers come after this one.
`
	got := told(Diagnose(inPod(input(settings, stub("127.0.0.53:53", probe.ReplyICMPRefused)))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStubLoopbackIsOnlyClaimedForARefusingLoopbackInAPod(t *testing.T) {
	mixed := stub("127.0.0.53:53", probe.ReplyICMPRefused)
	mixed.tries[1].a = []message{nx(ms)}
	resolved := stub("127.0.0.53:53", probe.ReplyICMPRefused)
	resolved.outcome = probe.OK
	tests := map[string]struct {
		in   Input
		want string
	}{
		"IPv6":                {inPod(input(kubernetes(1), stub("[::1]:53", probe.ReplyICMPRefused))), "stub-loopback"},
		"on a machine":        {input(kubernetes(1), stub("127.0.0.53:53", probe.ReplyICMPRefused)), ""},
		"another address":     {inPod(input(kubernetes(1), stub("10.3.0.10:53", probe.ReplyICMPRefused))), ""},
		"silent":              {inPod(input(kubernetes(1), stub("127.0.0.53:53", probe.ReplyLost))), ""},
		"another one replied": {inPod(input(kubernetes(1), mixed)), ""},
		"it resolved":         {inPod(input(kubernetes(1), resolved)), ""},
		"no address at all":   {inPod(input(kubernetes(1), stub("nonsense", probe.ReplyICMPRefused))), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(tt.in)); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
