package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// asked is one resolution of a host with a final dot that is answered, or denied.
func asked(id, host string, yes bool) trace {
	tr := trace{id: id, host: host, outcome: probe.OK, tries: []try{pair(host+".", -1, probe.OK, found(ms, "10.40.0.8"), empty(ms))}}
	if !yes {
		tr.outcome, tr.tries = probe.NXDomain, []try{denied(host+".", -1, ms)}
	}
	return tr
}

func TestUpstreamInconsistentInFull(t *testing.T) {
	host := "inv.corp.example"
	in := input(kubernetes(2), asked("1", host, true), asked("2", host, false), asked("3", host, false), asked("4", host, true), asked("5", host, false))
	want := `upstream-inconsistent (critical) 198.19.0.10 contradicts itself about inv.corp.example.: found twice, NXDOMAIN 3 times, in turn.
  The server passes this name on to upstreams that do not know the same things, and asks one or the other. Names of the cluster are not affected.
  - inv.corp.example. A: found [1 #1]
  - inv.corp.example. A: NXDOMAIN [2 #1]
  - inv.corp.example. A: found [4 #1]
  > Give the zone a server block of its own in the Corefile that forwards only to the upstreams which know it. |  | An order among mixed upstreams (policy sequential) only hides it.
  > No dnsConfig change helps: the pod asks the right server. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestOneChangeIsNoContradiction(t *testing.T) {
	host := "inv.corp.example"
	tests := map[string]struct {
		traces []trace
	}{
		"it came into being": {[]trace{asked("1", host, false), asked("2", host, false), asked("3", host, true), asked("4", host, true)}},
		"it went":            {[]trace{asked("1", host, true), asked("2", host, false), asked("3", host, false)}},
		"a name of the cluster": {[]trace{
			asked("1", "a.svc.cluster.local", true), asked("2", "a.svc.cluster.local", false), asked("3", "a.svc.cluster.local", true),
		}},
		"two names": {[]trace{asked("1", host, true), asked("2", "other.example", false), asked("3", host, true)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(2), tt.traces...))); strings.Contains(got, "inconsistent") {
				t.Errorf("found %q", got)
			}
		})
	}
}

func TestTwoServersMayDisagree(t *testing.T) {
	// That is another fault (multi-nameserver): each is true to itself.
	other := func(id string) trace {
		tr := asked(id, "inv.corp.example", false)
		tr.tries[0] = pair("inv.corp.example.", -1, probe.NXDomain, by(dns1, nx(ms)), by(dns1, nx(ms)))
		return tr
	}
	in := input(kubernetes(2), asked("1", "inv.corp.example", true), other("2"), asked("3", "inv.corp.example", true), other("4"))
	if got := classes(Diagnose(in)); strings.Contains(got, "inconsistent") {
		t.Errorf("found %q", got)
	}
}
