package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// stub is a resolution whose every message goes to server and comes to the same end.
func stub(server, end string) trace {
	m := []message{by(server, message{reply: end, after: ms})}
	return trace{host: "repo.example.com", outcome: probe.Again, decidedBy: -1, tries: []try{
		{name: "repo.example.com.", search: -1, outcome: probe.Unreachable, a: m, aaaa: m},
		{name: "repo.example.com.node.example.net.", search: 0, outcome: probe.Unreachable, a: m, aaaa: m},
	}}
}

func inPod(in Input) Input {
	in.Run.Target.Pod = "app-1"
	return in
}

func TestStubLoopbackInFull(t *testing.T) {
	settings := probe.Settings{Nameservers: []string{"127.0.0.53"}, Search: []string{"node.example.net"}, Ndots: 1}
	want := `stub-loopback (critical) nameserver 127.0.0.53 is the pod's own loopback, and its port is closed: no name resolves.
  The address is that of a local stub on the node (systemd-resolved, dnsmasq). In the pod's own network it means the pod itself, where nothing listens.
  - repo.example.com.: refused by 127.0.0.53 [r-repo.example.com-now #1]
  > Give the kubelet a file without the stub: resolvConf: /run/systemd/resolve/resolv.conf in its configuration. |  | Pods get it when they are created anew.
  > Until then set dnsPolicy to ClusterFirst, or to None with nameservers that the pod can reach. |  | dnsConfig alone does not help: its nameservers come after this one.
`
	got := told(Diagnose(inPod(input(settings, stub("127.0.0.53:53", probe.ReplyICMPRefused)))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStubLoopbackIsOnlyClaimedForARefusingLoopbackInAPod(t *testing.T) {
	mixed := stub("127.0.0.53:53", probe.ReplyICMPRefused)
	mixed.tries[1].a = []message{nx(ms)}
	resolved := stub("127.0.0.53:53", probe.ReplyICMPRefused)
	resolved.outcome = probe.OK
	tests := map[string]struct {
		in   Input
		want string
	}{
		"IPv6":                {inPod(input(kubernetes(1), stub("[::1]:53", probe.ReplyICMPRefused))), "stub-loopback"},
		"on a machine":        {input(kubernetes(1), stub("127.0.0.53:53", probe.ReplyICMPRefused)), ""},
		"another address":     {inPod(input(kubernetes(1), stub("10.3.0.10:53", probe.ReplyICMPRefused))), ""},
		"silent":              {inPod(input(kubernetes(1), stub("127.0.0.53:53", probe.ReplyLost))), ""},
		"another one replied": {inPod(input(kubernetes(1), mixed)), ""},
		"it resolved":         {inPod(input(kubernetes(1), resolved)), ""},
		"no address at all":   {inPod(input(kubernetes(1), stub("nonsense", probe.ReplyICMPRefused))), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(tt.in)); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

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

// cut is O12: the answer does not fit into UDP, and TCP is swallowed.
func cut(over ...message) trace {
	short := empty(ms)
	short.tc = true
	gone := message{server: dns0, reply: probe.ReplyAbandoned, after: 135 * time.Second}
	return trace{host: "fleet.example.net", outcome: probe.Again, decidedBy: -1, tries: []try{
		{name: "fleet.example.net.", search: -1, outcome: probe.Unreachable, a: append([]message{short}, over...), aaaa: []message{gone}},
		denied("fleet.example.net.svc.cluster.local.", 1, ms),
	}}
}

func TestBlockedTCPInFull(t *testing.T) {
	want := `tcp53-blocked (critical) the answer for fleet.example.net. does not fit into UDP, and TCP port 53 of 198.19.0.10 cannot be reached: 135.00 s lost.
  The reply over UDP has TC set, so the libc asks again over TCP, and nothing comes back. Names with small answers are not affected, which makes this look like a fault of one host.
  - fleet.example.net.: truncated over UDP, then unreachable over TCP after 135.00 s [r-fleet.example.net-now #1]
  > Allow TCP port 53 beside UDP: in the NetworkPolicies that select this pod, and in firewalls on the way. |  | 
  > Until then set the option edns0 in dnsConfig: glibc then takes answers of up to 1200 bytes over UDP. |  | An answer that is larger still needs TCP. Do not set use-vc: it sends everything the blocked way.
`
	if diff := cmp.Diff(want, told(Diagnose(input(kubernetes(1), cut())))); diff != "" {
		t.Error(diff)
	}
}

func TestBlockedTCPIsNotClaimedWhere(t *testing.T) {
	over := func(reply string, after time.Duration) message {
		return message{server: dns0, reply: reply, after: after, tcp: true}
	}
	quick := cut()
	quick.tries[0].aaaa[0].after = ms
	small := cut()
	small.tries[0].a[0].tc = false
	good := cut(over("NOERROR", ms))
	good.outcome, good.tries[0].outcome, good.decidedBy = probe.OK, probe.OK, 1
	tests := map[string]trace{
		"TCP answers":          cut(over("NOERROR", 2*time.Second)),
		"TCP answers SERVFAIL": cut(over("SERVFAIL", 2*time.Second)),
		"the port is closed":   cut(over(probe.ReplyICMPRefused, ms)),
		"the server hangs up":  cut(over(probe.ReplyClosed, ms)),
		"nothing was lost":     quick,
		"nothing was cut":      small,
		"it resolved":          good,
	}
	for name, tr := range tests {
		t.Run(name, func(t *testing.T) {
			if got := classes(Diagnose(input(kubernetes(1), tr))); strings.Contains(got, "tcp53") {
				t.Errorf("found %q", got)
			}
		})
	}
	if got := classes(Diagnose(input(kubernetes(1), cut(over(probe.ReplyLost, 20*time.Second))))); got != "tcp53-blocked" {
		t.Errorf("silence over TCP: found %q", got)
	}
}

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

func TestOnlyWhatSomebodyAskedForIsJudged(t *testing.T) {
	in := input(kubernetes(5), classic(), nowhere())
	for i := range in.Run.Resolutions {
		if in.Run.Resolutions[i].Host == "ledger.core" {
			in.Run.Resolutions[i].Purpose = probe.PurposeAlso
		}
	}
	if got := classes(Diagnose(in)); got != "search-walk healthy" {
		t.Errorf("found %q", got)
	}
}
