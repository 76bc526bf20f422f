package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func millis(ms int64) *probe.Millis {
	m := probe.Millis(ms * 1e6)
	return &m
}

func TestLeftCluster(t *testing.T) {
	asked := []probe.Query{{Type: probe.TypeA, Rcode: "NXDOMAIN"}}
	silent := []probe.Query{{Type: probe.TypeA}}
	for _, c := range []struct {
		name string
		a    probe.Attempt
		done bool
		zone string
		want bool
	}{
		{"the node's search domain", probe.Attempt{Name: "x.ec2.internal.", Origin: probe.OriginSearch, Queries: asked}, true, "cluster.local", true},
		{"the cluster's own", probe.Attempt{Name: "x.svc.Cluster.Local.", Origin: probe.OriginSearch, Queries: asked}, true, "cluster.local", false},
		{"the one that decided", probe.Attempt{Name: "x.", Origin: probe.OriginAsIs, Queries: asked, Decided: true}, true, "cluster.local", false},
		{"the host first, in vain", probe.Attempt{Name: "ledger.core.", Origin: probe.OriginAsIs, Queries: asked}, true, "cluster.local", true},
		{"no answer at all", probe.Attempt{Name: "x.ec2.internal.", Origin: probe.OriginSearch, Queries: silent}, true, "cluster.local", false},
		{"nothing sent", probe.Attempt{Name: "x.ec2.internal.", Origin: probe.OriginSearch}, true, "cluster.local", false},
		{"no cluster in the search list", probe.Attempt{Name: "x.ec2.internal.", Origin: probe.OriginSearch, Queries: asked}, true, "", false},
		{"still running, failed", probe.Attempt{Name: "x.ec2.internal.", Origin: probe.OriginSearch, Queries: asked, Outcome: probe.NXDomain}, false, "cluster.local", true},
		{"still running, host as it is", probe.Attempt{Name: "x.", Origin: probe.OriginAsIs, Queries: asked, Outcome: probe.NXDomain}, false, "cluster.local", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := probe.Resolution{}
			if c.done {
				r.Outcome = probe.OK
			}
			if got := LeftCluster(&r, &c.a, c.zone); got != c.want {
				t.Errorf("LeftCluster = %v, want %v", got, c.want)
			}
		})
	}
}

// sent is one message to a server at a time, with what came of it.
func sent(server string, transport probe.Transport, at int64, reply string) probe.Transmission {
	return probe.Transmission{Server: server, Transport: transport, Sent: *millis(at), Reply: reply}
}

func TestLosses(t *testing.T) {
	const one, two = "198.19.0.10", "198.19.0.11"
	answered := func(tr probe.Transmission, at int64, use string, flags ...string) probe.Transmission {
		tr.Received, tr.Use, tr.Flags = millis(at), use, flags
		return tr
	}
	for _, c := range []struct {
		name    string
		queries []probe.Query
		want    []string
	}{
		{"answered at once", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{answered(sent(one, probe.UDP, 0, "NOERROR"), 1, probe.UseAccepted)}},
		}, nil},
		{"still waiting", []probe.Query{{Type: probe.TypeA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 0, "")}}}, nil},
		{"pair lost together", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 0, probe.ReplyLost), answered(sent(one, probe.UDP, 5000, "NOERROR"), 5001, probe.UseAccepted)}},
			{Type: probe.TypeAAAA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 0, probe.ReplyLost), answered(sent(one, probe.UDP, 5000, "NOERROR"), 5001, probe.UseAccepted)}},
		}, []string{"A and AAAA lost, sent again after 5.000 s"}},
		{"next server", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{answered(sent(one, probe.UDP, 0, "SERVFAIL"), 2, probe.UseRejected), answered(sent(two, probe.UDP, 2, "NOERROR"), 3, probe.UseAccepted)}},
		}, []string{"A SERVFAIL from 198.19.0.10 rejected, sent again to 198.19.0.11 after 2.0 ms"}},
		{"truncated", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{answered(sent(one, probe.UDP, 0, "NOERROR"), 2, probe.UseAccepted, "TC"), answered(sent(one, probe.TCP, 2, "NOERROR"), 3, probe.UseAccepted)}},
		}, []string{"A answer too big (TC), sent again over tcp after 2.0 ms"}},
		{"two servers at once, one answers", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{answered(sent(one, probe.UDP, 0, "NOERROR"), 1, probe.UseAccepted), sent(two, probe.UDP, 0, probe.ReplyLost)}},
		}, nil},
		{"two servers at once, twice", []probe.Query{
			{Type: probe.TypeA, Transmissions: []probe.Transmission{
				sent(one, probe.UDP, 0, probe.ReplyLost), sent(two, probe.UDP, 0, probe.ReplyLost),
				sent(one, probe.UDP, 2500, probe.ReplyLost), sent(two, probe.UDP, 2500, probe.ReplyLost),
			}},
		}, []string{"A lost, sent again to 198.19.0.10 after 2.500 s", "A lost, given up after 2.501 s"}},
		{
			"closed port",
			[]probe.Query{{Type: probe.TypeA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 0, probe.ReplyICMPRefused)}}},
			[]string{"A met a closed port at 198.19.0.10, given up"},
		},
		{
			"unreachable",
			[]probe.Query{{Type: probe.TypeA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 0, probe.ReplyUnreachable)}}},
			[]string{"A could not reach 198.19.0.10, given up"},
		},
		{
			"lost for good",
			[]probe.Query{{Type: probe.TypeA, Transmissions: []probe.Transmission{sent(one, probe.UDP, 1, probe.ReplyLost)}}},
			[]string{"A lost, given up after 5.000 s"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := probe.Attempt{Outcome: probe.Timeout, Duration: *millis(5001), Queries: c.queries}
			if diff := cmp.Diff(c.want, losses(&probe.Resolution{}, &a)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLossesAreBounded(t *testing.T) {
	q := probe.Query{Type: probe.TypeA}
	for i := range 100 {
		q.Transmissions = append(q.Transmissions, sent("198.19.0.10", probe.UDP, int64(i*i), probe.ReplyLost))
	}
	got := losses(&probe.Resolution{}, &probe.Attempt{Queries: []probe.Query{q}})
	if len(got) != maxLosses+1 || got[maxLosses] != "and 92 more" {
		t.Errorf("%d lines, the last one %q", len(got), got[len(got)-1])
	}
}

func TestCells(t *testing.T) {
	a := func(addr string) probe.Answer { return probe.Answer{Type: "A", Data: addr} }
	used := func(use, reply string) []probe.Transmission {
		return []probe.Transmission{{Received: millis(1), Use: use, Reply: reply}}
	}
	for _, c := range []struct {
		want  string
		q     probe.Query
		ended bool
	}{
		{"✓ 203.0.113.7", probe.Query{Type: probe.TypeA, Rcode: "NOERROR", Answers: []probe.Answer{{Type: "CNAME", Data: "x."}, a("203.0.113.7")}}, true},
		{"✓ 203.0.113.7 +2", probe.Query{Type: probe.TypeA, Rcode: "NOERROR", Answers: []probe.Answer{a("203.0.113.7"), a("203.0.113.8"), a("203.0.113.9")}}, true},
		{"· no data", probe.Query{Type: probe.TypeAAAA, Rcode: "NOERROR", Answers: []probe.Answer{{Type: "CNAME", Data: "x."}}}, true},
		{"✗ SERVFAIL", probe.Query{Rcode: "SERVFAIL", Transmissions: used(probe.UseRejected, "SERVFAIL")}, true},
		{"✗ reply rejected", probe.Query{Rcode: "NOERROR", Transmissions: used(probe.UseRejected, "NOERROR")}, true},
		{"… waiting", probe.Query{Transmissions: []probe.Transmission{{}}}, false},
		{"✗ no answer", probe.Query{Transmissions: []probe.Transmission{{}}}, true},
		{"✗ no answer", probe.Query{Transmissions: []probe.Transmission{{Reply: probe.ReplyLost}}}, false},
		{"✗ port closed", probe.Query{Transmissions: []probe.Transmission{{Reply: probe.ReplyICMPRefused}}}, true},
		{"✗ unreachable", probe.Query{Transmissions: []probe.Transmission{{Reply: probe.ReplyUnreachable}}}, true},
		{"✗ cut off", probe.Query{Transmissions: []probe.Transmission{{Reply: probe.ReplyClosed}}}, true},
		{"· given up", probe.Query{Transmissions: []probe.Transmission{{Reply: probe.ReplyAbandoned}}}, true},
	} {
		got := result(&c.q, c.ended, Unicode)
		if got.String() != c.want {
			t.Errorf("result = %q, want %q", got.String(), c.want)
		}
		if w := got.width(Unicode.signWidth()); w != width(c.want) {
			t.Errorf("%q: width %d, want %d", c.want, w, width(c.want))
		}
	}
}

func TestDetailNamesGlibcsTimeout(t *testing.T) {
	wait := func(first, second int64) string {
		a := probe.Attempt{N: 1, Name: "x.", Origin: probe.OriginAsIs, Queries: []probe.Query{{Type: probe.TypeA, Transmissions: []probe.Transmission{
			sent("198.19.0.10", probe.UDP, first, probe.ReplyLost), sent("198.19.0.10", probe.UDP, second, probe.ReplyLost),
		}}}}
		run := probe.Run{Settings: probe.Settings{TimeoutSeconds: 5}}
		r := probe.Resolution{Libc: probe.Glibc, Attempts: []probe.Attempt{a}}
		return strings.Join(text(Detail(&run, &r, &r.Attempts[0], Frame{Width: 200, Glyphs: Unicode})), "\n")
	}
	const says = "glibc's own timeout (timeout:5)"
	if got := wait(1, 5006); !strings.Contains(got, says) {
		t.Errorf("a wait of 5.005 s is not explained:\n%s", got)
	}
	if got := wait(1, 4200); strings.Contains(got, says) {
		t.Errorf("a wait of 4.199 s is called a timeout:\n%s", got)
	}
}

func TestPatchShowsWhatItWouldBreak(t *testing.T) {
	ok := probe.NameResult{Outcome: probe.OK, Addresses: []string{"10.96.44.7"}, QueriesSent: 4, Source: probe.Predicted}
	gone := probe.NameResult{Outcome: probe.NXDomain, QueriesSent: 2, Source: probe.Predicted}
	run := probe.Run{Patch: &probe.Patch{
		Kind: "Deployment", Name: "payments", Namespace: "shop", Variant: "ndots:1",
		YAML:  "spec:\n  template:\n    spec:\n      dnsConfig:\n        options: []\n      other: 1\n",
		Names: []probe.PatchName{{Name: "ledger", Before: ok, After: ok, Same: true}, {Name: "ledger.core", Before: ok, After: gone}},
	}}
	want := []string{
		"Deployment shop/payments",
		"  spec:", "    template:", "      spec:", "+       dnsConfig:", "+         options: []", "        other: 1",
		"✓ Predicted on a model with ndots:1, not measured: ledger unchanged.",
		"✗ ledger.core 4 → 2 queries, ANOTHER ANSWER: NXDOMAIN instead of 10.96.44.7",
	}
	if diff := cmp.Diff(want, text(Patch(&run, Frame{Width: 90, Glyphs: Unicode}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	run.Patch.Diff = "  spec:\n-   a: 1\n+   a: 2\n"
	if got := text(Patch(&run, Frame{Width: 90, Glyphs: Unicode}))[1:4]; !cmp.Equal(got, []string{"  spec:", "-   a: 1", "+   a: 2"}) {
		t.Errorf("diff = %q", got)
	}
}

func TestCommandIsWhatIsShown(t *testing.T) {
	p := probe.Patch{Command: "kubectl patch x -p '{}'\x1b[2K\rrm -rf /\u202e"}
	if got, want := Command(&p), `kubectl patch x -p '{}'\x1b[2K\x0drm -rf /\u202e`; got != want {
		t.Errorf("Command = %q, want %q", got, want)
	}
	if got := text(Commands(&p)); got[1] != "  "+Command(&p) {
		t.Errorf("Commands = %q", got)
	}
}
