package resolvertest

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// TestResults: each part of a result that is another one is a difference, and what a libc's comparison leaves out is none.
func TestResults(t *testing.T) {
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	codes := Codes(map[int]string{0: "", -2: "EAI_NONAME"})
	o := scenario.Observed{Calls: []scenario.Call{{}, {NullHints: true}}}
	for _, c := range []struct {
		name     string
		how      Comparison
		observed []scenario.CallResult
		ours     []resolver.Result
		took     time.Duration
		want     string
	}{
		{"same", Comparison{}, []scenario.CallResult{{Addresses: []netip.Addr{one}}}, []resolver.Result{{Addresses: []netip.Addr{one}}}, 0, ""},
		{"code", Comparison{}, []scenario.CallResult{{Code: -2}}, []resolver.Result{{Code: "EAI_AGAIN"}}, 0, "code"},
		{"unknown code", Comparison{}, []scenario.CallResult{{Code: -99}}, []resolver.Result{{}}, 0, "code"},
		{"order", Comparison{}, []scenario.CallResult{{Addresses: []netip.Addr{one, two}}}, []resolver.Result{{Addresses: []netip.Addr{two, one}}}, 0, "addresses"},
		{"any order", Comparison{AnyOrder: true}, []scenario.CallResult{{Addresses: []netip.Addr{one, two}}}, []resolver.Result{{Addresses: []netip.Addr{two, one}}}, 0, ""},
		{"time", Comparison{}, []scenario.CallResult{{}}, []resolver.Result{{}}, time.Minute, "took"},
		{"untimed", Comparison{Untimed: true}, []scenario.CallResult{{}}, []resolver.Result{{}}, time.Minute, ""},
		{"canonical", Comparison{Canonical: true}, []scenario.CallResult{{Canonical: "x."}}, []resolver.Result{{}}, 0, "canonical name"},
		{"canonical left out", Comparison{}, []scenario.CallResult{{Canonical: "x."}}, []resolver.Result{{}}, 0, ""},
		{"too few", Comparison{}, []scenario.CallResult{{}, {}}, []resolver.Result{{}}, 0, "1 results, observed 2"},
		{
			"socket types",
			Comparison{SocketTypes: 2},
			[]scenario.CallResult{{Addresses: []netip.Addr{one}}, {Addresses: []netip.Addr{one, one}}},
			[]resolver.Result{{Addresses: []netip.Addr{one}}, {Addresses: []netip.Addr{one}}},
			0, "",
		},
	} {
		c.how.Code = codes
		p := Process{Results: c.ours}
		for range c.ours {
			p.Elapsed = append(p.Elapsed, c.took)
		}
		got := c.how.Results(o, scenario.Recording{Results: c.observed}, p)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: differences %q, want one about %q", c.name, got, c.want)
		}
	}
}
