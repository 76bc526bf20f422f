package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestUpstreamServFailInFull(t *testing.T) {
	in := input(kubernetes(5), trace{host: "db.example.org", outcome: probe.Again, code: "EAI_AGAIN", tries: []try{
		denied("db.example.org.svc.cluster.local.", 1, ms),
		pair("db.example.org.", -1, probe.ServFail, rcode("SERVFAIL", 3*ms), rcode("SERVFAIL", 4*ms)),
	}})
	want := `upstream-servfail (critical) db.example.org. gets SERVFAIL, while names of the cluster are answered: the fault lies behind the cluster's DNS.
  The cluster's DNS passes this name on and reports that it got no usable answer: an upstream that fails or cannot be reached, a broken delegation, or DNSSEC that does not validate.
  - db.example.org.: SERVFAIL for A and AAAA, 4.0 ms, left the cluster [r-db.example.org-now #2]
  - db.example.org.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-db.example.org-now #1]
  > Ask the upstreams of the forward plugin for db.example.org, and read the errors that CoreDNS logs for it. |  | 
  > No dnsConfig change helps: the pod asks the right server. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(in))); diff != "" {
		t.Error(diff)
	}
}

func TestServFailIsNotBlamedOnTheUpstreamWhere(t *testing.T) {
	bad := rcode("SERVFAIL", ms)
	node := kubernetes(1)
	node.Search = []string{"node.example.com"}
	tests := map[string]struct {
		settings probe.Settings
		trace    trace
	}{
		"nothing else was asked": {kubernetes(1), trace{host: "db.example.org", outcome: probe.Again, tries: []try{pair("db.example.org.", -1, probe.ServFail, bad, bad)}}},
		"the cluster's names fail too": {kubernetes(5), trace{host: "db.example.org", outcome: probe.Again, tries: []try{
			pair("db.example.org.svc.cluster.local.", 1, probe.ServFail, bad, bad), pair("db.example.org.", -1, probe.ServFail, bad, bad),
		}}},
		"the name is of the cluster": {kubernetes(5), trace{host: "x.cluster.local", outcome: probe.Again, tries: []try{
			denied("x.cluster.local.svc.cluster.local.", 1, ms), pair("x.cluster.local.", -1, probe.ServFail, bad, bad),
		}}},
		"no cluster is known": {node, trace{host: "db.example.org", outcome: probe.Again, tries: []try{
			denied("db.example.org.node.example.com.", 0, ms), pair("db.example.org.", -1, probe.ServFail, bad, bad),
		}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(tt.settings, tt.trace))); strings.Contains(got, "upstream-servfail") {
				t.Errorf("found %q", got)
			}
		})
	}
}
