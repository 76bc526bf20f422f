package simnet

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"x.y", "x.y", true},
		{"x.y", "x.yz", false},
		{"*", "", true},
		{"*", "a.b", true},
		{"x.y.shop.*", "x.y.shop.svc.cluster.local", true},
		{"x.y.shop.*", "x.y.shop", false},
		{"*.local", "a.b.local", true},
		{"*.local", "local", false},
		{"a*b*c", "a.b.b.c", true},
		{"a*b*c", "a.b.b", false},
		{"", "", true},
		{"", "x", false},
		{"**", "x", true},
	} {
		if got := glob(c.pattern, c.text); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

func TestGlobTakesHostilePatternsInStride(t *testing.T) {
	start := time.Now()
	if glob(strings.Repeat("*a", 500), strings.Repeat("a", 250)+"b") {
		t.Error("matched")
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %s", d)
	}
}

func TestActionWordsRoundTrip(t *testing.T) {
	for _, w := range []string{
		"a:192.0.2.1", "aaaa:2001:db8::1", "cname:t.example", "pad:60", "pad6:3", "nodata", "nx", "servfail", "refused", "formerr", "notimp",
		"rcode:9", "lame", "header", "badid", "badquestion", "tc", "nosoa", "soa:5", "ttl:30", "drop", "delay:1.2s", "loss:0.25", "close", "reset",
	} {
		a, err := ParseAction(w)
		if err != nil {
			t.Errorf("%s: %v", w, err)
			continue
		}
		if a.String() != w {
			t.Errorf("%s became %s", w, a)
		}
	}
	if a, err := ParseAction("delay:50"); err != nil || a.Delay != 50*time.Millisecond {
		t.Errorf("delay:50 = %+v, %v", a, err)
	}
}

func TestActionWordsRefused(t *testing.T) {
	for _, w := range []string{
		"", "what", "a:2001:db8::1", "aaaa:192.0.2.1", "a:", "a:fe80::1%lo", "pad:-1", "pad:99999", "pad:x", "cname:", "rcode:16", "delay:-1",
		"delay:9h", "delay:NaN", "delay:1e300", "loss:2", "loss:NaN", "drop:1", "soa:-5",
	} {
		if a, err := ParseAction(w); err == nil {
			t.Errorf("%q was taken as %+v", w, a)
		}
	}
	if _, err := ParseActions(make([]string, MaxActions+1)); err == nil {
		t.Error("any number of actions is taken")
	}
}

func TestWorldCheck(t *testing.T) {
	good := Server{Addr: netip.MustParseAddr("10.0.0.1")}
	for name, w := range map[string]World{
		"no address":     {Servers: []Server{{}}},
		"many servers":   {Servers: make([]Server, MaxServers+1)},
		"many rules":     {Rules: make([]Rule, MaxRules+1)},
		"loss":           {Loss: 1.5},
		"race":           {PairRace: -1},
		"delay":          {Delay: -time.Second},
		"server's delay": {Servers: []Server{{Addr: good.Addr, Delay: time.Hour}}},
		"rule's type":    {Rules: []Rule{{Type: "MX"}}},
		"transport":      {Rules: []Rule{{Transport: "quic"}}},
		"nth":            {Rules: []Rule{{Nth: []int{0}}}},
		"long name":      {Rules: []Rule{{Name: strings.Repeat("a", 2000)}}},
	} {
		if w.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w := World{Servers: []Server{good}, Rules: []Rule{{Name: "*", Type: probe.TypeA, Nth: []int{1}}}}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
