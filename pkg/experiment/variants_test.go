package experiment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// tried is a resolution that tried names in order. "+" before a name marks the one that decided, "?" one without a reply;
// names that end in a dot are the host itself.
func tried(host string, outcome probe.Outcome, names ...string) probe.Resolution {
	r := probe.Resolution{Host: host, Outcome: outcome, Libc: probe.Glibc}
	for i, name := range names {
		mark := name[:1]
		name = strings.TrimLeft(name, "+?")
		a := probe.Attempt{N: i + 1, Name: strings.TrimSuffix(name, ".") + ".", Decided: mark == "+", Origin: probe.OriginSearch}
		if strings.HasSuffix(name, ".") {
			a.Origin = probe.OriginAsIs
		}
		q := probe.Query{Type: probe.TypeA, Rcode: "NXDOMAIN"}
		if mark == "?" {
			q.Rcode = ""
		}
		a.Queries = []probe.Query{q}
		r.Attempts = append(r.Attempts, a)
	}
	return r
}

var (
	external   = tried("api.stripe.com", probe.OK, "api.stripe.com.svc.cluster.local", "+api.stripe.com.")
	threeDots  = tried("api.partner.example.net", probe.OK, "api.partner.example.net.svc.cluster.local", "+api.partner.example.net.")
	oneDot     = tried("example.org", probe.OK, "example.org.svc.cluster.local", "+example.org.")
	short      = tried("ledger", probe.OK, "+ledger.shop.svc.cluster.local")
	withNS     = tried("ledger.core", probe.OK, "ledger.core.shop.svc.cluster.local", "+ledger.core.svc.cluster.local")
	withSvc    = tried("ledger.core.svc", probe.OK, "ledger.core.svc.shop.svc.cluster.local", "+ledger.core.svc.cluster.local")
	full       = tried("tenants.default.svc.cluster.local", probe.OK, "tenants.default.svc.cluster.local.svc.cluster.local", "+tenants.default.svc.cluster.local.")
	withNSLow  = tried("ledger.core", probe.OK, "ledger.core.", "+ledger.core.svc.cluster.local")
	direct     = tried("api.stripe.com", probe.OK, "+api.stripe.com.")
	missing    = tried("nowhere.example", probe.NXDomain, "nowhere.example.svc.cluster.local", "nowhere.example.")
	allSilent  = tried("db.orders", probe.Again, "?db.orders.svc.cluster.local", "?db.orders.")
	refusedOne = tried("queue.billing", probe.Again, "queue.billing.svc.cluster.local", "queue.billing.")
)

func list(r ...probe.Resolution) []probe.Resolution { return r }

func TestVariantsWorthTrying(t *testing.T) {
	musl := threeDots
	musl.Libc = probe.Musl
	stopped := tried("mirror.example.net", probe.NoData, "mirror.example.net.svc.cluster.local", "mirror.example.net.home.example.com")
	alone := tried("ledger.core", probe.NXDomain, "ledger.core.")
	alone.Libc = probe.Musl
	tests := map[string]struct {
		ndots       int
		hosts, also []probe.Resolution
		want        string
	}{
		"screens.md":                         {5, list(external), list(short, withNS), "ndots:2 ndots:1 trailing dot"},
		"O01":                                {5, list(threeDots), list(short, withNS), "ndots:2 ndots:1 trailing dot"},
		"O02: a cluster name has two dots":   {5, list(threeDots), list(withSvc), "ndots:3 ndots:2 trailing dot"},
		"nothing else in use":                {5, list(external), nil, "ndots:2 trailing dot"},
		"three dots and nothing else in use": {5, list(threeDots), nil, "ndots:2 trailing dot"},
		"musl: the smallest change":          {5, list(musl), nil, "ndots:3 trailing dot"},
		"a full name of the cluster: the smallest change": {5, list(full), nil, "ndots:4 trailing dot"},
		"one dot":                                        {5, list(oneDot), list(withNS), "ndots:1 trailing dot"},
		"two hosts":                                      {5, list(oneDot, external), nil, "ndots:2 ndots:1 trailing dot"},
		"ndots is low enough":                            {2, list(direct), list(short, withNS), ""},
		"a Service in another namespace":                 {5, list(withNS), nil, ""},
		"a Service in this namespace":                    {5, list(short), nil, ""},
		"a host that does not exist":                     {5, list(missing), nil, ""},
		"total silence":                                  {5, list(allSilent), nil, ""},
		"a failure that the order may have caused":       {5, list(refusedOne), nil, "ndots:1 trailing dot"},
		"ndots too low":                                  {1, list(withNSLow), nil, "ndots:2"},
		"ndots too low, and a host that would walk then": {1, list(withNSLow), list(direct), "ndots:3 ndots:2"},
		"a literal":                                      {5, list(probe.Resolution{Host: "10.1.2.3", Outcome: probe.OK}), nil, ""},
		"a final dot":                                    {5, list(tried("api.stripe.com.", probe.OK, "+api.stripe.com.")), nil, ""},
		"a literal besides":                              {5, list(external), list(probe.Resolution{Host: "10.1.2.3", Outcome: probe.OK}), "ndots:2 trailing dot"},
		"nobody":                                         {5, nil, nil, ""},
		"musl stopped before the host itself (O04)":      {5, list(stopped), nil, "ndots:2 trailing dot"},
		"musl tried the host alone":                      {1, list(alone), nil, "ndots:2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := probe.Settings{Ndots: tt.ndots, Search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local"}}
			var words []string
			variants, ignored := Variants(s, tt.hosts, tt.also, nil)
			if ignored != "" {
				t.Errorf("%q is said to be ignored, and nothing called for it", ignored)
			}
			for _, v := range variants {
				words = append(words, v.Label())
				if v.TrailingDot != (v.Label() == probe.VariantDot) || !v.TrailingDot && (len(v.Options) != 1 || v.Options[0] != v.Label()) {
					t.Errorf("%+v does not do what it is called", v)
				}
			}
			if got := strings.Join(words, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWithoutASearchListThereIsNothingToTry(t *testing.T) {
	if got := ndotsValues(probe.Settings{Ndots: 5}, list(external), nil); got != nil {
		t.Errorf("%v", got)
	}
}

// TestValuesStandForAll checks the claim behind ndotsValues by trying every value: two values are told apart by no name, or
// there is a representative of each.
func TestValuesStandForAll(t *testing.T) {
	order := func(ndots int, names []int) string {
		var b strings.Builder
		for _, dots := range names {
			fmt.Fprint(&b, dots >= ndots, " ")
		}
		return b.String()
	}
	for _, names := range [][]int{{0}, {1}, {2}, {0, 1, 2}, {3, 1}, {5, 4, 0}, {14}, {15}, {20}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}} {
		var in []probe.Resolution
		for _, dots := range names {
			in = append(in, tried(strings.Repeat("a.", dots)+"a", probe.OK, "+x."))
		}
		for now := range 16 {
			values := ndotsValues(probe.Settings{Ndots: now, Search: []string{"svc.cluster.local"}}, in, nil)
			seen := map[string]bool{}
			if now >= 1 {
				seen[order(now, names)] = true
			}
			for i, v := range values {
				if v < 1 || v > 15 || v == now || i > 0 && v >= values[i-1] {
					t.Errorf("names %v, ndots %d: values %v", names, now, values)
				}
				if o := order(v, names); seen[o] {
					t.Errorf("names %v, ndots %d: %d is told apart by no name", names, now, v)
				} else {
					seen[o] = true
				}
			}
			for v := 1; v <= 15; v++ {
				if !seen[order(v, names)] {
					t.Errorf("names %v, ndots %d: nothing stands for %d", names, now, v)
				}
			}
		}
	}
}
