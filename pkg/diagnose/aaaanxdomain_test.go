package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestContradictingHalvesInFull(t *testing.T) {
	want := `aaaa-nxdomain (warning) user-api.accounts.svc.cluster.local. has an A record, but AAAA is answered NXDOMAIN: the name exists and does not exist.
  glibc, Go and c-ares take the address. musl believes the NXDOMAIN, so the same name does not resolve in Alpine images. A server that has the name has to answer the other type with no data.
  - user-api.accounts.svc.cluster.local.: A NOERROR, AAAA NXDOMAIN, 1.0 ms [r-user-api.accounts-now #1]
  > Mend whoever answers for this name: a mesh that captures DNS, a policy proxy, or a CoreDNS template that answers AAAA with NXDOMAIN. |  | 
`
	tr := trace{host: "user-api.accounts", outcome: probe.OK, tries: []try{
		pair("user-api.accounts.svc.cluster.local.", 1, probe.OK, found(ms, "10.79.8.104"), nx(ms)),
	}}
	if diff := cmp.Diff(want, told(Diagnose(input(kubernetes(5), tr)))); diff != "" {
		t.Error(diff)
	}
	// The other way round is the same contradiction; no data is none.
	tr.tries[0] = pair(tr.tries[0].name, 1, probe.OK, nx(ms), found(ms, "2001:db8::1"))
	if f := Diagnose(input(kubernetes(5), tr)); classes(f) != "aaaa-nxdomain" || !strings.Contains(f[0].Title, "an AAAA record, but A is") {
		t.Error(told(f))
	}
	tr.tries[0] = pair(tr.tries[0].name, 1, probe.OK, found(ms, "10.79.8.104"), empty(ms))
	if got := classes(Diagnose(input(kubernetes(5), tr))); got != "healthy" {
		t.Error(got)
	}
}
