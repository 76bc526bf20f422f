package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNodataInSearchInFull(t *testing.T) {
	in := emptyDomain(said("198.19.0.10", "mirror.example.net", probe.OK, "198.51.100.21"))
	in.Run.WhatIf = []probe.WhatIf{{Host: "mirror.example.net", Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 2, Duration: probe.Millis(ms), Source: probe.Measured}}
	want := `nodata-in-search (critical) mirror.example.net.ec2.internal. is answered with no data by search domain 4 of 4, and musl stops there, mirror.example.net does not resolve.
  No data means that the name exists and has no address. musl believes that and does not go on; glibc, Go and c-ares would have gone on. A zone that answers so for every name is often a signed one, or one with a wildcard of another type. musl ends the lookup there: mirror.example.net itself was never asked. mirror.example.net exists: it was asked for directly and has 198.51.100.21.
  - mirror.example.net.ec2.internal.: no data for A and AAAA, 1.0 ms, left the cluster [r-mirror.example.net-now #4]
  - mirror.example.net, asked for directly: 198.51.100.21 [at 198.19.0.10 mirror.example.net #0]
  > Set ndots to 2: a host with 2 dots is then asked as it is before the search list. | resolves with 2 queries in 1.0 ms (measured) | Hosts with fewer dots still meet this search domain. musl never searches for a host with as many dots as ndots: those with 2 dots that need the search list would break.
  > In full: take ec2.internal out of the search list, on the nodes or with dnsPolicy None and a list of your own, or let its server deny names with NXDOMAIN. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestNodataInSearchVerdicts(t *testing.T) {
	const host = "mirror.example.net"
	known := said("198.19.0.10", host, probe.OK, "198.51.100.21")
	goesOn := judging(input(kubernetes(5), trace{host: host, outcome: probe.OK, addresses: []string{"198.51.100.21"}, tries: []try{
		pair(host+".ec2.internal.", 3, probe.NoData, empty(ms), empty(ms)), pair(host+".", -1, probe.OK, found(ms, "198.51.100.21"), empty(ms)),
	}}), host)
	checkVerdicts(t, map[string]judged{
		"the host was not asked":             {emptyDomain(), ""},
		"the host does not exist":            {emptyDomain(said("198.19.0.10", host, probe.NXDomain)), ""},
		"a libc that goes on":                {goesOn, "search-walk healthy"},
		"a Service that musl needs searched": {also(emptyDomain(known), bySearch("a.b.c", 1, "10.96.0.9")), "nodata-in-search"},
	})
	if got := wanted(emptyDomain()); !strings.Contains(got, host+" at 198.19.0.10") {
		t.Errorf("asks %q", got)
	}
	// ndots:2 would take the search list from a.b.c.
	for _, r := range Diagnose(also(emptyDomain(known), bySearch("a.b.c", 1, "10.96.0.9")))[0].Remedies {
		if r.Text == "Set ndots to 2: a host with 2 dots is then asked as it is before the search list." {
			t.Error("a remedy that breaks a.b.c")
		}
	}
}

// also adds a resolution of another name in use.
func also(in Input, tr trace) Input {
	more := input(in.Run.Settings, tr).Run.Resolutions[0]
	more.Purpose = probe.PurposeAlso
	in.Run.Resolutions = append(in.Run.Resolutions, more)
	return in
}
