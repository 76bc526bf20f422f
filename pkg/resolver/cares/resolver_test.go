package cares

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

const (
	one = "nameserver 127.0.0.2\n"
	two = "nameserver 127.0.0.2\nnameserver 127.0.0.3\n"
)

// TestBareHeader is row 56 of the table of observations: an error reply of twelve bytes.
func TestBareHeader(t *testing.T) {
	rules := []string{"- - 2 - - refused header", "x.y - - - - a:192.0.2.1"}
	newModel(t, "1.34", settings(two), rules...).want(host("x.y."), "A x.y. 2; AAAA x.y. 2; A x.y. 3; AAAA x.y. 3; ok 192.0.2.1")
	newModel(t, "1.18", settings(two), rules...).want(host("x.y."),
		"A x.y. 2; AAAA x.y. 2; A x.y. 3@5s; AAAA x.y. 3@5s; ok 192.0.2.1 in 5s")
}

// TestLostAAAA: with an address in hand 1.34 waits once, 1.18 goes through all its tries.
func TestLostAAAA(t *testing.T) {
	rules := []string{"- AAAA - - - drop", "x.y - - - - a:192.0.2.1"}
	newModel(t, "1.34", settings(one), rules...).want(host("x.y."), "A x.y. 2; AAAA x.y. 2; ok 192.0.2.1 in 2s")
	newModel(t, "1.18", settings(one), rules...).want(host("x.y."),
		"A x.y. 2; AAAA x.y. 2; AAAA x.y. 2@5s; AAAA x.y. 2@15s; AAAA x.y. 2@35s; ok 192.0.2.1 in 1m15s")
}

// TestServersByFailures: the server with fewer failures in a row is asked first, also by the next name.
func TestServersByFailures(t *testing.T) {
	m := newModel(t, "1.34", settings(two+"search s.test\noptions ndots:5\n"), "x.s.test A 2 - - servfail", "x.s.test AAAA 2 - - servfail", "x - - - - a:192.0.2.1")
	m.want(host("x"), "A x.s.test. 2; AAAA x.s.test. 2; A x.s.test. 3; AAAA x.s.test. 3; A x. 3; AAAA x. 3; ok 192.0.2.1")
	m.want(host("x."), "A x. 3; AAAA x. 3; ok 192.0.2.1")
}

// TestSingleLabelGoesOn: 1.34 goes on after SERVFAIL for a name without dots only.
func TestSingleLabelGoesOn(t *testing.T) {
	conf := one + "search s.test\noptions attempts:1 ndots:0\n"
	m := newModel(t, "1.34", settings(conf), "x - - - - servfail", "y.z - - - - servfail", "x.s.test - - - - a:192.0.2.1")
	m.want(host("x"), "A x. 2; AAAA x. 2; A x.s.test. 2; AAAA x.s.test. 2; ok 192.0.2.1")
	if !strings.Contains(m.notes(), "one label") {
		t.Errorf("notes: %s", m.notes())
	}
	m.want(host("y.z"), "A y.z. 2; AAAA y.z. 2; ESERVFAIL")
	newModel(t, "1.18", settings(one+"search s.test\noptions retry:1 ndots:0\n"), "x - - - - servfail").want(host("x"), "A x. 2; AAAA x. 2; ECONNREFUSED")
}

// TestLastOfPairDecides: what the query that ends last brings decides.
func TestLastOfPairDecides(t *testing.T) {
	conf := settings(one + "search s.test\noptions ndots:5 attempts:1\n")
	newModel(t, "1.34", conf, "x.s.test A - - - servfail", "x.s.test AAAA - - - nodata").want(host("x"),
		"A x.s.test. 2; AAAA x.s.test. 2; A x. 2; AAAA x. 2; ENODATA")
	newModel(t, "1.34", conf, "x.y.s.test A - - - nodata", "x.y.s.test AAAA - - - servfail").want(host("x.y"), "A x.y.s.test. 2; AAAA x.y.s.test. 2; ESERVFAIL")
}

func TestOddRcodes(t *testing.T) {
	for version, want := range map[string]string{"1.34": "A x.y. 2; A x.y. 2; A x.y. 2; ESERVFAIL", "1.18": "A x.y. 2; ENODATA"} {
		m := newModel(t, version, settings(one), "x.y - - - - rcode:15")
		m.want(resolver.Request{Host: "x.y.", Family: resolver.Inet}, want)
	}
	newModel(t, "1.34", settings(one), "x.y - - - - rcode:9").want(resolver.Request{Host: "x.y.", Family: resolver.Inet}, "A x.y. 2; ENODATA")
}

func TestBigUDPReply(t *testing.T) {
	inet := resolver.Request{Host: "x.y.", Family: resolver.Inet}
	if got := newModel(t, "1.18", settings(one), "x.y - - - - pad:60").ask(inet); !strings.HasPrefix(got, "A x.y. 2; A x.y. 2/tcp; ok 10.9.0.0 ") {
		t.Error(got)
	}
	if got := newModel(t, "1.34", settings(one), "x.y - - - - pad:60").ask(inet); !strings.HasPrefix(got, "A x.y. 2; ok 10.9.0.0 ") {
		t.Error(got)
	}
}

func TestLiterals(t *testing.T) {
	inet6 := func(name string) resolver.Request { return resolver.Request{Host: name, Family: resolver.Inet6} }
	m := newModel(t, "1.34", settings(one))
	m.want(host("10.1.2.3"), "ok 10.1.2.3")
	m.want(host("010.001.2.3"), "ok 10.1.2.3")
	m.want(inet6("10.1.2.3"), "ok 10.1.2.3")
	m.want(host("2001:db8::1"), "ok 2001:db8::1")
	m.want(host("fe80::1%lo"), "EBADNAME")
	m.want(resolver.Request{Host: "::1", Family: resolver.Inet}, "EBADNAME")
	m.want(host("10.1"), "A 10.1. 2; AAAA 10.1. 2; ENOTFOUND")
	m = newModel(t, "1.18", settings(one))
	m.want(resolver.Request{Host: "10.1.2.3", Family: resolver.Inet}, "ok 10.1.2.3")
	m.want(host("10.1.2.3"), "A 10.1.2.3. 2; AAAA 10.1.2.3. 2; ok 10.1.2.3")
	m.want(resolver.Request{Host: "x", Family: "unix"}, "ENOTIMP")
}

func TestOrderOfLookups(t *testing.T) {
	sys := settings(one)
	sys.Hosts = "10.1.1.1 web\n"
	text := "hosts: dns files\n"
	sys.NSSwitch = &text
	newModel(t, "1.34", sys).want(host("web"), "A web. 2; AAAA web. 2; ok 10.1.1.1")
	newModel(t, "1.18", sys).want(host("web"), "A web. 2; AAAA web. 2; ok 10.1.1.1")
	text = "hosts: dns\n"
	newModel(t, "1.34", sys).want(host("web"), "A web. 2; AAAA web. 2; ENOTFOUND")
	newModel(t, "1.34", sys).want(host("a.localhost"), "ECONNREFUSED")
	sys.NSSwitch = nil
	newModel(t, "1.34", sys).want(host("web"), "ok 10.1.1.1")
	order := "multi on\norder bind,hosts\n"
	sys.HostConf = &order
	newModel(t, "1.18", sys).want(host("web"), "A web. 2; AAAA web. 2; ok 10.1.1.1")
	sys.ResolvConf += "lookup file bind\n"
	newModel(t, "1.18", sys).want(host("web"), "ok 10.1.1.1")
}

func TestHosts(t *testing.T) {
	sys := settings(one)
	sys.Hosts = "10.1.1.1 web.test web\n10.1.1.2 other # web\n::5 WEB\n10.1.1.3 x#y z\n10.1.1.4 z#\nbad web\n10.1.1.1 later\n10.1.1.9 sp\x01 web2\n"
	m := newModel(t, "1.34", sys)
	m.want(host("Web"), "ok 10.1.1.1 ::5")
	m.want(host("later"), "ok 10.1.1.1 ::5")
	m.want(resolver.Request{Host: "web", Family: resolver.Inet6}, "ok ::5")
	m.want(host("z"), "ok 10.1.1.3")
	m.want(resolver.Request{Host: "x", Family: resolver.Inet}, "A x. 2; ENOTFOUND")
	m.want(resolver.Request{Host: "web2", Family: resolver.Inet}, "A web2. 2; ENOTFOUND")
	m = newModel(t, "1.18", sys)
	m.want(host("Web"), "ok 10.1.1.1 ::5")
	m.want(host("later"), "ok 10.1.1.1")
	m.want(host("x"), "ok 10.1.1.3")
}

// TestFilesAreReadOnce: a channel keeps to the resolv.conf that it was made with, but looks at the hosts file anew.
func TestFilesAreReadOnce(t *testing.T) {
	m := newModel(t, "1.34", settings(one))
	m.want(resolver.Request{Host: "web", Family: resolver.Inet}, "A web. 2; ENOTFOUND")
	changed := settings("nameserver 127.0.0.3\n")
	changed.Hosts = "10.1.1.1 web\n"
	m.r.SetSystem(changed)
	m.want(host("web"), "ok 10.1.1.1")
	m.want(resolver.Request{Host: "x", Family: resolver.Inet}, "A x. 2; ENOTFOUND")
}

func TestPorts(t *testing.T) {
	m := newModel(t, "1.34", settings("nameserver 127.0.0.2:5353,127.0.0.3\n"), "x.y - - - - a:192.0.2.1")
	if got := m.ask(resolver.Request{Host: "x.y.", Family: resolver.Inet}); got != "A x.y. 2:5353; A x.y. 3; ok 192.0.2.1" {
		t.Error(got)
	}
}

// TestTimeoutsLearn: after three replies a timeout is five times their average, and at least 250 ms.
func TestTimeoutsLearn(t *testing.T) {
	m := newModel(t, "1.34", settings(one+"options attempts:1\n"), "lost - - - - drop", "- - - - - a:192.0.2.1 aaaa:2001:db8::1 delay:100")
	inet := func(name string) resolver.Request { return resolver.Request{Host: name, Family: resolver.Inet} }
	m.want(inet("lost."), "A lost. 2; ETIMEOUT in 2s")
	for range 3 {
		m.want(inet("x."), "A x. 2; ok 192.0.2.1 in 100ms")
	}
	m.want(inet("lost."), "A lost. 2; ETIMEOUT in 500ms")
}

func TestTooManyTries(t *testing.T) {
	m := newModel(t, "1.18", settings(one+"options retry:-1\n"), "x - - - - servfail")
	m.ask(resolver.Request{Host: "x.", Family: resolver.Inet})
	if !strings.Contains(m.notes(), "c-ares would go on") {
		t.Errorf("notes: %s", m.notes())
	}
	m = newModel(t, "1.34", settings(one+"options attempts:30000\n"), "x - - - - servfail")
	m.ask(resolver.Request{Host: "x.", Family: resolver.Inet})
	if !strings.Contains(m.notes(), "c-ares would go on") {
		t.Errorf("notes: %s", m.notes())
	}
	m = newModel(t, "1.18", settings(two+"nameserver 127.0.0.4\noptions retry:-1\n"), "x - - - - notimp")
	m.want(resolver.Request{Host: "x.", Family: resolver.Inet}, "A x. 2; A x. 3; A x. 4; ECONNREFUSED")
	if !strings.Contains(m.notes(), "c-ares counts through 2147483639 further tries") {
		t.Errorf("notes: %s", m.notes())
	}
}

// TestTooManyConnections: tries whose connections are refused send no message, and have a bound, too.
func TestTooManyConnections(t *testing.T) {
	w := &simnet.World{
		Servers: []simnet.Server{{Addr: netip.MustParseAddr("127.0.0.2"), NoTCP: true}},
		Rules:   []simnet.Rule{{Do: []simnet.Action{{Kind: simnet.ActTC}}}},
	}
	for version, options := range map[string]string{"1.18": "retry:-1", "1.34": "attempts:100000000"} {
		m := newModel(t, version, settings(one+"options "+options+"\n"))
		m.net = simnet.New(t.Context(), w, simnet.Options{})
		m.want(resolver.Request{Host: "x.", Family: resolver.Inet}, "A x. 2; ETIMEOUT")
		if n := strings.Count(m.notes(), "most of which sent nothing; c-ares would go on"); n != 1 {
			t.Errorf("%s: %d notes about the bound: %.2000s", version, n, m.notes())
		}
	}
}

// opened keeps how sockets were opened.
type opened struct {
	resolver.Network
	options []resolver.OpenOptions
}

func (n *opened) Open(t probe.Transport, to netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	n.options = append(n.options, o)
	return n.Network.Open(t, to, o)
}

// TestSockets: c-ares connects UDP sockets and asks for no IP_RECVERR, so that an unreachable server is one that does not answer.
func TestSockets(t *testing.T) {
	for _, version := range []string{"1.34", "1.18"} {
		m := newModel(t, version, settings(one))
		n := &opened{Network: m.net}
		m.net = n
		m.ask(resolver.Request{Host: "x.", Family: resolver.Inet})
		if len(n.options) != 1 || n.options[0] != (resolver.OpenOptions{Connected: true, HardErrorsOnly: true}) {
			t.Errorf("%s: %+v", version, n.options)
		}
	}
}

// TestProbesFailedServers: once in ten times a name also goes to a server that failed, five seconds after that.
func TestProbesFailedServers(t *testing.T) {
	m := newModel(t, "1.34", settings(two+"options timeout:6\n"), "first - 2 - - drop", "- - - - - a:192.0.2.1")
	m.ask(resolver.Request{Host: "first.", Family: resolver.Inet})
	probes := 0
	for range 200 {
		if err := m.net.(*simnet.Network).Sleep(2 * probeBackoff); err != nil {
			t.Fatal(err)
		}
		switch got := m.ask(resolver.Request{Host: "x.", Family: resolver.Inet}); got {
		case "A x. 3; ok 192.0.2.1":
		case "A x. 3; A x. 2; ok 192.0.2.1":
			probes++
		default:
			t.Fatal(got)
		}
		// Nothing is kept of a probe whose reply comes after the call, so the server stays behind and is probed again.
	}
	if probes < 5 || probes > 60 {
		t.Errorf("%d probes in 200 calls", probes)
	}
}

func TestCookies(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	dice := uint16(0)
	random := func() uint16 { dice++; return dice }
	var ck cookie
	q := resolver.Query{EDNSSize: ednsBytes}
	ck.apply(&q, false, now, random)
	if len(q.Cookie) != clientCookieBytes || ck.state != cookieGenerated {
		t.Fatalf("%x in state %d", q.Cookie, ck.state)
	}
	reply := func(cookie []byte) *resolver.Reply { return &resolver.Reply{EDNS: true, Cookie: cookie} }
	server := append(append([]byte{}, q.Cookie...), "serverckie"...)
	for _, c := range []struct {
		what  string
		reply *resolver.Reply
		want  verdict
	}{
		{"another client's", reply([]byte("otherckie12")), drop},
		{"too short", reply([]byte("abc")), drop},
		{"too long", reply(make([]byte, 41)), drop},
		{"whole", reply(server), accept},
		{"none after one came", reply(nil), drop},
		{"BADCOOKIE", &resolver.Reply{EDNS: true, Cookie: server, Rcode: 7, RcodeHigh: 1}, askAgain},
		{"BADCOOKIE without one", &resolver.Reply{EDNS: true, Rcode: 7, RcodeHigh: 1}, drop},
	} {
		if got := ck.check(&q, c.reply, now); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.what, got, c.want)
		}
	}
	if ck.apply(&q, false, now, random); string(q.Cookie) != string(server) {
		t.Errorf("the server's part is not sent: %x", q.Cookie)
	}
	if ck.apply(&q, true, now, random); q.Cookie != nil {
		t.Error("a cookie over TCP")
	}
	ck.check(&resolver.Query{EDNSSize: 1, Cookie: server}, reply(nil), now)
	ck.apply(&q, false, now.Add(regressionTimeout), random)
	if ck.state != cookieGenerated || len(q.Cookie) != clientCookieBytes {
		t.Errorf("a server that stopped sending cookies is not learned anew: state %d", ck.state)
	}
	ck.check(&q, reply(nil), now)
	if ck.apply(&q, false, now, random); q.Cookie != nil {
		t.Error("a cookie to a server that knows none")
	}
	if ck.apply(&q, false, now.Add(unsupportedLife), random); q.Cookie == nil {
		t.Error("no new try after five minutes")
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]features{
		"1.18.1": {old: true}, "1.19.1": {old: true}, "1.20.1": {}, "1.22.0": {edns: true}, "1.33.0": {edns: true, cookies: true},
		"1.34.8": {edns: true, cookies: true}, "": {edns: true, cookies: true}, "2.0": {edns: true, cookies: true},
	} {
		if got := featuresOf(version); got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat(strings.Repeat("a", 49)+".", 5)
	for name, want := range map[string][2]string{
		"x.y": {"x.y.", "x.y."}, "x.y.": {"x.y.", "x.y."}, ".": {".", "."}, "": {".", "."}, "x..y": {"", ""}, ".x": {"", ""}, "x..": {"", ""}, "..": {"", ""},
		"sp ace": {"", `sp\032ace.`}, "b\u00fc": {"", `b\195\188.`}, "*.y": {"*.y.", "*.y."}, "a/b_c": {"a/b_c.", "a/b_c."}, `a\.b.c`: {`a\.b.c.`, `a\.b.c.`},
		`a\046b`: {`a\.b.`, "a046b."}, `a\300b`: {"", "a300b."}, `a\`: {"", `a\\.`}, `a\2`: {"", "a2."},
		strings.Repeat("a", 63): {strings.Repeat("a", 63) + ".", strings.Repeat("a", 63) + "."}, strings.Repeat("a", 64): {"", ""},
		long + "bcd":    {long + "bcd.", long + "bcd."},
		long + "bcdef":  {long + "bcdef.", ""},
		long + "bcdefg": {"", ""},
	} {
		for i, f := range []features{{}, {old: true}} {
			labels, ok := f.split(name)
			got := ""
			if ok {
				got = resolver.JoinLabels(labels)
			}
			if got != want[i] {
				t.Errorf("%.60q, old %t: %q, want %q", name, f.old, got, want[i])
			}
		}
	}
}

func TestSortAddresses(t *testing.T) {
	sys := resolver.System{SourceFor: func(dst netip.Addr) netip.Addr {
		switch {
		case dst.Is4() && dst.String() != "192.0.2.9":
			return netip.MustParseAddr("10.0.0.5")
		case netip.MustParsePrefix("2001:db8::/32").Contains(dst):
			return netip.MustParseAddr("2001:db8:1::5")
		}
		return netip.Addr{}
	}}
	var in []netip.Addr
	for _, text := range []string{"192.0.2.9", "fd00::1", "::", "192.0.2.1", "2001:db8:9::1", "2001:db8:1::1"} {
		in = append(in, netip.MustParseAddr(text))
	}
	want := "[2001:db8:1::1 2001:db8:9::1 192.0.2.1 :: 192.0.2.9 fd00::1]"
	var got []string
	for _, a := range sortAddresses(in, &sys) {
		got = append(got, a.String())
	}
	if text := "[" + strings.Join(got, " ") + "]"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

func TestContextEndsACall(t *testing.T) {
	m := newModel(t, "1.34", settings(one), "- - - - - drop")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.r.Resolve(ctx, m.net, resolver.Request{Host: "x.", Family: resolver.Unspec}, func(probe.Event) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
