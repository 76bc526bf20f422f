package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// hostNetwork is O09: a Service is asked for at the node's nameserver.
func hostNetwork(host string) Input {
	in := input(probe.Settings{Search: []string{"node.example.com"}, Ndots: 1, Nameservers: []string{"10.1.0.2"}}, trace{host: host, outcome: probe.NXDomain, tries: []try{
		denied(host+".", -1, ms), denied(host+".node.example.com.", 0, ms),
	}})
	in.Run.Facts = map[string]probe.Fact{"dnsPolicy": {Value: "ClusterFirst"}, "hostNetwork": {Value: "true"}}
	return in
}

func TestWrongDNSPolicyInFull(t *testing.T) {
	want := `wrong-dns-policy (critical) metrics-store.observability cannot be found: dnsPolicy ClusterFirst has no effect on a hostNetwork pod, which asks the node's nameserver.
  The settings have neither the cluster's nameserver nor its search domains, so no Service of the cluster can be resolved. Names outside are not affected.
  - dnsPolicy: ClusterFirst
  - hostNetwork: true
  - search list: node.example.com
  - metrics-store.observability.: NXDOMAIN for A and AAAA, 1.0 ms [r-metrics-store.observability-now #1]
  > Set dnsPolicy to ClusterFirstWithHostNet in the pod template. |  | No option of dnsConfig helps: the pod asks the wrong server.
`
	findings := Diagnose(hostNetwork("metrics-store.observability"))
	if diff := cmp.Diff(want, told(findings)); diff != "" {
		t.Error(diff)
	}
	if findings[0].Evidence[0].Fact != "dnsPolicy" || findings[0].Evidence[1].Fact != "hostNetwork" {
		t.Errorf("evidence does not point at its facts: %+v", findings[0].Evidence)
	}
}

func TestWrongDNSPolicyDependsOnFactsAndName(t *testing.T) {
	tests := map[string]struct {
		host   string
		change func(*Input)
		want   string
	}{
		"a Service":               {"ledger", func(*Input) {}, "wrong-dns-policy"},
		"with svc":                {"ledger.core.svc", func(*Input) {}, "wrong-dns-policy"},
		"in full":                 {"ledger.core.svc.cluster.local", func(*Input) {}, "wrong-dns-policy"},
		"an outside name":         {"www.example.org", func(*Input) {}, "no-such-name"},
		"the facts are not known": {"ledger", func(in *Input) { in.Run.Facts = nil }, "no-such-name"},
		"another policy":          {"ledger", func(in *Input) { in.Run.Facts["dnsPolicy"] = probe.Fact{Value: "Default"} }, "no-such-name"},
		"not on the node":         {"ledger", func(in *Input) { in.Run.Facts["hostNetwork"] = probe.Fact{Value: "false"} }, "no-such-name"},
		"unknown":                 {"ledger", func(in *Input) { in.Run.Facts["hostNetwork"] = probe.Fact{Unknown: "no permission"} }, "no-such-name"},
		"the cluster is searched": {"ledger", func(in *Input) { in.Run.Settings.Search = kubernetes(5).Search }, "no-such-name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := hostNetwork(tt.host)
			tt.change(&in)
			if got := classes(Diagnose(in)); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
