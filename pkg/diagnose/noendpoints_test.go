package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// deserted is O13: kube-proxy rejects what is sent to a Service without ready endpoints.
func deserted() modelled {
	return modelled{hosts: []string{"kubernetes.default"}, conf: clusterConf, facts: map[string]string{
		"dnsService": "10.96.0.10", "dnsEndpoints": "10.244.0.5 not-ready pod=coredns-a node=node-a restarts=7",
	}}
}

func TestNoEndpoints(t *testing.T) {
	for _, libc := range libcs {
		t.Run(string(libc.libc), func(t *testing.T) {
			want := verdict{first: "no-endpoints", never: []string{"egress", "dead-nameserver"}, says: []string{
				"10.96.0.10 has no ready endpoint (0 of 1 are ready)", "pod coredns-a on node-a): not ready, 7 restarts", "describe pod coredns-a", "refused",
			}}
			if libc.libc == probe.Musl {
				want.says = append(want.says, "waits 5.01 s and reports a temporary failure: the wait hides an instant refusal")
			}
			deserted().on(libc).expect(t, want)
		})
	}
	none := deserted()
	none.facts["dnsEndpoints"] = "none"
	none.expect(t, verdict{first: "no-endpoints", says: []string{"the Service has no endpoints at all"}})
	silent := deserted()
	silent.servers = []string{"10.96.0.10 silent"}
	silent.expect(t, verdict{first: "no-endpoints", says: []string{"Nothing came back", "icmp_ratelimit"}})
	limited := deserted()
	limited.count, limited.servers = 2, []string{"10.96.0.10 silent"}
	limited.before = func(n int, w *simnet.World) {
		if n == 1 {
			w.Servers = nil
		}
	}
	limited.expect(t, verdict{first: "no-endpoints", says: []string{"messages to the address were refused: kube-proxy", "icmp_ratelimit"}, never: []string{"none was lost"}})
}

func TestNoEndpointsIsNotClaimedWhere(t *testing.T) {
	unknown := deserted()
	delete(unknown.facts, "dnsEndpoints")
	ready := deserted()
	ready.facts["dnsEndpoints"] = "10.244.0.5 ready"
	other := deserted()
	other.facts["dnsService"] = "10.99.0.10"
	answers := deserted()
	answers.servers, answers.rules = []string{"10.96.0.10"}, []string{controlRule}
	for name, m := range map[string]modelled{
		"nobody knows the endpoints": unknown, "one is ready": ready, "another server is asked": other, "a cache answers for them": answers,
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := m.run(t)
			if got := classes(Diagnose(in)); strings.Contains(got, "no-endpoints") {
				t.Errorf("found %q", got)
			}
		})
	}
}
