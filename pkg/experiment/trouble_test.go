package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// lossy is a place with one rule for pay.example.net's AAAA.
func lossy(t *testing.T, conf string, nth []int, words ...string) *place {
	t.Helper()
	rules := []simnet.Rule{{Name: "pay.example.net", Type: probe.TypeAAAA, Do: actions(t, words...), Nth: nth}, {Name: "pay.example.net", Type: probe.TypeA, Do: actions(t, "a:198.51.100.40")}}
	return &place{t: t, conf: conf, world: simnet.World{Servers: servers("10.96.0.10"), Delay: time.Millisecond, Rules: append(rules, simnet.Rule{Name: "pay.example.net", Do: actions(t, "nodata")})}}
}

func labels(list []probe.Variant) string {
	var out []string
	for _, v := range list {
		out = append(out, v.Label())
	}
	return strings.Join(out, ", ")
}

const oneServer = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:1\n"

func TestVariantsAgainstTrouble(t *testing.T) {
	tests := map[string]struct {
		libc, version string
		conf          string
		nth           []int
		do            string
		want, ignored string
	}{
		"O05: one half is lost once, glibc": {"glibc", "2.36-9+deb12u14", oneServer, []int{1}, "drop", "single-request, single-request-reopen, use-vc, timeout:1", ""},
		"O06: the same on musl": {
			"musl", "1.2.3", oneServer,
			[]int{1},
			"drop", "timeout:5 attempts:10",
			"musl 1.2.3 ignores single-request, single-request-reopen, use-vc, so they are not tried",
		},
		"the same in Go":              {"go", "1.26", oneServer, []int{1}, "drop", "single-request, use-vc, timeout:1", "go 1.26 ignores single-request-reopen, so it is not tried"},
		"O07: AAAA is never answered": {"glibc", "2.36", oneServer, nil, "drop", "no-aaaa, timeout:1", ""},
		"an option that glibc 2.31 does not have": {
			"glibc", "2.31", oneServer, nil, "drop", "timeout:1",
			"glibc 2.31 ignores no-aaaa, so it is not tried",
		},
		"what is set already":                {"glibc", "2.36", strings.Replace(oneServer, "ndots:1", "ndots:1 single-request timeout:1", 1), []int{1}, "drop", "single-request-reopen, use-vc", ""},
		"AAAA is SERVFAIL":                   {"glibc", "2.36", oneServer, nil, "servfail", "no-aaaa", ""},
		"AAAA is SERVFAIL, and musl is deaf": {"musl", "1.2.5", oneServer, nil, "servfail", "", "musl 1.2.5 ignores no-aaaa, so it is not tried"},
		"nothing is wrong":                   {"glibc", "2.36", oneServer, nil, "nodata", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := lossy(t, tt.conf, tt.nth, tt.do)
			r, err := p.engine().Resolve(t.Context(), "r", probe.Ask{Host: "pay.example.net", Libc: probe.Libc(tt.libc), LibcVersion: tt.version}, func(probe.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			got, ignored := againstTrouble(p.settings(), list(r))
			if labels(got) != tt.want || ignored != tt.ignored {
				t.Errorf("got %q, %q\nwant %q, %q", labels(got), ignored, tt.want, tt.ignored)
			}
		})
	}
}

// TestOptionsOfferedAreHeeded: a libc that is offered an option has to do something else with it on the wire.
func TestOptionsOfferedAreHeeded(t *testing.T) {
	for _, o := range options {
		for libc, version := range map[probe.Libc]string{probe.Glibc: "2.36", probe.Musl: "1.2.5", probe.Go: "1.26", probe.CAres: "1.34"} {
			if !o.by(libc, version) {
				continue
			}
			p := lossy(t, oneServer, nil, "drop")
			ask := probe.Ask{Host: "pay.example.net", Libc: libc, LibcVersion: version}
			before, err := p.engine().Resolve(t.Context(), "r", ask, func(probe.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			ask.Variant = OptionVariant(o.words...)
			after, err := p.engine().Resolve(t.Context(), "r", ask, func(probe.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			before.Variant, after.Variant = "", ""
			if shape(before) == shape(after) {
				t.Errorf("%s %s does the same with %s", libc, version, strings.Join(o.words, " "))
			}
		}
	}
}

// TestEachServerAlone leaves out the one that has never answered.
func TestEachServerAlone(t *testing.T) {
	conf := "search node.example.com\nnameserver 10.20.0.53\nnameserver 10.20.0.54\noptions ndots:1\n"
	p := lossy(t, conf, nil, "nodata")
	p.world.Servers = servers("10.20.0.53", "10.20.0.54")
	p.world.Servers[0].Silent = true
	_, run := p.learn("pay.example.net")
	got, _ := Variants(p.settings(), run.Resolutions, nil, nil)
	if labels(got) != "timeout:1, only 10.20.0.54" {
		t.Errorf("got %q", labels(got))
	}
	if last := got[len(got)-1]; !slices.Equal(last.Nameservers, []string{"10.20.0.54"}) {
		t.Errorf("%+v", last)
	}
	table := planned(t, p, []string{"pay.example.net"}, nil)
	if err := table.Measure(t.Context(), p, DefaultBudget, ignore); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"timeout:1": "1.001s", "only 10.20.0.54": "1ms"}
	for _, w := range table.Rows() {
		if took, ok := want[w.Variant]; ok && w.Duration.Duration().String() != took {
			t.Errorf("%s took %v, want %s", w.Variant, w.Duration.Duration(), took)
		}
	}
}

func TestAShorterSearchList(t *testing.T) {
	p := classicPlace(t)
	p.conf = strings.Replace(podConf, "cluster.local\nname", "cluster.local ec2.internal corp.example\nname", 1)
	_, run := p.learn("api.stripe.com", "ledger")
	got, _ := Variants(p.settings(), run.Resolutions[:1], run.Resolutions[1:], nil)
	want := "ndots:2, trailing dot, without ec2.internal, without corp.example, without ec2.internal and corp.example"
	if labels(got) != want {
		t.Errorf("got %q\nwant %q", labels(got), want)
	}
	table := planned(t, p, []string{"api.stripe.com"}, []string{"ledger"})
	if got := rows(table); !strings.Contains(got, "without ec2.internal and corp.example: ok 8 9ms predicted true; ledger unchanged") {
		t.Errorf("%s", got)
	}
	// Removing a domain saves less than ndots:2 does, which the predictions tell: it is not worth a packet.
	c := &counting{Prober: p}
	if err := table.Measure(t.Context(), c, DefaultBudget, ignore); err != nil {
		t.Fatal(err)
	}
	for _, ask := range c.asks {
		if strings.Contains(ask, "without") {
			t.Errorf("measured %s", ask)
		}
	}
	for name, change := range map[string]func(*probe.Settings){
		"LOCALDOMAIN is stronger":         func(s *probe.Settings) { s.Env = map[string]string{"LOCALDOMAIN": "x"} },
		"no zone of the cluster is known": func(s *probe.Settings) { s.Search = []string{"ec2.internal", "corp.example"} },
	} {
		s := p.settings()
		change(&s)
		if got := shorter(s, run.Resolutions[:1]); got != nil {
			t.Errorf("%s: %s", name, labels(got))
		}
	}
}

func TestRowsHaveTheMedianAndTheSpread(t *testing.T) {
	now := tried("a.example", probe.OK, "+a.example.")
	table := NewTable(Plan{Hosts: list(now), Variants: []probe.Variant{Ndots(2)}, Ignored: "musl ignores use-vc"})
	for _, d := range []probe.Millis{5, 1, 9} {
		r := now
		r.Variant, r.Duration, r.Source = "ndots:2", d, probe.Measured
		table.Measured(r)
	}
	got := table.Rows()
	if w := got[1]; w.Duration != 5 || w.Fastest != 1 || w.Slowest != 9 || w.Times != 3 {
		t.Errorf("%+v", w)
	}
	if w := got[0]; w.Note != "musl ignores use-vc" || w.Times != 0 {
		t.Errorf("%+v", w)
	}
}

func TestOtherLibcsStandInTheRow(t *testing.T) {
	now := tried("a.example", probe.OK, "+a.example.")
	table := NewTable(Plan{Hosts: list(now), Variants: []probe.Variant{Ndots(2)}})
	other := NewTable(Plan{Hosts: list(now), Libc: probe.Resolver{Libc: probe.Musl, Version: "1.2.5"}})
	table.Others = []*Table{other}
	after := tried("a.example", probe.NXDomain, "a.example.")
	after.Variant, after.Source = "ndots:2", probe.Measured
	table.Measured(after)
	other.Measured(after)
	got := table.Rows()[1].Libcs
	if len(got) != 1 || got[0].Libc != probe.Musl || got[0].SameAnswer || got[0].Outcome != probe.NXDomain {
		t.Errorf("%+v", got)
	}
}
