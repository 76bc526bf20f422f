package simnet

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

var ns1 = netip.MustParseAddr("10.96.0.10")

func world(t *testing.T, rules ...Rule) *World {
	t.Helper()
	w := &World{Servers: []Server{{Addr: ns1}}, Rules: rules, Delay: time.Millisecond}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	return w
}

func do(t *testing.T, words ...string) Rule {
	t.Helper()
	actions, err := ParseActions(words)
	if err != nil {
		t.Fatal(err)
	}
	return Rule{Name: "x.test", Do: actions}
}

func ask(w *World, qt probe.QueryType, tr probe.Transport) Reaction {
	return w.React(NewState(1), resolver.Query{ID: 7, Name: "X.test.", Type: qt}, Arrival{Server: ns1, Transport: tr})
}

func TestReactBuildsReplies(t *testing.T) {
	type want struct {
		rcode     int
		answers   []string
		tc, ra    bool
		soa       bool
		anySilent bool
	}
	for _, c := range []struct {
		name  string
		words []string
		qt    probe.QueryType
		want  want
	}{
		{"A", []string{"a:192.0.2.1", "a:192.0.2.2", "aaaa:2001:db8::1"}, probe.TypeA, want{answers: []string{"192.0.2.1", "192.0.2.2"}, ra: true}},
		{"AAAA", []string{"a:192.0.2.1", "aaaa:2001:db8::1"}, probe.TypeAAAA, want{answers: []string{"2001:db8::1"}, ra: true}},
		{"no AAAA", []string{"a:192.0.2.1"}, probe.TypeAAAA, want{ra: true, soa: true}},
		{"cname", []string{"cname:t.example", "a:192.0.2.1"}, probe.TypeA, want{answers: []string{"t.example.", "192.0.2.1"}, ra: true}},
		{"cname only", []string{"cname:t.example", "a:192.0.2.1"}, probe.TypeAAAA, want{answers: []string{"t.example."}, ra: true, soa: true}},
		{"cname nx", []string{"cname:t.example", "nx"}, probe.TypeA, want{rcode: 3, answers: []string{"t.example."}, ra: true, soa: true}},
		{"nothing", nil, probe.TypeA, want{ra: true, soa: true}},
		{"nodata", []string{"nodata"}, probe.TypeA, want{ra: true, soa: true}},
		{"nx", []string{"nx"}, probe.TypeA, want{rcode: 3, ra: true, soa: true}},
		{"nx without soa", []string{"nx", "nosoa"}, probe.TypeA, want{rcode: 3, ra: true}},
		{"servfail", []string{"servfail"}, probe.TypeA, want{rcode: 2, ra: true}},
		{"refused", []string{"refused"}, probe.TypeA, want{rcode: 5, ra: true}},
		{"formerr", []string{"formerr"}, probe.TypeA, want{rcode: 1, ra: true}},
		{"notimp", []string{"notimp"}, probe.TypeA, want{rcode: 4, ra: true}},
		{"rcode", []string{"rcode:9"}, probe.TypeA, want{rcode: 9, ra: true}},
		{"lame", []string{"lame"}, probe.TypeA, want{}},
		{"tc", []string{"tc"}, probe.TypeA, want{tc: true, ra: true}},
		{"tc with an answer", []string{"tc", "a:192.0.2.77"}, probe.TypeA, want{tc: true, ra: true, answers: []string{"192.0.2.77"}}},
		{"pad", []string{"pad:2"}, probe.TypeA, want{ra: true, answers: []string{"10.9.0.0", "10.9.0.1"}}},
		{"pad6", []string{"pad6:1"}, probe.TypeAAAA, want{ra: true, answers: []string{"fd00:fd00:fd00:fd00:fd00:fd00:fd00:0"}}},
		{"drop", []string{"a:192.0.2.1", "drop"}, probe.TypeA, want{anySilent: true}},
		{"sure loss", []string{"a:192.0.2.1", "loss:1"}, probe.TypeA, want{anySilent: true}},
	} {
		r := ask(world(t, do(t, c.words...)), c.qt, probe.UDP)
		if r.Silent != c.want.anySilent {
			t.Errorf("%s: silent %v", c.name, r.Silent)
		}
		if r.Silent {
			continue
		}
		var data []string
		for _, a := range r.Reply.Answers {
			data = append(data, a.Data)
		}
		got := want{rcode: r.Reply.Rcode, answers: data, tc: r.Reply.TC, ra: r.Reply.RA, soa: r.Reply.SOAMinimum != nil}
		if got.rcode != c.want.rcode || !slices.Equal(got.answers, c.want.answers) || got.tc != c.want.tc || got.ra != c.want.ra || got.soa != c.want.soa {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if r.Reply.ID != 7 || r.Reply.Questions[0].Name != "X.test." || r.Delay != time.Millisecond || r.Reply.ANCount != len(data) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestReactOddReplies(t *testing.T) {
	if r := ask(world(t, do(t, "header", "refused")), probe.TypeA, probe.UDP).Reply; r.Size != 12 || r.QDCount != 0 || r.Rcode != 5 {
		t.Errorf("header only: %+v", r)
	}
	if r := ask(world(t, do(t, "a:192.0.2.1", "badid")), probe.TypeA, probe.UDP).Reply; r.ID == 7 {
		t.Error("badid keeps the id")
	}
	if r := ask(world(t, do(t, "a:192.0.2.1", "badquestion")), probe.TypeA, probe.UDP).Reply; r.Questions[0].Name == "X.test." {
		t.Error("badquestion keeps the question")
	}
	r := ask(world(t, do(t, "nodata", "soa:5", "delay:70")), probe.TypeA, probe.UDP)
	if *r.Reply.SOAMinimum != 5 || r.Delay != 70*time.Millisecond {
		t.Errorf("soa and delay: %+v", r)
	}
	if r := ask(world(t, do(t, "ttl:30", "a:192.0.2.1")), probe.TypeA, probe.UDP).Reply; r.Answers[0].TTL != 30 {
		t.Errorf("ttl: %+v", r.Answers)
	}
	if r := ask(world(t, do(t, "drop", "close")), probe.TypeA, probe.TCP); !r.Silent || !r.Close {
		t.Errorf("drop and close: %+v", r)
	}
	if r := ask(world(t, do(t, "reset")), probe.TypeA, probe.UDP); r.Reset {
		t.Error("reset on UDP")
	}
}

func TestReactMatching(t *testing.T) {
	other := netip.MustParseAddr("10.96.0.11")
	w := &World{
		Servers: []Server{{Addr: ns1}, {Addr: other}, {Addr: netip.MustParseAddr("10.96.0.12"), Silent: true}},
		Rules: []Rule{
			{Name: "*", Server: other, Do: []Action{{Kind: ActRcode, N: 2}}},
			{Name: "*", Transport: probe.TCP, Do: []Action{{Kind: ActRcode, N: 5}}},
			{Name: "lost.test", Type: probe.TypeA, Nth: []int{1, 3}, Do: []Action{{Kind: ActDrop}}},
			{Name: "LOST.test.", Do: []Action{{Kind: ActNoData}}},
		},
		Zones: []string{"test"},
	}
	st := NewState(1)
	q := resolver.Query{Name: "lost.test.", Type: probe.TypeA}
	var silent []bool
	for range 4 {
		silent = append(silent, w.React(st, q, Arrival{Server: ns1, Transport: probe.UDP}).Silent)
	}
	if !slices.Equal(silent, []bool{true, false, true, false}) {
		t.Errorf("nth: %v", silent)
	}
	if r := w.React(st, q, Arrival{Server: other, Transport: probe.UDP}); r.Reply.Rcode != 2 {
		t.Errorf("by server: %+v", r)
	}
	if r := w.React(st, q, Arrival{Server: ns1, Transport: probe.TCP}); r.Reply.Rcode != 5 {
		t.Errorf("by transport: %+v", r)
	}
	if r := w.React(st, resolver.Query{Name: "a.test."}, Arrival{Server: ns1, Transport: probe.UDP}); r.Reply.Rcode != 3 || r.Reply.SOAMinimum == nil || !r.Reply.AA {
		t.Errorf("no rule: %+v", r)
	}
	if r := w.React(st, q, Arrival{Server: netip.MustParseAddr("10.9.9.9"), Transport: probe.UDP}); !r.Refused {
		t.Error("an address that is not listed is not closed")
	}
	if r := w.React(st, q, Arrival{Server: netip.MustParseAddr("10.96.0.12"), Transport: probe.UDP}); !r.Silent {
		t.Error("a black hole answers")
	}
	if r := w.React(st, resolver.Query{Wire: []byte{1, 2, 3}}, Arrival{Server: ns1, Transport: probe.UDP}); !r.Silent {
		t.Error("a malformed query is answered")
	}
	w.Undecodable = resolver.RcodeFormErr
	if r := w.React(st, resolver.Query{ID: 7, Wire: []byte{1, 2, 3}}, Arrival{Server: ns1, Transport: probe.UDP}); r.Silent || r.Reply.ID != 7 || r.Reply.Rcode != 1 {
		t.Errorf("bytes that are no message, from a server that says so: %+v", r)
	}
}

// TestReactMatchesEverySpelling: a name is the same name however its bytes are escaped.
func TestReactMatchesEverySpelling(t *testing.T) {
	for _, c := range []struct {
		rule, name string
		want       bool
	}{
		{"a;b.test", `a\;b.test.`, true},
		{`a\046b.test`, `a\.b.test.`, true},
		{"b\u00fc.test", `b\195\188.test.`, true},
		{`x\000y.*`, `x\000y.test.`, true},
		{"a.b.test", `a\.b.test.`, false},
		{"a..b.*", "a..b.test", true},
	} {
		w := &World{Servers: []Server{{Addr: ns1}}, Rules: []Rule{{Name: c.rule, Do: []Action{{Kind: ActNoData}}}}}
		r := w.React(NewState(1), resolver.Query{Name: c.name, Type: probe.TypeA}, Arrival{Server: ns1, Transport: probe.UDP})
		if got := r.Reply.Rcode == 0; got != c.want {
			t.Errorf("rule %q, query %q: matches %t, want %t", c.rule, c.name, got, c.want)
		}
	}
}

// TestConnectTakesHalfTheWay: a handshake takes time on a way, and none where only servers are slow.
func TestConnectTakesHalfTheWay(t *testing.T) {
	w := world(t)
	w.Servers[0].Delay = 40 * time.Millisecond
	if d := w.Connect(ns1).Delay; d != 20*time.Millisecond {
		t.Errorf("on a way of 40 ms the handshake takes %s", d)
	}
	if w.ServersOnly = true; w.Connect(ns1).Delay != 0 {
		t.Errorf("beside the server it takes %s", w.Connect(ns1).Delay)
	}
}

func TestReactTruncates(t *testing.T) {
	w := world(t, do(t, "pad:60"))
	q := resolver.Query{Name: "x.test.", Type: probe.TypeA}
	if r := w.React(NewState(1), q, Arrival{Server: ns1, Transport: probe.UDP}).Reply; r.TC || len(r.Answers) != 60 {
		t.Errorf("cut without Truncate: %d answers", len(r.Answers))
	}
	w.Truncate = true
	r := w.React(NewState(1), q, Arrival{Server: ns1, Transport: probe.UDP}).Reply
	if !r.TC || r.Size > 512 || len(r.Answers) == 0 {
		t.Errorf("not cut to 512: size %d, %d answers", r.Size, len(r.Answers))
	}
	q.EDNSSize = 1232
	if r := w.React(NewState(1), q, Arrival{Server: ns1, Transport: probe.UDP}); r.Reply.TC || !r.EDNS || r.Reply.Size != 12+12+60*16+11 {
		t.Errorf("cut within the EDNS size: %+v", r.Reply.Size)
	}
	if r := w.React(NewState(1), q, Arrival{Server: ns1, Transport: probe.TCP}).Reply; r.TC {
		t.Error("cut on TCP")
	}
	w.Rules = []Rule{do(t, "pad:4096")}
	if r := w.React(NewState(1), q, Arrival{Server: ns1, Transport: probe.TCP}).Reply; r.Size > 65535 || !r.TC {
		t.Errorf("size %d", r.Size)
	}
}

func TestQuerySize(t *testing.T) {
	for name, want := range map[string]int{"x.y.": 21, ".": 17, `x.y.s.test\013.`: 29, `x.\#.`: 21, "api.stripe.com.": 32} {
		if got := QuerySize(resolver.Query{Name: name}); got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
	if got := QuerySize(resolver.Query{Name: "x.y.", EDNSSize: 1232}); got != 32 {
		t.Errorf("with OPT: %d", got)
	}
}
