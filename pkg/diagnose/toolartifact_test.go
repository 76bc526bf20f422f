package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestToolArtifactVerdicts(t *testing.T) {
	known := said("198.19.0.10", "ledger.core.svc.cluster.local", probe.OK, "10.96.44.7")
	nobody := []trace{said("198.19.0.10", "ledger.core.shop.svc.cluster.local", probe.NXDomain), said("198.19.0.10", "ledger.core.svc.cluster.local", probe.NXDomain), said("198.19.0.10", "ledger.core.cluster.local", probe.NXDomain)}
	busybox := input(kubernetes(5), trace{host: "ledger", libc: "busybox", outcome: probe.OK, addresses: []string{"10.96.20.1"}, decidedBy: 1, tries: []try{
		pair("ledger.shop.svc.cluster.local.", 0, probe.OK, found(ms, "10.96.20.1"), empty(ms)), denied("ledger.svc.cluster.local.", 1, ms),
	}})
	busybox.Run.Resolver.Caller = "nslookup-busybox"
	checkVerdicts(t, map[string]judged{
		"dig, not asked yet":             {tested("dig"), ""},
		"dig":                            {tested("dig", known), "tool-artifact"},
		"busybox with a dot":             {tested("nslookup-busybox", known), "tool-artifact"},
		"the name is nowhere":            {tested("dig", nobody...), "no-such-name"},
		"a program in place of the tool": {tested("", known), ""},
		"busybox that found it":          {busybox, "tool-artifact"},
	})
	for _, r := range Diagnose(tested("dig", known))[0].Remedies {
		if r.Text != "Change nothing. Test with getent ahosts ledger.core, or with the application itself." {
			t.Errorf("a change is proposed: %s", r.Text)
		}
	}
}
