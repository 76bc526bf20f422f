package patch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const zone = "cluster.local"

// walked is a resolution that tried names in order, a pair each; the last one decided with these addresses.
func walked(host string, names []string, addresses ...string) probe.Resolution {
	r := probe.Resolution{Host: host, Outcome: probe.OK, Addresses: addresses, Source: probe.Measured}
	if len(addresses) == 0 {
		r.Outcome = probe.NXDomain
	}
	for i, name := range names {
		r.Attempts = append(r.Attempts, probe.Attempt{
			N: i + 1, Name: name + ".", Decided: i == len(names)-1, Queries: []probe.Query{{Type: probe.TypeA}, {Type: probe.TypeAAAA}},
		})
		r.QueriesSent += 2
	}
	r.QueriesWasted = max(0, r.QueriesSent-2)
	return r
}

// The names of screens.md under the classic settings, and under lower values of ndots.
var (
	stripe      = walked("api.stripe.com", []string{"api.stripe.com.shop.svc.cluster.local", "api.stripe.com.svc.cluster.local", "api.stripe.com.cluster.local", "api.stripe.com.ec2.internal", "api.stripe.com"}, "203.0.113.7")
	stripeAsIs  = walked("api.stripe.com", []string{"api.stripe.com"}, "203.0.113.7")
	ledger      = walked("ledger", []string{"ledger.shop.svc.cluster.local"}, "10.96.20.1")
	ledgerCore  = walked("ledger.core", []string{"ledger.core.shop.svc.cluster.local", "ledger.core.svc.cluster.local"}, "10.96.44.7")
	ledgerCore1 = walked("ledger.core", []string{"ledger.core", "ledger.core.shop.svc.cluster.local", "ledger.core.svc.cluster.local"}, "10.96.44.7")
)

func after(ndots int, resolutions ...probe.Resolution) Candidate {
	c := Candidate{Ndots: ndots, After: map[string]probe.Resolution{}}
	for _, r := range resolutions {
		c.After[r.Host] = r
	}
	return c
}

func situation(ndots int, hosts, also []probe.Resolution) Situation {
	return Situation{Ndots: ndots, Zone: zone, Hosts: hosts, Also: also}
}

var choices = map[string]struct {
	situation  Situation
	candidates []Candidate
	// want is the value chosen, 0 for none.
	want int
}{
	"screens.md: ndots:1 would make ledger.core leave the cluster": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledger, ledgerCore}),
		[]Candidate{after(1, stripeAsIs, ledger, ledgerCore1), after(2, stripeAsIs, ledger, ledgerCore)},
		2,
	},
	"a leaving name weighs more than queries": {
		situation(5, []probe.Resolution{stripe, walked("a.b", []string{"a.b.ec2.internal", "a.b"}, "203.0.113.8")}, []probe.Resolution{ledgerCore}),
		[]Candidate{
			after(1, stripeAsIs, walked("a.b", []string{"a.b"}, "203.0.113.8"), ledgerCore1),
			after(2, stripeAsIs, walked("a.b", []string{"a.b.ec2.internal", "a.b"}, "203.0.113.8"), ledgerCore),
		},
		2,
	},
	"it cannot be avoided": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(1, stripeAsIs, ledgerCore1)},
		1,
	},
	"the nearest of equals": {
		situation(5, []probe.Resolution{stripe}, nil),
		[]Candidate{after(1, stripeAsIs), after(2, stripeAsIs)},
		2,
	},
	"a name would break (O02, musl)": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(2, stripeAsIs, walked("ledger.core", []string{"ledger.core"})), after(3, stripeAsIs, ledgerCore)},
		3,
	},
	"every value breaks a name": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(2, stripeAsIs, walked("ledger.core", []string{"ledger.core"}))},
		0,
	},
	"a name would get another address (O26)": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(1, stripeAsIs, walked("ledger.core", []string{"ledger.core"}, "198.51.100.77"))},
		0,
	},
	"addresses of the same name rotate": {
		situation(5, []probe.Resolution{stripe}, nil),
		[]Candidate{after(2, walked("api.stripe.com", []string{"api.stripe.com"}, "203.0.113.99"))},
		2,
	},
	"a name was not tried": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(2, stripeAsIs)},
		0,
	},
	"a name has not ended": {
		situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(2, stripeAsIs, probe.Resolution{Host: "ledger.core"})},
		0,
	},
	"already healthy": {
		situation(2, []probe.Resolution{stripeAsIs}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(1, stripeAsIs, ledgerCore1), after(3, stripe, ledgerCore)},
		0,
	},
	"the value in force is no change": {
		situation(5, []probe.Resolution{stripe}, nil), []Candidate{after(5, stripeAsIs)}, 0,
	},
	"only a name that nobody asked about gains": {
		situation(5, []probe.Resolution{ledger}, []probe.Resolution{stripe}), []Candidate{after(2, ledger, stripeAsIs)}, 0,
	},
	"the others lose more than the host gains": {
		situation(5, []probe.Resolution{walked("x.y", []string{"x.y.ec2.internal", "x.y"}, "203.0.113.8")}, []probe.Resolution{ledgerCore}),
		[]Candidate{after(1, walked("x.y", []string{"x.y"}, "203.0.113.8"), ledgerCore1)},
		0,
	},
	"a host that does not exist needs no patch": {
		situation(5, []probe.Resolution{walked("nowhere.example", []string{"nowhere.example.cluster.local", "nowhere.example"})}, nil),
		[]Candidate{after(1, walked("nowhere.example", []string{"nowhere.example", "nowhere.example.cluster.local"}))},
		0,
	},
	"ndots too low: a higher value helps": {
		situation(1, []probe.Resolution{ledgerCore1}, []probe.Resolution{ledger}), []Candidate{after(2, ledgerCore, ledger)}, 2,
	},
	"no candidates": {situation(5, []probe.Resolution{stripe}, nil), nil, 0},
}

func TestChoose(t *testing.T) {
	for name, tt := range choices {
		t.Run(name, func(t *testing.T) {
			got, ok := Choose(tt.situation, tt.candidates)
			if !ok {
				got.Ndots = 0
			}
			if got.Ndots != tt.want {
				t.Errorf("chose %d, want %d", got.Ndots, tt.want)
			}
		})
	}
}

// TestChooseDoesNotDependOnOrder tries every order of the candidates.
func TestChooseDoesNotDependOnOrder(t *testing.T) {
	s := situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledger, ledgerCore})
	c := []Candidate{after(1, stripeAsIs, ledger, ledgerCore1), after(2, stripeAsIs, ledger, ledgerCore), after(3, stripe, ledger, ledgerCore)}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		got, ok := Choose(s, []Candidate{c[order[0]], c[order[1]], c[order[2]]})
		if !ok || got.Ndots != 2 {
			t.Errorf("order %v: chose %d", order, got.Ndots)
		}
	}
}

func TestNamesBeforeAndAfter(t *testing.T) {
	s := situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledger, ledgerCore, walked("status.example", []string{"status.example.svc.cluster.local"}, "10.96.33.3")})
	got := s.Names(after(1, stripeAsIs, ledger, ledgerCore1, walked("status.example", []string{"status.example"}, "198.51.100.77")))
	var lines []string
	for _, n := range got {
		lines = append(lines, fmt.Sprintf("%s: %s %v %d -> %s %v %d, same %v%s", n.Name, n.Before.Outcome, n.Before.Addresses, n.Before.QueriesSent,
			n.After.Outcome, n.After.Addresses, n.After.QueriesSent, n.Same, strings.TrimSuffix(", "+n.Note, ", ")))
	}
	want := []string{
		"api.stripe.com: ok [203.0.113.7] 10 -> ok [203.0.113.7] 2, same true",
		"ledger: ok [10.96.20.1] 2 -> ok [10.96.20.1] 2, same true",
		"ledger.core: ok [10.96.44.7] 4 -> ok [10.96.44.7] 6, same true, leaves the cluster",
		"status.example: ok [10.96.33.3] 2 -> ok [198.51.100.77] 2, same false, leaves the cluster",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestNamesThatWereNotTriedAreNotTheSame(t *testing.T) {
	names := situation(5, []probe.Resolution{stripe}, []probe.Resolution{ledger}).Names(after(2, stripeAsIs))
	if names[1].Same || names[1].After.Outcome != "" || names[1].After.Addresses == nil {
		t.Errorf("%+v", names[1])
	}
}

func TestLeavesMore(t *testing.T) {
	if !LeavesMore(ledgerCore, ledgerCore1, zone) || LeavesMore(ledgerCore1, ledgerCore, zone) || LeavesMore(stripe, stripeAsIs, zone) {
		t.Error("names that leave are not counted right")
	}
	if LeavesMore(ledgerCore, ledgerCore1, "") {
		t.Error("without a known zone nothing is known to leave")
	}
}
