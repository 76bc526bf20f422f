package viewtest

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// Classic is an outside name that walks the whole search list, with what was concluded from it.
func Classic() *Stream {
	s := Open(ClusterSearch...)
	ClassicWalk(s)
	return Conclude(s)
}

// ClassicWalk tells the resolution of Classic.
func ClassicWalk(s *Stream) {
	const host = "api.stripe.com."
	s.Begin("r1", strings.TrimSuffix(host, "."))
	s.Pair(0.1, 8.1, 1, host+"shop.svc.cluster.local.", 0, "NXDOMAIN")
	s.Pair(8.3, 7.8, 2, host+"svc.cluster.local.", 1, "NXDOMAIN")
	s.Pair(16.2, 8.0, 3, host+"cluster.local.", 2, "NXDOMAIN")
	s.Pair(24.3, 18.8, 4, host+"ec2.internal.", 3, "NXDOMAIN")
	s.Attempt(43.1, 5, host, -1).Sent(43.1, 5, probe.TypeA, 1).Sent(43.1, 5, probe.TypeAAAA, 1)
	s.Received(46.9, 5, probe.TypeA, "NOERROR", A(host, "203.0.113.7")).Received(47.1, 5, probe.TypeAAAA, "NOERROR")
	s.EndAttempt(47.1, 5, probe.OK)
	s.End(47.2, probe.Ended{Outcome: probe.OK, Addresses: []string{"203.0.113.7"}, DecidedBy: 5, AnsweredBy: "dns"})
}

// Conclude adds the findings, what-if rows and patch of the classic case.
func Conclude(s *Stream) *Stream {
	ok := func(q int, ms float64, addrs ...string) probe.NameResult {
		return probe.NameResult{Outcome: probe.OK, Addresses: addrs, QueriesSent: q, Duration: Ms(ms), Source: probe.Measured}
	}
	s.Add(probe.Event{Kind: probe.KindFindings, Findings: []probe.Finding{
		{
			Class: "search-walk", Severity: probe.Warning,
			Title:    "8 of 10 queries cannot succeed: the name has 2 dots, ndots is 5",
			Explain:  "The search list is tried before the name itself. That cost 43.1 of 47.2 ms here; 2 of the wasted queries left the cluster.",
			Evidence: []probe.Evidence{{Text: "api.stripe.com.ec2.internal. was asked outside of the cluster", Resolution: "r1", Attempt: 4}},
			Remedies: []probe.Remedy{
				{Text: "Set ndots to 2 in the pod template of Deployment payments.", Gain: "2 queries and 4.1 ms instead of 10 and 47.2 ms."},
				{Text: "Write the name with a final dot where the application lets you.", Caveat: "breaks TLS names in some clients"},
			},
		},
		{Class: "healthy", Severity: probe.Info, Title: "CoreDNS answers in 0.4 ms (p50)", Explain: "Scaling it would not help."},
	}})
	s.Add(probe.Event{Kind: probe.KindWhatIf, WhatIf: []probe.WhatIf{
		{
			Host: "api.stripe.com", Variant: "ndots:2", Outcome: probe.OK, Duration: Ms(4.1), QueriesSent: 2, SameAnswer: true,
			Source: probe.Measured, Note: "ledger, ledger.core checked: still resolve, same address",
		},
		{
			Host: "api.stripe.com", Variant: "ndots:1", Outcome: probe.OK, Duration: Ms(4.1), QueriesSent: 2, SameAnswer: true,
			Source: probe.Predicted, Note: "ledger.core: one more query, leaves the cluster",
		},
		{
			Host: "api.stripe.com", Variant: "api.stripe.com.", Outcome: probe.OK, Duration: Ms(4), QueriesSent: 2, SameAnswer: true,
			Source: probe.Measured, Note: "only as a test: breaks TLS names in some clients",
		},
	}})
	s.Add(probe.Event{Kind: probe.KindFacts, Facts: map[string]probe.Fact{
		"dnsPolicy":    {Value: "ClusterFirst", Source: "pod shop/payments-7d4"},
		"nodeLocalDNS": {Unknown: "get daemonsets in kube-system is forbidden"},
		"nodeKernel":   {Value: "6.12.1"},
	}})
	return s.Add(probe.Event{Kind: probe.KindPatch, Patch: &probe.Patch{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "payments",
		YAML:    "spec:\n  template:\n    spec:\n      dnsConfig:\n        options:\n        - name: ndots\n          value: \"2\"\n",
		Command: `kubectl -n shop patch deployment payments --type=strategic -p '{"spec":{"template":{"spec":{"dnsConfig":{"options":[{"name":"ndots","value":"2"}]}}}}}'`,
		Undo:    "kubectl -n shop rollout undo deployment/payments",
		Effect:  "the Deployment rolls its 3 pods.", Variant: "ndots:2",
		Names: []probe.PatchName{
			{Name: "api.stripe.com", Before: ok(10, 47.2, "203.0.113.7"), After: ok(2, 4.1, "203.0.113.7"), Same: true},
			{Name: "ledger", Before: ok(2, 1.1, "10.96.20.1"), After: ok(2, 1.0, "10.96.20.1"), Same: true},
			{Name: "ledger.core", Before: ok(4, 1.9, "10.96.44.7"), After: ok(4, 2.0, "10.96.44.7"), Same: true},
		},
	}})
}

// HalfLost is a service name of which one half of the pair is lost again and again: 15 s.
func HalfLost() *Stream {
	s := Open(ClusterSearch...)
	const name = "ledger.shop.svc.cluster.local."
	s.Begin("r1", "ledger")
	s.Attempt(0.1, 1, name, 0).Sent(0.1, 1, probe.TypeA, 1).Sent(0.2, 1, probe.TypeAAAA, 1)
	s.Received(0.8, 1, probe.TypeA, "NOERROR", A(name, "10.96.20.1"))
	s.Lost(5005.2, 1, probe.TypeAAAA).Sent(5005.3, 1, probe.TypeAAAA, 2)
	s.Lost(10010.3, 1, probe.TypeAAAA).Sent(10010.4, 1, probe.TypeAAAA, 3)
	s.Lost(15015.6, 1, probe.TypeAAAA)
	s.EndAttempt(15015.6, 1, probe.OK)
	s.End(15015.7, probe.Ended{Outcome: probe.OK, Addresses: []string{"10.96.20.1"}, DecidedBy: 1, AnsweredBy: "dns"})
	return s.Add(probe.Event{Kind: probe.KindFindings, Findings: []probe.Finding{{
		Class: "half-pair-loss", Severity: probe.Critical,
		Title: "the AAAA half of the pair was lost 3 times, the A half came after 0.7 ms", Explain: "Fits the conntrack race.",
	}}})
}

// Silence is a resolution in which nothing ever answers.
func Silence() *Stream {
	s := Open(ClusterSearch...)
	names := []string{"ledger.shop.svc.cluster.local.", "ledger."}
	s.Begin("r1", "ledger")
	at := 0.1
	for i, name := range names {
		n := i + 1
		index := 0
		if n == len(names) {
			index = -1
		}
		s.Attempt(at, n, name, index)
		for try := 1; try <= 2; try++ {
			s.Sent(at, n, probe.TypeA, try).Sent(at, n, probe.TypeAAAA, try)
			at += 5005
			s.Lost(at, n, probe.TypeA).Lost(at, n, probe.TypeAAAA)
		}
		s.EndAttempt(at, n, probe.Timeout)
	}
	return s.End(at, probe.Ended{Outcome: probe.Again, Code: "EAI_AGAIN"})
}

// Hosts is a name that the hosts file answers.
func Hosts() *Stream {
	return Open(ClusterSearch...).Begin("r1", "db.corp.example").
		End(0.2, probe.Ended{Outcome: probe.OK, Addresses: []string{"192.0.2.9", "192.0.2.10"}, AnsweredBy: "hosts"})
}

// NoSuchName is a host that does not exist.
func NoSuchName() *Stream {
	s := Open(ClusterSearch[:1]...)
	s.Begin("r1", "legder")
	s.Pair(0.1, 0.9, 1, "legder.shop.svc.cluster.local.", 0, "NXDOMAIN")
	s.Pair(1.1, 4.2, 2, "legder.", -1, "NXDOMAIN")
	return s.End(5.4, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 2, AnsweredBy: "dns"})
}

// Hostile is a run in which every text tries to take over the terminal.
func Hostile() *Stream {
	const evil = "\x1b[2J\x1b]0;owned\a\u202eevil\u2066\u009b31m\nnext line\t\x00\xff"
	s := Open("shop.svc."+evil, evil)
	s.Events[0].Run.Target = probe.Target{Namespace: evil, Pod: evil, Container: evil, Node: evil, Via: evil, Chosen: evil}
	s.Events[1].Settings.Unknown = []string{evil}
	s.Events[1].Settings.Source, s.Events[1].Settings.Why = "sandbox", evil
	s.Events[1].Settings.Warnings = []resolvconf.Warning{{Line: 3, Text: evil, Effect: evil}}
	s.Events[2].Resolver.Version, s.Events[2].Resolver.Why = evil, evil
	s.Begin("r1", evil)
	s.Attempt(0, 1, evil, 0).Sent(0, 1, probe.TypeA, 1).Sent(0, 1, probe.TypeAAAA, 1)
	s.Received(1, 1, probe.TypeA, evil, probe.Answer{Name: evil, Type: "CNAME", Data: evil}, probe.Answer{Name: evil, Type: "A", Data: evil})
	s.Received(1, 1, probe.TypeAAAA, "NOERROR", probe.Answer{Name: evil, Type: "AAAA", Data: evil})
	s.EndAttempt(2, 1, probe.Outcome(evil))
	s.Add(probe.Event{Kind: probe.KindNote, Resolution: "r1", Note: evil})
	s.End(3, probe.Ended{Outcome: probe.Outcome(evil), Code: evil, Addresses: []string{evil}, AnsweredBy: evil})
	s.Add(probe.Event{Kind: probe.KindFindings, Findings: []probe.Finding{{
		Class: evil, Severity: evil, Title: evil, Explain: evil,
		Evidence: []probe.Evidence{{Text: evil}}, Remedies: []probe.Remedy{{Text: evil, Gain: evil, Caveat: evil}},
	}}})
	s.Add(probe.Event{Kind: probe.KindWhatIf, WhatIf: []probe.WhatIf{{Host: evil, Variant: evil, Outcome: evil, Source: evil, Note: evil}}})
	s.Add(probe.Event{Kind: probe.KindFacts, Facts: map[string]probe.Fact{evil: {Value: evil, Unknown: evil, Source: evil}}})
	s.Add(probe.Event{Kind: probe.KindPatch, Patch: &probe.Patch{
		APIVersion: evil, Kind: evil, Namespace: evil, Name: evil,
		YAML: evil, Command: evil, Undo: evil, Effect: evil, Variant: evil,
		Names: []probe.PatchName{{Name: evil, Note: evil, Before: probe.NameResult{Outcome: evil}, After: probe.NameResult{Outcome: evil}}},
	}})
	return s.Add(probe.Event{Kind: probe.KindProblem, Note: evil})
}

// ManyDomains is a walk through 32 search domains.
func ManyDomains() *Stream {
	var search []string
	for i := range 32 {
		search = append(search, fmt.Sprintf("zone%02d.corp.example", i+1))
	}
	s := Open(search...)
	s.Begin("r1", "intranet")
	at := 0.1
	for i, d := range search {
		s.Pair(at, 1.5, i+1, "intranet."+d+".", i, "NXDOMAIN")
		at += 1.6
	}
	s.Pair(at, 1.5, 33, "intranet.", -1, "NXDOMAIN")
	return s.End(at+1.6, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 33, AnsweredBy: "dns"})
}

// LongNames is a host of 253 characters, beside one that is too long with its search domain.
func LongNames() *Stream {
	label := strings.Repeat("a", 63) + "."
	host := strings.TrimSuffix(strings.Repeat(label, 3)+strings.Repeat("b", 60)+".", ".")
	s := Open(ClusterSearch[:1]...)
	s.Begin("r1", host)
	s.Attempt(0, 1, host+".shop.svc.cluster.local.", 0).EndAttempt(0.1, 1, probe.Unsent)
	s.Pair(0.2, 3, 2, host+".", -1, "NXDOMAIN")
	return s.End(3.3, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 2, AnsweredBy: "dns"})
}

// Wide is a run whose names have characters of two cells.
func Wide() *Stream {
	s := Open("店.例え.テスト")
	s.Begin("r1", "決済サービス")
	s.Pair(0.1, 1, 1, "決済サービス.店.例え.テスト.", 0, "NXDOMAIN")
	s.Pair(1.2, 1, 2, "決済サービス.", -1, "NXDOMAIN")
	return s.End(2.3, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 2, AnsweredBy: "dns"})
}

// InProgress is the classic walk cut off in its fourth attempt.
func InProgress() *Stream {
	s := Open(ClusterSearch...)
	ClassicWalk(s)
	for i, ev := range s.Events {
		if ev.Kind == probe.KindReceived && ev.Received.Attempt == 4 && ev.Received.Type == probe.TypeAAAA {
			s.Events = s.Events[:i]
			break
		}
	}
	return s
}

// Several is a run of three hosts, one of them in trouble, with a problem of the run itself.
func Several() *Stream {
	s := Classic()
	const ledger = "ledger.shop.svc.cluster.local."
	s.Begin("r2", "ledger").Attempt(0.1, 1, ledger, 0).Sent(0.1, 1, probe.TypeA, 1).Sent(0.1, 1, probe.TypeAAAA, 1)
	s.Received(0.8, 1, probe.TypeA, "NOERROR", A(ledger, "10.96.20.1")).Received(0.9, 1, probe.TypeAAAA, "NOERROR")
	s.EndAttempt(0.9, 1, probe.OK)
	s.End(1, probe.Ended{Outcome: probe.OK, Addresses: []string{"10.96.20.1"}, DecidedBy: 1, AnsweredBy: "dns"})
	s.Begin("r3", "legder").Pair(0.1, 0.9, 1, "legder.shop.svc.cluster.local.", 0, "NXDOMAIN").
		Pair(1.1, 0.9, 2, "legder.", -1, "NXDOMAIN").
		End(2.1, probe.Ended{Outcome: probe.NXDomain, Code: "EAI_NONAME", DecidedBy: 2, AnsweredBy: "dns"})
	return s.Add(probe.Event{
		Kind: probe.KindProblem,
		Note: "read the ConfigMap kube-system/coredns: forbidden; ask for get on configmaps in kube-system, or go on without CoreDNS's own settings",
	})
}

// Runs are all streams by name.
func Runs() map[string]*Stream {
	return map[string]*Stream{
		"classic": Classic(), "half-lost": HalfLost(), "silence": Silence(), "hosts": Hosts(), "no-such-name": NoSuchName(),
		"hostile": Hostile(), "many-domains": ManyDomains(), "long-names": LongNames(), "wide": Wide(),
		"in-progress": InProgress(), "libcs": Libcs(), "several": Several(), "empty": {},
	}
}
