package diagnose

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// settingsFaults are runs that have one fault each in what the pod was given to read.
func settingsFaults() map[string]Input {
	return map[string]Input{
		"resolvconf-invalid":   loneDot(probe.Musl, "1.2.3"),
		"search-limit":         longLine(said("10.96.0.10", "catalog.front.svc.cluster.local", probe.OK, "10.96.7.7")),
		"kubelet-dns-config":   otherService(said("10.96.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.44.7")),
		"stale-resolvconf":     oldFile(said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4")),
		"wrong-cluster-domain": hardCoded(said("198.19.0.10", "ledger.billing.svc.cluster.local", probe.OK, "10.96.44.7")),
		"nameserver-limit":     fourth(said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4")),
	}
}

// withRaw are settings whose file has this text.
func withRaw(s probe.Settings, raw string) probe.Settings {
	s.Raw = raw
	return s
}

// facts sets facts of a run, by name and value in turn.
func facts(in Input, words ...string) Input {
	in.Run.Facts = map[string]probe.Fact{}
	for i := 0; i+1 < len(words); i += 2 {
		in.Run.Facts[words[i]] = probe.Fact{Value: words[i+1]}
	}
	return in
}

// judging says which hosts a run was for.
func judging(in Input, hosts ...string) Input {
	in.Hosts = hosts
	return in
}

// loneDot is O18: the fourth search domain is a dot.
func loneDot(libc probe.Libc, version string) Input {
	settings := withRaw(kubernetes(5), "search shop.svc.cluster.local svc.cluster.local cluster.local .\nnameserver 198.19.0.10\noptions ndots:5\n")
	settings.Search = []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "."}
	host := "www.example.net"
	tr := trace{host: host, libc: libc, version: version, outcome: probe.Again, code: "EAI_AGAIN", tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), denied(host+".svc.cluster.local.", 1, ms), denied(host+".cluster.local.", 2, ms),
		{name: host + "..", search: 3, outcome: probe.Timeout, a: []message{lost()}, aaaa: []message{lost()}},
	}}
	return input(settings, tr)
}

// longLine is O17: musl passes over a search line of 300 characters.
func longLine(more ...trace) Input {
	line := "search front.svc.cluster.local svc.cluster.local cluster.local"
	for _, n := range strings.Fields("1 2 3 4 5 6 7") {
		line += " team-0" + n + ".apps.division.example.com"
	}
	settings := withRaw(probe.Settings{Nameservers: []string{"10.96.0.10"}, Ndots: 5}, line+"\nnameserver 10.96.0.10\noptions ndots:5\n")
	tr := trace{host: "catalog", libc: probe.Musl, version: "1.2.3", outcome: probe.NXDomain, tries: []try{
		pair("catalog.", -1, probe.NXDomain, by("10.96.0.10:53", nx(ms)), by("10.96.0.10:53", nx(ms))),
	}}
	return judging(input(settings, append([]trace{tr}, more...)...), "catalog")
}

// otherService is a pod whose nameserver is not the cluster's DNS.
func otherService(more ...trace) Input {
	nx := by("10.43.0.10:53", nx(ms))
	tr := trace{host: "ledger.billing", outcome: probe.NXDomain, tries: []try{
		pair("ledger.billing.shop.svc.cluster.local.", 0, probe.NXDomain, nx, nx), pair("ledger.billing.", -1, probe.NXDomain, nx, nx),
	}}
	settings := kubernetes(5)
	settings.Nameservers = []string{"10.43.0.10"}
	in := judging(input(settings, append([]trace{tr}, more...)...), "ledger.billing")
	in.Run.Target = probe.Target{Pod: "p", Node: "node-a"}
	return facts(in, fact.DNSPolicy, "ClusterFirst", fact.HostNetwork, "false", fact.DNSService, "10.96.0.10", fact.PodStarted, "52h0m0s")
}

// oldFile is a pod that was started before its node got other nameservers.
func oldFile(more ...trace) Input {
	silent := []message{by("10.8.0.53:53", lost())}
	tr := trace{host: "erp.corp.example", outcome: probe.Again, tries: []try{
		{name: "erp.corp.example.", search: -1, outcome: probe.Timeout, a: silent, aaaa: silent},
	}}
	settings := probe.Settings{Nameservers: []string{"10.8.0.53"}, Ndots: 1, Search: []string{"node.example.com"}}
	in := judging(input(settings, append([]trace{tr}, more...)...), "erp.corp.example")
	in.Run.Target = probe.Target{Pod: "p", Namespace: "shop", Owner: &probe.Owner{Kind: "Deployment", Name: "app"}}
	return facts(in, fact.DNSPolicy, "Default", fact.NodeResolvConf, "nameserver 10.9.0.53\nsearch node.example.com\n", fact.PodStarted, "52h0m0s")
}

// hardCoded is a host with the domain of another cluster in it.
func hardCoded(more ...trace) Input {
	host := "ledger.billing.svc.k8s.example"
	tr := trace{host: host, outcome: probe.NXDomain, tries: []try{
		denied(host+".shop.svc.cluster.local.", 0, ms), denied(host+".", -1, ms),
	}}
	return judging(input(kubernetes(5), append([]trace{tr}, more...)...), host)
}

// fourth is O16: the nameserver that knows the zone is the fourth in the node's file.
func fourth(more ...trace) Input {
	nx := by("10.8.0.53:53", nx(ms))
	tr := trace{host: "erp.corp.example", outcome: probe.NXDomain, tries: []try{
		pair("erp.corp.example.", -1, probe.NXDomain, nx, nx), pair("erp.corp.example.node.example.com.", 0, probe.NXDomain, nx, nx),
	}}
	settings := probe.Settings{Nameservers: []string{"10.8.0.53", "10.8.0.54", "203.0.113.53"}, Ndots: 1, Search: []string{"node.example.com"}}
	in := judging(input(settings, append([]trace{tr}, more...)...), "erp.corp.example")
	return facts(in, fact.DNSPolicy, "Default",
		fact.DNSEvents, "Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.8.0.53 10.8.0.54 203.0.113.53",
		fact.NodeResolvConf, "nameserver 10.8.0.53\nnameserver 10.8.0.54\nnameserver 203.0.113.53\nnameserver 10.9.0.53\n")
}

// judged is a run and the classes that have to be found in it, in order.
type judged struct {
	in   Input
	want string
}

func checkVerdicts(t *testing.T, tests map[string]judged) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			findings := Diagnose(tt.in)
			if classes(findings) != tt.want {
				t.Errorf("want %q, found\n%s", tt.want, told(findings))
			}
			for _, f := range findings {
				checkShape(t, f, tt.in.Run)
			}
		})
	}
}

// wanted are the names that rules want asked, each with how.
func wanted(in Input) string {
	var out []string
	for _, f := range FollowUps(in) {
		out = append(out, f.Ask.Host+" "+f.Ask.Variant.Label())
	}
	return strings.Join(out, "; ")
}

// withFact sets one more fact, or another value of one.
func withFact(in Input, name, value string) Input {
	more := map[string]probe.Fact{name: {Value: value}}
	for k, v := range in.Run.Facts {
		if k != name {
			more[k] = v
		}
	}
	in.Run.Facts = more
	return in
}
