package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestSearchLimitInFull(t *testing.T) {
	want := `search-limit (critical) catalog exists as catalog.front.svc.cluster.local, but musl 1.2.3 never asks for that: line 1 of resolv.conf has 300 characters, musl ignores lines of more than 254.
  The search list in effect in this container is: empty. front.svc.cluster.local is not in it, so every host that needs it looks as if it did not exist.
  - catalog.front.svc.cluster.local, asked for directly: 10.96.7.7 [at 10.96.0.10 catalog.front.svc.cluster.local #0]
  - catalog.: NXDOMAIN for A and AAAA, 1.0 ms [r-catalog-now #1]
  > Set dnsPolicy to None and write out a shorter list: nameserver 10.96.0.10, search front.svc.cluster.local svc.cluster.local cluster.local, ndots 5. |  | Hosts that are found in a domain left out of the list then need their full name. glibc before 2.26 takes six domains at most, should another container of the pod have it.
  > Until then let the application ask for the full name catalog.front.svc.cluster.local. |  | 
  > Shorten the search list of the nodes where it comes from there. |  | Pods get it when they are created anew.
`
	if diff := cmp.Diff(want, told(Diagnose(longLine(said("10.96.0.10", "catalog.front.svc.cluster.local", probe.OK, "10.96.7.7"))))); diff != "" {
		t.Error(diff)
	}
}

func TestSearchLimitVerdicts(t *testing.T) {
	const name = "catalog.front.svc.cluster.local"
	glibc := longLine(said("10.96.0.10", name, probe.OK, "10.96.7.7"))
	for i := range glibc.Run.Resolutions {
		glibc.Run.Resolutions[i].Libc, glibc.Run.Resolutions[i].LibcVersion = probe.Glibc, "2.36"
	}
	cut := facts(judging(input(kubernetes(5), nowhere(), said("198.19.0.10", "ledger.core.team-9.example.com", probe.OK, "10.0.0.1")), "ledger.core"),
		fact.DNSEvents, "Search Line limits were exceeded, some search paths have been omitted", fact.NodeResolvConf, "search ec2.internal team-9.example.com\n")
	checkVerdicts(t, map[string]judged{
		"not asked yet":            {longLine(), ""},
		"it is not there either":   {longLine(said("10.96.0.10", name, probe.NXDomain)), ""},
		"a libc without the limit": {glibc, "resolvconf-invalid"},
		"cut by the kubelet":       {cut, "search-limit"},
	})
	asks := wanted(longLine())
	if !strings.HasPrefix(asks, name+" at 10.96.0.10; ") || strings.Count(asks, "front.svc")+strings.Count(asks, "catalog.svc")+strings.Count(asks, "catalog.cluster")+strings.Count(asks, "team-01") != mostUnread {
		t.Errorf("asks %s", asks)
	}
}
