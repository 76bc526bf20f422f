package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNamespaceShadowInFull(t *testing.T) {
	want := `namespace-shadow (warning) status.example is also a name outside of the cluster: the application gets 10.96.33.3 from Service status in namespace example, outside it has 198.51.100.77.
  The search list makes status.example.svc.cluster.local of it before the name itself is asked. Whoever may create Services in namespace example decides where connections to this host go: if the outside name is meant, that is a matter of security.
  - status.example.svc.cluster.local: 10.96.33.3 [r-status.example-now #2]
  - status.example itself, asked for directly: 198.51.100.77 [at 198.19.0.10 status.example #0]
  > If the outside name is meant: let the application ask for "status.example.", with a final dot. |  | The dot reaches TLS and HTTP as part of the name, which some servers refuse.
  > Or set ndots to 1, so that hosts with 1 dot are asked as they are first. |  | Short names of Services with as many dots then cost two more queries that leave the cluster, and on musl they are no longer found. Should such a name exist outside, it wins.
  > Or rename the namespace example: a namespace should not be called like a top-level domain. |  | 
`
	in := shadowed(said("198.19.0.10", "status.example", probe.OK, "198.51.100.77"), said("198.19.0.10", "dnsprobe-abc.example", probe.NXDomain))
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestNamespaceShadowVerdicts(t *testing.T) {
	outside := said("198.19.0.10", "status.example", probe.OK, "198.51.100.77")
	inside := shadowed()
	inside.Hosts = []string{"status"}
	inside.Run = input(kubernetes(5), bySearch("status", 0, "10.96.33.3"), said("198.19.0.10", "status", probe.OK, "198.51.100.77"), said("198.19.0.10", "dnsprobe-abc", probe.NXDomain)).Run
	checkVerdicts(t, map[string]judged{
		"not asked yet":                        {shadowed(), "healthy"},
		"there is no such name outside":        {shadowed(said("198.19.0.10", "status.example", probe.NXDomain)), "healthy"},
		"outside it has the same address":      {shadowed(said("198.19.0.10", "status.example", probe.OK, "10.96.33.3")), "healthy"},
		"nobody knows what random names get":   {shadowed(outside), "healthy"},
		"every name outside has that address":  {shadowed(outside, said("198.19.0.10", "dnsprobe-abc.example", probe.OK, "198.51.100.77")), "healthy"},
		"a short name is what the list is for": {inside, "healthy"},
		"the random name was not answered":     {shadowed(outside, said("198.19.0.10", "dnsprobe-abc.example", probe.Again)), "healthy"},
	})
	if got := wanted(shadowed()); got != "status.example at 198.19.0.10" {
		t.Errorf("asks %q", got)
	}
	if got := wanted(shadowed(outside)); got != "dnsprobe-abc.example at 198.19.0.10" {
		t.Errorf("then asks %q", got)
	}
}
