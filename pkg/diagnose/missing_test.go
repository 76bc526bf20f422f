package diagnose

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// faults are runs that have one fault each, by the class that they show; every rule has one.
func faults() map[string]Input {
	node := probe.Settings{Search: []string{"node.example.com"}, Ndots: 1, Nameservers: []string{"198.19.0.10", "198.19.0.11"}}
	host := "inv.corp.example"
	servFail := func(name string, search int) try {
		return pair(name, search, probe.ServFail, rcode("SERVFAIL", ms), rcode("SERVFAIL", ms))
	}
	refused := func(name string, search int) try {
		return pair(name, search, probe.Refused, rcode("REFUSED", ms), rcode("REFUSED", ms))
	}
	found := pair("x.example.", -1, probe.OK, found(ms, "203.0.113.7"), empty(ms))
	random := trace{id: "test", host: "dnsprobe-abc.ec2.internal.", outcome: probe.OK, addresses: []string{"203.0.113.80"}}
	all := map[string]Input{
		"search-walk":           input(kubernetes(5), classic()),
		"no-such-name":          input(kubernetes(5), nowhere()),
		"timeout-in-search":     input(kubernetes(5), silentDomain("1"), silentDomain("2"), silentDomain("3")),
		"dead-nameserver":       input(node, deadFirst("1"), deadFirst("2"), deadFirst("3")),
		"tcp53-blocked":         input(kubernetes(1), cut()),
		"upstream-inconsistent": input(kubernetes(2), asked("1", host, true), asked("2", host, false), asked("3", host, true)),
		"stub-loopback":         inPod(input(node, stub("127.0.0.53:53", probe.ReplyICMPRefused))),
		"wrong-dns-policy":      hostNetwork("ledger.core"),
		"wildcard-search":       wildcard(&random, nil),
		"servfail-in-search":    input(kubernetes(5), trace{host: "x.example", outcome: probe.OK, tries: []try{servFail("x.example.ec2.internal.", 3), found}}),
		"refused-in-search":     input(kubernetes(5), trace{host: "x.example", outcome: probe.OK, tries: []try{refused("x.example.ec2.internal.", 3), found}}),
		"upstream-servfail": input(kubernetes(5), trace{host: "x.example", outcome: probe.Again, tries: []try{
			denied("x.example.svc.cluster.local.", 1, ms), servFail("x.example.", -1),
		}}),
		"ndots-too-low": input(kubernetes(1), trace{host: "ledger.core", outcome: probe.OK, tries: []try{
			denied("ledger.core.", -1, ms), pair("ledger.core.svc.cluster.local.", 1, probe.OK, message{server: dns0, reply: "NOERROR", addresses: []string{"10.96.44.7"}}, empty(ms)),
		}}),
		"aaaa-nxdomain": input(kubernetes(5), trace{host: "a.core", outcome: probe.OK, tries: []try{
			pair("a.core.svc.cluster.local.", 1, probe.OK, message{server: dns0, reply: "NOERROR", addresses: []string{"10.96.44.7"}}, nx(ms)),
		}}),
		"hosts-file": input(kubernetes(5), trace{host: "db", outcome: probe.OK, decidedBy: -1, by: "hosts", addresses: []string{"10.0.0.9"}}),
		"healthy":    input(kubernetes(2), trace{host: "x.example", outcome: probe.OK, tries: []try{found}}),
	}
	for _, more := range []map[string]Input{settingsFaults(), walkFaults(), nameFaults()} {
		maps.Copy(all, more)
	}
	return all
}

func TestEveryRuleHasAFaultThatItFindsFirst(t *testing.T) {
	all := faults()
	maps.Copy(all, serverFaults(t))
	for _, r := range rules {
		in, ok := all[r.class]
		if !ok {
			t.Errorf("no run shows %s", r.class)
			continue
		}
		findings := Diagnose(in)
		if len(findings) == 0 || findings[0].Class != r.class {
			t.Errorf("%s: found\n%s", r.class, told(findings))
		}
	}
	if len(all) != len(rules) {
		t.Errorf("%d runs for %d rules", len(all), len(rules))
	}
}

// TestWhatIsMissingProvesNothing takes every query, transmission and reply out of every run in turn: less evidence may take a
// verdict away, but it must not bring another one up.
func TestWhatIsMissingProvesNothing(t *testing.T) {
	all := faults()
	maps.Copy(all, serverFaults(t))
	for class, in := range all {
		before := map[string]bool{}
		for _, f := range Diagnose(in) {
			before[f.Class] = true
		}
		list := cuts(in.Run)
		for i := 0; i < len(list); i += 1 + len(list)/mostCuts {
			cut := list[i]
			less := in
			less.Run.Resolutions = cut.left
			for _, f := range Diagnose(less) {
				if f.Class == "healthy" && cut.oneFamily {
					// A libc that asks for one family cannot see that the halves contradict each other, and need not.
					continue
				}
				if !before[f.Class] {
					t.Errorf("%s without %s: found %s\n%s", class, cut.what, f.Class, f.Title)
				}
			}
		}
	}
}

// mostCuts bounds how much is taken out of a run of hundreds of lookups, evenly over all of it.
const mostCuts = 60

// shorter is a run with one thing taken out.
type shorter struct {
	what string
	left []probe.Resolution
	// oneFamily says that the A query stands alone.
	oneFamily bool
}

func cuts(run probe.Run) []shorter {
	var out []shorter
	for i, r := range run.Resolutions {
		if r.Question != nil {
			continue // What is asked directly would be asked again.
		}
		for j, a := range r.Attempts {
			for k, q := range a.Queries {
				edit := func(what string, change func(*probe.Query) bool) {
					left := slices.Clone(run.Resolutions)
					left[i].Attempts = slices.Clone(r.Attempts)
					left[i].Attempts[j].Queries = slices.Clone(a.Queries)
					query := &left[i].Attempts[j].Queries[k]
					query.Transmissions = slices.Clone(q.Transmissions)
					kept := change(query)
					if !kept {
						left[i].Attempts[j].Queries = slices.Delete(left[i].Attempts[j].Queries, k, k+1)
					}
					out = append(out, shorter{strings.Join([]string{what, string(q.Type), a.Name, r.ID}, " "), left, !kept && q.Type == probe.TypeAAAA})
				}
				edit("the query", func(*probe.Query) bool { return false })
				edit("the reply", func(q *probe.Query) bool {
					q.Rcode, q.RTT, q.Answers = "", nil, nil
					for n := range q.Transmissions {
						q.Transmissions[n].Received, q.Transmissions[n].Reply = nil, probe.ReplyAbandoned
					}
					return true
				})
				edit("what came of it", func(q *probe.Query) bool {
					q.Rcode, q.RTT, q.Answers = "", nil, nil
					for n := range q.Transmissions {
						q.Transmissions[n].Received, q.Transmissions[n].Reply = nil, ""
					}
					return true
				})
			}
		}
	}
	return out
}
