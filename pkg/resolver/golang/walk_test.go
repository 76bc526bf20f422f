package golang

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

const both = "a:192.0.2.1 aaaa:2001:db8::1"

// TestWalk: what becomes of one candidate's two queries.
func TestWalk(t *testing.T) {
	const one, two = "nameserver 127.0.0.2\n", "nameserver 127.0.0.2\nnameserver 127.0.0.3\n"
	for _, c := range []struct {
		name, version, conf string
		rules               []string
		want                string
	}{
		{"both", "", one, []string{"x - - - - " + both}, "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1"},
		{"no data of one type", "", one, []string{"x - - - - a:192.0.2.1"}, "A x. 2; AAAA x. 2; ok 192.0.2.1"},
		{"no data at all", "", one, []string{"x - - - - nodata"}, "A x. 2; AAAA x. 2; nodata (no such host)"},
		{"no such name", "", two, nil, "A x. 2; AAAA x. 2; nxdomain (no such host)"},
		{"an alias without target", "", two, []string{"x - - - - cname:y"}, "A x. 2; AAAA x. 2; nodata (no such host)"},
		{"servfail", "", two, []string{"x - 2 - - servfail", "x - - - - " + both}, "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{"servfail for one type", "", two, []string{"x AAAA 2 - - servfail", "x - - - - " + both}, "A x. 2; AAAA x. 2; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{"servfail everywhere", "", one, []string{"x - - - - servfail"}, "A x. 2; AAAA x. 2; A x. 2; AAAA x. 2; again (server misbehaving)"},
		{"formerr", "", one, []string{"x - - - - formerr"}, "A x. 2; AAAA x. 2; A x. 2; AAAA x. 2; fail (server misbehaving)"},
		{"refused, notimp", "", two, []string{"x - 2 - - refused", "x - 3 - - notimp"}, "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; again (server misbehaving)"},
		{"lame", "", two, []string{"x - 2 - - lame", "x - - - - " + both}, "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{"lame everywhere", "", one, []string{"x - - - - lame"}, "A x. 2; AAAA x. 2; A x. 2; AAAA x. 2; again (lame referral)"},
		{
			"strange messages are passed over", "", one + "options timeout:1 attempts:1\n",
			[]string{"x A - - - " + both + " badid", "x AAAA - - - " + both + " badquestion"},
			"A x. 2; AAAA x. 2; again (i/o timeout) in 1s",
		},
		{"a bare header is no reply", "", one + "options timeout:1 attempts:1\n", []string{"x - - - - refused header"}, "A x. 2; AAAA x. 2; again (i/o timeout) in 1s"},
		{
			"each walks for itself", "", two + "options timeout:1\n",
			[]string{"x A 2 - - drop", "x - - - - " + both},
			"A x. 2; AAAA x. 2; A x. 3@1s; ok 2001:db8::1 192.0.2.1 in 1s",
		},
		{"nobody at the port", "", "nameserver 127.0.0.9\nnameserver 127.0.0.3\n", []string{"x - - - - " + both}, "A x. 9; AAAA x. 9; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{
			"single-request", "", one + "options single-request\n",
			[]string{"x A - - - a:192.0.2.1 delay:10", "x AAAA - - - aaaa:2001:db8::1 delay:20"},
			"A x. 2; AAAA x. 2@10ms; ok 192.0.2.1 2001:db8::1 in 30ms",
		},
		{"truncated", "", one, []string{"x A - udp - tc", "x - - - - " + both}, "A x. 2; AAAA x. 2; A x. 2/tcp; ok 2001:db8::1 192.0.2.1"},
		{"truncated over tcp, too", "", one, []string{"x A - udp - tc", "x A - tcp - a:192.0.2.1 tc", "x - - - - " + both}, "A x. 2; AAAA x. 2; A x. 2/tcp; ok 2001:db8::1 192.0.2.1"},
		{
			"truncated over tcp before 1.23", "1.22.12", one + "options attempts:1\n",
			[]string{"x - - udp - tc", "x - - tcp - a:192.0.2.1 tc"},
			"A x. 2; AAAA x. 2; A x. 2/tcp; AAAA x. 2/tcp; fail (no answer from DNS server)",
		},
		{"use-vc", "", one + "options use-vc\n", []string{"x - - - - " + both}, "A x. 2/tcp; AAAA x. 2/tcp; ok 192.0.2.1 2001:db8::1"},
		{"tcp that stays silent", "", one + "options use-vc timeout:2 attempts:1\n", []string{"x - - - - drop"}, "A x. 2/tcp; AAAA x. 2/tcp; again (i/o timeout) in 2s"},
		{
			"a whole timeout for each transport", "", one + "options timeout:2 attempts:1\n",
			[]string{"x A - udp - tc delay:1.5s", "x A - tcp - drop", "x - - - - nodata"},
			"A x. 2; AAAA x. 2; A x. 2/tcp@1.5s; nodata (no such host) in 3.5s",
		},
		{"tcp closed", "", one + "options use-vc attempts:1\n", []string{"x - - - - drop close"}, "A x. 2/tcp; AAAA x. 2/tcp; again (EOF)"},
		{"tcp reset", "", one + "options use-vc attempts:1\n", []string{"x - - - - reset"}, "A x. 2/tcp; AAAA x. 2/tcp; again (connection reset by peer)"},
		{"a strange id over tcp", "", one + "options use-vc attempts:1\n", []string{"x - - - - " + both + " badid"}, "A x. 2/tcp; AAAA x. 2/tcp; fail (invalid DNS response)"},
		{"a bare header over tcp", "", one + "options use-vc attempts:1\n", []string{"x - - - - header"}, "A x. 2/tcp; AAAA x. 2/tcp; fail (cannot unmarshal DNS message)"},
		{
			"rotate goes on with every query", "", two + "options rotate\n",
			[]string{"x A 2 - - servfail", "x - - - - " + both},
			"A x. 2; AAAA x. 3; A x. 3; ok 2001:db8::1 192.0.2.1",
		},
	} {
		t.Run(c.name, func(t *testing.T) { newModel(t, c.version, settings(c.conf), c.rules...).want("x.", c.want) })
	}
}

func TestWalkSendsWhatTheReleaseSends(t *testing.T) {
	for _, c := range []struct {
		version, godebug, conf string
		edns                   uint16
		ad                     bool
	}{
		{"1.26.8", "", "", 1232, false},
		{"", "", "options edns0 trust-ad\n", 1232, true},
		{"1.19.8", "", "options trust-ad\n", 1232, false},
		{"1.18.10", "", "", 0, false},
		{"1.26.8", "netedns0=0", "", 0, false},
		{"1.26.8", "netedns0=0,netedns0=1", "", 1232, false},
		{"1.22.5", "http2client=0,netedns0=0", "", 0, false},
		{"1.22.4", "netedns0=0", "", 1232, false},
		{"1.21.12", "netedns0=0", "", 0, false},
		{"1.21", "netedns0=0", "", 1232, false},
		{"nonsense", "", "", 1232, false},
	} {
		sys := settings("nameserver 127.0.0.2\n" + c.conf)
		sys.Env = map[string]string{"GODEBUG": c.godebug}
		m := newModel(t, c.version, sys)
		n := &watched{Network: m.Net}
		if _, err := m.r.Resolve(context.Background(), n, resolver.Request{Host: "x.", Family: resolver.Unspec}, func(probe.Event) {}); err != nil {
			t.Fatal(err)
		}
		if len(n.queries) != 2 || n.queries[0].ID == n.queries[1].ID {
			t.Fatalf("%+v: %+v", c, n.queries)
		}
		for _, q := range n.queries {
			if q.EDNSSize != c.edns || q.AD != c.ad {
				t.Errorf("%+v: sent %+v", c, q)
			}
		}
	}
}

// watched keeps what is sent, and can fail.
type watched struct {
	*simnet.Network
	queries []resolver.Query
	openErr error
	sendErr error
}

func (n *watched) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	if n.openErr != nil && n.opened(server) {
		return 0, n.openErr
	}
	return n.Network.Open(t, server, o)
}

// opened reports whether the server is the one that cannot be reached.
func (n *watched) opened(server netip.AddrPort) bool {
	return strings.HasPrefix(server.String(), "127.0.0.2:")
}

func (n *watched) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	if n.sendErr != nil && n.opened(to) {
		return n.sendErr
	}
	n.queries = append(n.queries, queries...)
	return n.Network.Send(s, to, queries...)
}

// TestWalkWithoutARoute: errors that a program in the pod would see lead to the next server, others end the resolution.
func TestWalkWithoutARoute(t *testing.T) {
	own := errors.New("no more descriptors")
	for _, c := range []struct {
		open, send, fails error
	}{
		{open: resolver.ErrUnreachable}, {send: resolver.ErrUnreachable}, {send: resolver.ErrRefused}, {open: own, fails: own},
	} {
		m := newModel(t, "", settings("nameserver 127.0.0.2\nnameserver 127.0.0.3\n"), "x - - - - "+both)
		n := &watched{Network: m.Net, openErr: c.open, sendErr: c.send}
		notes := 0
		res, err := m.r.Resolve(context.Background(), n, resolver.Request{Host: "x.", Family: resolver.Unspec}, func(ev probe.Event) {
			if ev.Kind == probe.KindNote {
				notes++
			}
		})
		if !errors.Is(err, c.fails) || c.fails == nil && (res.Outcome != probe.OK || notes != 2) {
			t.Errorf("%+v: %+v, %v, %d notes", c, res, err, notes)
		}
	}
}

func TestWalkEndsWithItsContext(t *testing.T) {
	m := newModel(t, "", settings("nameserver 127.0.0.2\n"), "x - - - - drop")
	ctx, cancel := context.WithCancel(context.Background())
	_, err := m.r.Resolve(ctx, m.Net, resolver.Request{Host: "x.", Family: resolver.Unspec}, func(ev probe.Event) {
		if ev.Kind == probe.KindSent {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestCutReplies: what does not fit the buffer is not read, and the rest counts.
func TestCutReplies(t *testing.T) {
	for _, c := range []struct {
		version string
		pad     string
		want    int
	}{
		{"1.26.8", "pad:60", 60}, {"1.26.8", "pad:70", 70}, {"1.26.8", "pad:200", 75}, {"1.18.10", "pad:60", 30},
	} {
		m := newModel(t, c.version, settings("nameserver 127.0.0.2\n"), "x.y A - - - "+c.pad)
		got := m.ask("x.y.", resolver.Inet)
		if n := strings.Count(got, " 10.9."); n != c.want {
			t.Errorf("%s %s: %d addresses, want %d", c.version, c.pad, n, c.want)
		}
	}
}

// TestJudge: replies that no modelled server sends.
func TestJudge(t *testing.T) {
	addr := netip.MustParseAddr("192.0.2.1")
	a := resolver.Record{Name: "other.", Type: resolver.TypeA, Class: 3, Addr: addr}
	for _, c := range []struct {
		name, version string
		reply         resolver.Reply
		// again tells that the next server is asked.
		again bool
		text  string
		found int
	}{
		{"the owner and the class of a record mean nothing", "", resolver.Reply{RA: true, ANCount: 1, Answers: []resolver.Record{a}}, false, "", 1},
		{"an rcode in the OPT record", "", resolver.Reply{RA: true, RcodeHigh: 1, EDNS: true, ARCount: 1}, true, textMisbehaving, 0},
		{"an rcode in the OPT record before 1.22", "1.21.13", resolver.Reply{RA: true, RcodeHigh: 1, EDNS: true, ARCount: 1}, false, textNotFound, 0},
		{"not lame for its OPT record", "", resolver.Reply{EDNS: true, ARCount: 1}, false, textNotFound, 0},
		{"lame in spite of it before 1.23", "1.22.12", resolver.Reply{EDNS: true, ARCount: 1}, true, textLame, 0},
		{"nothing can be read", "", resolver.Reply{RA: true, ANCount: 1, Malformed: errCut}, true, textUnmarshal, 0},
		{
			"the record that counts cannot be read", "",
			resolver.Reply{RA: true, ANCount: 2, Malformed: errCut, Answers: []resolver.Record{{Type: resolver.TypeCNAME}}},
			true, textUnmarshal, 0,
		},
		{"an address that cannot be read", "", resolver.Reply{RA: true, ANCount: 1, Answers: []resolver.Record{{Type: resolver.TypeA}}}, false, textUnmarshal, 0},
		{
			"addresses of both families", "",
			resolver.Reply{RA: true, ANCount: 2, Answers: []resolver.Record{a, {Type: resolver.TypeAAAA, Addr: netip.IPv6Loopback()}}},
			false, "", 2,
		},
		{
			"but none before the first of the type asked for", "",
			resolver.Reply{RA: true, ANCount: 2, Answers: []resolver.Record{{Type: resolver.TypeAAAA, Addr: netip.IPv6Loopback()}, a}},
			false, "", 1,
		},
	} {
		w := &walk{call: &call{r: New(c.version, resolver.System{})}, ref: probe.Ref{Type: probe.TypeA}}
		bad := w.judge(&c.reply)
		text := ""
		if f := cmp.Or(bad, w.failure); f != nil {
			text = f.text
		}
		if (bad != nil) != c.again || text != c.text || len(w.addresses) != c.found {
			t.Errorf("%s: next server %v, %q, %v", c.name, bad != nil, text, w.addresses)
		}
	}
}
