package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// wildcard is O03 with what was asked to prove it.
func wildcard(random, own *trace) Input {
	traces := []trace{{host: "codehost.example", outcome: probe.OK, addresses: []string{"203.0.113.80"}, tries: []try{
		denied("codehost.example.cluster.local.", 2, ms),
		pair("codehost.example.ec2.internal.", 3, probe.OK, found(ms, "203.0.113.80"), empty(ms)),
	}}}
	for _, tr := range []*trace{random, own} {
		if tr != nil {
			traces = append(traces, *tr)
		}
	}
	in := input(kubernetes(5), traces...)
	in.Hosts = []string{"codehost.example"}
	return in
}

func TestWildcardInFull(t *testing.T) {
	random := trace{id: "test", host: "dnsprobe-abc.ec2.internal.", outcome: probe.OK, addresses: []string{"203.0.113.80"}}
	own := trace{id: "own", host: "codehost.example", variant: probe.VariantDot, outcome: probe.OK, addresses: []string{"198.51.100.20"}}
	want := `wildcard-search (critical) codehost.example gets the answer of codehost.example.ec2.internal.: the search domain ec2.internal answers for any name.
  The lookup succeeds with the wrong address: 203.0.113.80 is what the wildcard of ec2.internal says, the name itself has 198.51.100.20.
  - codehost.example.ec2.internal.: 203.0.113.80 [r-codehost.example-now #2]
  - dnsprobe-abc.ec2.internal., a random name: 203.0.113.80 [test #0]
  - codehost.example. itself: 198.51.100.20 [own #0]
  > Take ec2.internal out of the node's resolv.conf (kubelet resolvConf), or drop the wildcard. |  | 
  > For this workload alone: dnsPolicy None with nameserver 198.19.0.10, the cluster's search domains and ndots 5 written out. |  | A lower ndots helps only hosts with at least that many dots.
`
	if diff := cmp.Diff(want, told(Diagnose(wildcard(&random, &own)))); diff != "" {
		t.Error(diff)
	}
}

func TestWildcardVerdicts(t *testing.T) {
	random := func(outcome probe.Outcome, addresses ...string) *trace {
		return &trace{id: "test", host: "dnsprobe-abc.ec2.internal.", outcome: outcome, addresses: addresses}
	}
	own := func(outcome probe.Outcome, addresses ...string) *trace {
		return &trace{id: "own", host: "codehost.example", variant: probe.VariantDot, outcome: outcome, addresses: addresses}
	}
	elsewhere := random(probe.OK, "203.0.113.80")
	elsewhere.host = "dnsprobe-abc.cluster.local."
	tests := map[string]struct {
		random, own *trace
		want        string
		severity    probe.Severity
	}{
		"not tested":                                   {nil, nil, "", ""},
		"proven, the name is another":                  {random(probe.OK, "203.0.113.80"), own(probe.OK, "198.51.100.20"), "wildcard-search", probe.Critical},
		"proven, the name is not there":                {random(probe.OK, "203.0.113.80"), own(probe.NXDomain), "wildcard-search", probe.Warning},
		"proven, the name is the same":                 {random(probe.OK, "203.0.113.80"), own(probe.OK, "203.0.113.80"), "wildcard-search", probe.Warning},
		"proven, the name not asked":                   {random(probe.OK, "203.0.113.80"), nil, "wildcard-search", probe.Warning},
		"a wildcard, but the answer is the name's own": {random(probe.OK, "203.0.113.99"), nil, "healthy", probe.Info},
		"no wildcard":                                  {random(probe.NXDomain), nil, "healthy", probe.Info},
		"no wildcard, with no data":                    {random(probe.NoData), nil, "healthy", probe.Info},
		"the test failed":                              {random(probe.Again), nil, "", ""},
		"another domain was tested":                    {elsewhere, nil, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			findings := Diagnose(wildcard(tt.random, tt.own))
			if classes(findings) != tt.want || len(findings) > 0 && findings[0].Severity != tt.severity {
				t.Errorf("want %q (%s), found\n%s", tt.want, tt.severity, told(findings))
			}
		})
	}
}

func TestForeignDomain(t *testing.T) {
	at := func(host, name string, search int) probe.Resolution {
		return input(kubernetes(5), trace{host: host, outcome: probe.OK, tries: []try{pair(name, search, probe.OK, found(ms, "192.0.2.1"), empty(ms))}}).Run.Resolutions[0]
	}
	tests := map[string]struct {
		r    probe.Resolution
		zone string
		want string
	}{
		"the cluster's":  {at("a", "a.shop.svc.cluster.local.", 0), "cluster.local", ""},
		"another":        {at("a", "a.ec2.internal.", 3), "cluster.local", "ec2.internal."},
		"no zone known":  {at("a", "a.ec2.internal.", 0), "", "ec2.internal."},
		"as it is":       {at("a.example", "a.example.", -1), "cluster.local", ""},
		"the root":       {at("a.example", "a.example.", 3), "cluster.local", ""},
		"a short name":   {at("abc", "a.", 3), "cluster.local", ""},
		"nothing at all": {probe.Resolution{}, "cluster.local", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ForeignDomain(tt.r, tt.zone); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
