package glibc

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

const (
	ns1 = "nameserver 127.0.0.2\noptions timeout:1\n"
	ns2 = "nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions timeout:1\n"
)

// TestSend: what comes of one name; the wanted lines were checked against the real library.
func TestSend(t *testing.T) {
	const both = "* - - - - a:192.0.2.1 aaaa:2001:db8::1"
	for _, c := range []struct {
		name, conf string
		rules      []string
		req        resolver.Request
		want       string
	}{
		{"one half rejected", ns2, []string{"* AAAA 2 - - servfail", both}, host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1"},
		{"the first half rejected", ns2, []string{"* A 2 - - servfail", "* AAAA 2 - - nodata", both}, host("x."), "A x. 2; AAAA x. 2; EAI_NODATA"},
		{"both rejected", ns2, []string{"* - 2 - - servfail", both}, host("x."), "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{
			"rejected and silent", ns2,
			[]string{"* A 2 - - servfail", "* AAAA 2 - - drop", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 3@1s; AAAA x. 3@1s; ok 192.0.2.1 2001:db8::1 in 1s",
		},
		{"lame", ns2, []string{"* - 2 - - lame", both}, host("x."), "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{"a bare header", ns2, []string{"* - 2 - - refused header", both}, host("x."), "A x. 2; AAAA x. 2; A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{
			"a bare header without an error", ns2,
			[]string{"* - 2 - - nodata header", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 3@1s; AAAA x. 3@1s; ok 192.0.2.1 2001:db8::1 in 1s",
		},
		{"a closed port", "nameserver 127.0.0.9\n" + ns1, []string{both}, host("x."), "A x. 9; AAAA x. 9; A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1"},
		{
			"a lost AAAA", ns2,
			[]string{"* AAAA 2 - - drop", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2@1s; AAAA x. 2@1s; A x. 2@2s; AAAA x. 2@2s; ok 192.0.2.1 in 3s",
		},
		{"a lost A", ns1, []string{"* A - - - drop", both}, host("x."), "A x. 2; AAAA x. 2; A x. 2@1s; A x. 2@2s; EAI_AGAIN in 3s"},
		{"single-request", ns1 + "options single-request\n", []string{both}, host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1"},
		{
			"single-request shares the slot's time", ns1 + "options single-request\n",
			[]string{"* A - - - a:192.0.2.1 delay:600", "* AAAA - - - aaaa:2001:db8::1 delay:600"},
			host("x."),
			"A x. 2; AAAA x. 2@600ms; A x. 2@1s; AAAA x. 2@1.6s; ok 192.0.2.1 in 2s",
		},
		{
			"single-request and a lost AAAA", ns1 + "options single-request\n",
			[]string{"* AAAA - - - drop", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2@1s; AAAA x. 2@1s; ok 192.0.2.1 in 2s",
		},
		{
			"single-request-reopen and a lost AAAA", ns1 + "options single-request-reopen\n",
			[]string{"* AAAA - - - drop", both},
			host("x."),
			"A x. 2; AAAA x. 2; ok 192.0.2.1 in 1s",
		},
		{"single-request and a rejected A", ns1 + "options single-request\n", []string{"* A - - - servfail", both}, host("x."), "A x. 2; A x. 2; EAI_AGAIN"},
		{
			"a wrong id", ns1,
			[]string{"* A - - - a:192.0.2.1 badid", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2@1s; A x. 2@2s; EAI_AGAIN in 3s",
		},
		{"a wrong question", ns1 + "options attempts:1\n", []string{"* - - - - a:192.0.2.1 badquestion"}, host("x."), "A x. 2; AAAA x. 2; EAI_AGAIN in 1s"},
		{
			"a late reply", ns1,
			[]string{"* - - - - a:192.0.2.1 delay:1200"},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2@1s; AAAA x. 2@1s; ok 192.0.2.1 in 1.2s",
		},
		{
			"a reply that came while another server was asked", ns2,
			[]string{"* - 2 - - a:192.0.2.1 delay:1500", "* - 3 - - drop"},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 3@1s; AAAA x. 3@1s; A x. 2@2s; AAAA x. 2@2s; ok 192.0.2.1 in 2s",
		},
		{
			"slots of three servers", "nameserver 127.0.0.2\nnameserver 127.0.0.3\nnameserver 127.0.0.4\noptions attempts:1\n",
			[]string{"* - - - - drop"},
			host("x."), "A x. 2; AAAA x. 2; A x. 3@5s; AAAA x. 3@5s; A x. 4@8s; AAAA x. 4@8s; EAI_AGAIN in 14s",
		},
		{"truncated", ns1, []string{"* A - udp - tc", both}, host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; AAAA x. 2/tcp; ok 192.0.2.1 2001:db8::1"},
		{
			"truncated, the other half lost", ns1,
			[]string{"* A - udp - tc", "* AAAA - udp - drop", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2/tcp; AAAA x. 2/tcp; ok 192.0.2.1 2001:db8::1",
		},
		{
			"truncated, then the next server over tcp", ns2,
			[]string{"* - 2 udp - tc", "* - 2 tcp - drop close", both},
			host("x."),
			"A x. 2; AAAA x. 2; A x. 2/tcp; AAAA x. 2/tcp; A x. 3/tcp; AAAA x. 3/tcp; ok 192.0.2.1 2001:db8::1",
		},
		{"use-vc: an error is final", ns2 + "options use-vc\n", []string{"* - 2 - - servfail", both}, host("x."), "A x. 2/tcp; AAAA x. 2/tcp; EAI_AGAIN"},
		{
			"use-vc: a port that is closed", "nameserver 127.0.0.9\n" + ns1 + "options use-vc\n",
			[]string{both},
			host("x."),
			"A x. 2/tcp; AAAA x. 2/tcp; ok 192.0.2.1 2001:db8::1",
		},
		{
			"use-vc: reset twice", ns1 + "options use-vc\n",
			[]string{"* - - - - reset"},
			host("x."),
			"A x. 2/tcp; AAAA x. 2/tcp; A x. 2/tcp; AAAA x. 2/tcp; EAI_AGAIN",
		},
		{
			"use-vc: closed behind one answer", ns1 + "options use-vc\n",
			[]string{"* A - - - a:192.0.2.1 close"},
			host("x."),
			"A x. 2/tcp; AAAA x. 2/tcp; EAI_AGAIN",
		},
		{"use-vc: silence", ns1 + "options use-vc\n", []string{"* - - - - drop"}, host("x."), "A x. 2/tcp; AAAA x. 2/tcp; fail"},
		{
			"use-vc, IPv4 alone: a closed connection is no temporary failure", ns1 + "options use-vc\n",
			[]string{"* - - - - drop close"},
			resolver.Request{Host: "x.", Family: "inet"},
			"A x. 2/tcp; EAI_NONAME",
		},
		{"edns0 formerr is final", ns2 + "options edns0\n", []string{"* - 2 - - formerr", both}, host("x."), "A x. 2; AAAA x. 2; EAI_NONAME"},
		{"no-aaaa", ns1 + "options no-aaaa\n", []string{both}, host("x."), "A x. 2; ok 192.0.2.1"},
		{"no-aaaa and IPv6", ns1 + "options no-aaaa\n", []string{both}, resolver.Request{Host: "x.", Family: "inet6"}, "A x. 2; EAI_NODATA"},
		{
			"no-aaaa, IPv6, nobody answers", ns1 + "options no-aaaa attempts:1\n",
			[]string{"* - - - - drop"},
			resolver.Request{Host: "x.", Family: "inet6"},
			"A x. 2; EAI_NODATA in 1s",
		},
		{
			"no-aaaa, IPv6, an error", ns1 + "options no-aaaa\n",
			[]string{"* - - - - servfail"},
			resolver.Request{Host: "x.", Family: "inet6"},
			"A x. 2; A x. 2; EAI_AGAIN",
		},
		{"IPv4 alone: an alias without target", ns1, []string{"* - - - - cname:y"}, resolver.Request{Host: "x.", Family: "inet"}, "A x. 2; EAI_NODATA"},
		{"IPv6 alone: an alias without target", ns1, []string{"* - - - - cname:y"}, resolver.Request{Host: "x.", Family: "inet6"}, "AAAA x. 2; EAI_NONAME"},
		{
			"mapped addresses", ns1,
			[]string{"* A - - - a:192.0.2.1", "* - - - - nodata"},
			resolver.Request{Host: "x.", Family: "inet6", V4Mapped: true},
			"AAAA x. 2; A x. 2; ok ::ffff:192.0.2.1",
		},
		{"canonical name", ns1, []string{"* - - - - cname:Y.test a:192.0.2.1"}, resolver.Request{Host: "x.", CanonName: true}, "A x. 2; AAAA x. 2; ok 192.0.2.1 (Y.test)"},
	} {
		t.Run(c.name, func(t *testing.T) { newModel(t, observedBuild, settings(c.conf), c.rules...).Want(c.req, c.want) })
	}
}

func TestHangIsSaid(t *testing.T) {
	m := newModel(t, observedBuild, settings(ns1+"options use-vc\n"), "* - - - - drop")
	m.Ask(host("x."))
	if !strings.Contains(m.Notes(), "the application hangs here") || m.Outcomes() != "x. timeout!" {
		t.Errorf("notes %q, outcomes %s", m.Notes(), m.Outcomes())
	}
}

func TestAbortIsSaid(t *testing.T) {
	long := strings.Repeat("x.", 127) + "xx"
	m := newModel(t, observedBuild, settings(ns1+"search "+long+"\n"))
	m.Want(host("x."), "fail")
	m.Want(host("10.1"), "ok 10.0.0.1")
	m = newModel(t, observedBuild, settings(ns1+"search "+long+"\n"))
	m.Want(host("x."), "fail")
	if !strings.Contains(m.Notes(), "the application crashes here") {
		t.Errorf("notes %q", m.Notes())
	}
}

// TestAddrConfig: only 127.0.0.1 and ::1 do not count.
func TestAddrConfig(t *testing.T) {
	for own, want := range map[string][3]string{
		"127.0.0.1 ::1":                   {"A x. 2; AAAA x. 2; ok", "EAI_NONAME", "EAI_NONAME"},
		"127.0.0.1 10.9.9.9":              {"A x. 2; ok", "A x. 2; ok", "EAI_NONAME"},
		"127.0.0.1 ::1 10.9.9.9 fe80::9":  {"A x. 2; AAAA x. 2; ok", "A x. 2; ok", "AAAA x. 2; ok"},
		"::1 fd00::1":                     {"AAAA x. 2; ok", "EAI_NONAME", "AAAA x. 2; ok"},
		"127.0.0.2":                       {"A x. 2; ok", "A x. 2; ok", "EAI_NONAME"},
		"":                                {"A x. 2; AAAA x. 2; ok", "A x. 2; ok", "AAAA x. 2; ok"},
		"127.0.0.1 10.9.9.9 fe80::9%eth0": {"A x. 2; AAAA x. 2; ok", "A x. 2; ok", "AAAA x. 2; ok"},
	} {
		sys := settings(ns1)
		sys.Addresses = addrs(own)
		for i, family := range []resolver.Family{resolver.Unspec, resolver.Inet, resolver.Inet6} {
			got := newModel(t, observedBuild, sys, "* - - - - a:192.0.2.1 aaaa:2001:db8::1").
				Ask(resolver.Request{Host: "x.", Family: family, AddrConfig: true})
			if at := strings.Index(got, "ok"); at >= 0 {
				got = got[:at+2]
			}
			if got != want[i] {
				t.Errorf("own addresses %q, %s: %s, want %s", own, family, got, want[i])
			}
		}
	}
}

func TestRotate(t *testing.T) {
	m := newModel(t, observedBuild, settings("nameserver 127.0.0.2\nnameserver 127.0.0.3\nnameserver 127.0.0.4\noptions rotate\n"), "* - - - - a:192.0.2.1")
	var last, first int
	for i := range 7 {
		var server int
		if _, err := fmt.Sscanf(m.Ask(host("x.")), "A x. %d;", &server); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = server
		} else if server != 2+(last-1)%3 {
			t.Errorf("call %d asked server %d after %d", i+1, server, last)
		}
		last = server
	}
	if first < 2 || first > 4 {
		t.Errorf("first server %d", first)
	}
}

// scripted is a Network whose events a test writes by hand.
type scripted struct {
	now     time.Time
	openErr error
	sendErr error
	// events come at their time, to the socket of that number.
	events []resolver.Event
	// ctxErr is returned by Poll once the events are used up.
	ctxErr error
	opened int
	sent   []resolver.Query
	ids    uint16
}

func (s *scripted) Now() time.Time { return s.now }
func (s *scripted) Open(probe.Transport, netip.AddrPort, resolver.OpenOptions) (resolver.Socket, error) {
	s.opened++
	return resolver.Socket(s.opened), s.openErr
}

func (s *scripted) Send(_ resolver.Socket, _ netip.AddrPort, queries ...resolver.Query) error {
	if s.sendErr == nil {
		s.sent = append(s.sent, queries...)
	}
	return s.sendErr
}

func (s *scripted) Poll(deadline time.Time) (resolver.Event, error) {
	if len(s.events) > 0 && (deadline.IsZero() || !s.events[0].At.After(deadline)) {
		ev := s.events[0]
		s.events = s.events[1:]
		if ev.At.After(s.now) {
			s.now = ev.At
		}
		return ev, nil
	}
	if s.ctxErr != nil {
		return resolver.Event{}, s.ctxErr
	}
	s.now = deadline
	return resolver.Event{Kind: resolver.EventDeadline, At: deadline}, nil
}
func (s *scripted) LocalPort(resolver.Socket) uint16 { return 40000 }
func (s *scripted) Close(resolver.Socket)            {}
func (s *scripted) Random16() uint16                 { s.ids++; return s.ids }

func run(t *testing.T, s *scripted, conf string) (resolver.Result, []probe.Event, error) {
	t.Helper()
	s.now = time.Unix(1000, 0)
	for i := range s.events {
		s.events[i].At = s.now.Add(s.events[i].At.Sub(time.Time{}))
	}
	var events []probe.Event
	res, err := New(observedBuild, settings(conf)).Resolve(context.Background(), s, resolver.Request{Host: "x.", Family: resolver.Unspec},
		func(ev probe.Event) { events = append(events, ev) })
	return res, events, err
}

func kinds(events []probe.Event) string {
	var words []string
	for _, ev := range events {
		word := string(ev.Kind)
		if ev.Lost != nil {
			word += "(" + ev.Lost.Reason + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// after is a time since the start of a scripted run.
func after(d time.Duration) time.Time { return time.Time{}.Add(d) }

func TestContextEnds(t *testing.T) {
	s := &scripted{ctxErr: context.DeadlineExceeded}
	_, events, err := run(t, s, ns1)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if got := kinds(events); got != "attempt sent sent lost(lost) lost(lost)" {
		t.Errorf("events %s", got)
	}
	// The context of the call counts also where the network does not look at it.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = New(observedBuild, settings(ns1)).Resolve(ctx, &scripted{now: time.Unix(1, 0)}, resolver.Request{Host: "x", Family: resolver.Unspec}, func(probe.Event) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestNoSocket(t *testing.T) {
	denied := errors.New("operation not permitted")
	_, events, err := run(t, &scripted{openErr: denied}, ns1)
	if !errors.Is(err, denied) || kinds(events) != "attempt" {
		t.Errorf("error %v, events %s", err, kinds(events))
	}
	// connect() fails: every server is tried. There is no such family: none is.
	for openErr, tries := range map[error]int{resolver.ErrUnreachable: 4, syscall.EADDRNOTAVAIL: 4, syscall.EAFNOSUPPORT: 1} {
		s := &scripted{openErr: fmt.Errorf("open: %w", openErr)}
		res, events, err := run(t, s, ns2)
		if err != nil || res.Code != "EAI_AGAIN" || len(s.sent) != 0 || s.opened != tries || !strings.HasSuffix(kinds(events), "attempt-ended ended") {
			t.Errorf("%v: %+v %v after %d sockets, events %s", openErr, res, err, s.opened, kinds(events))
		}
		s = &scripted{openErr: openErr}
		res, _, err = run(t, s, ns2+"options use-vc\n")
		if err != nil || res.Code != "EAI_AGAIN" || s.opened != (tries+1)/2 {
			t.Errorf("%v over tcp: %+v %v after %d sockets", openErr, res, err, s.opened)
		}
	}
}

func TestSendFails(t *testing.T) {
	s := &scripted{sendErr: errors.New("operation not permitted")}
	res, events, err := run(t, s, ns2)
	if err != nil || res.Code != "EAI_AGAIN" || s.opened != 4 || strings.Contains(kinds(events), "sent") {
		t.Errorf("%+v %v after %d sockets, events %s", res, err, s.opened, kinds(events))
	}
}

// TestLateICMP: an error that arrives while another server is waited for makes the next send on that socket fail.
func TestLateICMP(t *testing.T) {
	s := &scripted{events: []resolver.Event{
		{Kind: resolver.EventError, Socket: 1, Err: resolver.ErrUnreachable, At: after(1500 * time.Millisecond)},
	}}
	res, events, err := run(t, s, ns2)
	if err != nil || res.Code != "EAI_AGAIN" {
		t.Errorf("%+v %v", res, err)
	}
	// Server 1, server 2, then nothing to server 1, then server 2 on a new socket.
	if len(s.sent) != 6 || s.opened != 3 {
		t.Errorf("%d messages on %d sockets, want 6 on 3: %s", len(s.sent), s.opened, kinds(events))
	}
}

// TestReplyReadLater: a reply keeps the time at which it arrived, and no transmission sent after it is taken for its cause.
func TestReplyReadLater(t *testing.T) {
	m := newModel(t, observedBuild, settings(ns2), "* - 2 - - a:192.0.2.1 delay:1500", "* - 3 - - drop")
	m.Ask(host("x."))
	for _, q := range m.Trace().Attempts[0].Queries {
		var got []string
		for _, tr := range q.Transmissions {
			received := "-"
			if tr.Received != nil {
				received = tr.Received.Duration().String()
			}
			got = append(got, fmt.Sprintf("%s %s %s", tr.Sent.Duration(), tr.Reply, received))
		}
		if s := strings.Join(got, ", "); s != "0s NOERROR 1.5s, 1s lost -, 2s abandoned -" {
			t.Errorf("%s: %s", q.Type, s)
		}
	}
}

// FuzzResolve runs calls on worlds made of bytes: nothing may panic, and every trace must be whole.
func FuzzResolve(f *testing.F) {
	f.Add("nameserver 127.0.0.2\nsearch s.test\n", "x", "servfail", "drop", byte(0))
	f.Add("nameserver 127.0.0.2\noptions use-vc\n", "x.y", "a:192.0.2.1 badid", "cname:x close", byte(3))
	f.Add("options edns0 single-request rotate\nnameserver 127.0.0.3\nnameserver 127.0.0.2\n", "x", "tc", "reset", byte(5))
	f.Fuzz(func(t *testing.T, conf, name, first, second string, how byte) {
		w := &simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("127.0.0.2")}, {Addr: netip.MustParseAddr("127.0.0.3")}}}
		for i, text := range []string{first, second} {
			actions, err := simnet.ParseActions(strings.Fields(text))
			if err != nil {
				return
			}
			w.Rules = append(w.Rules, simnet.Rule{Type: []probe.QueryType{probe.TypeA, ""}[i], Do: actions})
		}
		if w.Check() != nil || strings.Count(conf, "\n") > 40 || len(conf) > 4096 {
			return
		}
		version := []string{"", "2.28", "2.35", "2.41"}[how&3]
		sys := settings(conf)
		sys.Hosts = name
		m := modelOn(t, simnet.New(context.Background(), w, simnet.Options{Seed: uint64(how)}), version, sys)
		m.Ask(resolver.Request{
			Host: name, Family: []resolver.Family{resolver.Unspec, resolver.Inet, resolver.Inet6}[how/4%3],
			CanonName: how&16 != 0, V4Mapped: how&32 != 0, AddrConfig: how&64 != 0,
		})
	})
}

// TestReplyBeforeItsTime: the clock of the kernel's timestamps may be a little behind.
func TestReplyBeforeItsTime(t *testing.T) {
	reply := func(id uint16, qtype uint16, at time.Duration) resolver.Event {
		return resolver.Event{Kind: resolver.EventReply, Socket: 1, At: after(at), Reply: resolver.Reply{
			Size: 20, ID: id, Response: true, RA: true, Rcode: resolver.RcodeNXDomain, QDCount: 1,
			Questions: []resolver.Question{{Name: "x.", Type: qtype, Class: resolver.ClassIN}},
		}}
	}
	s := &scripted{events: []resolver.Event{reply(1, resolver.TypeA, -time.Millisecond), reply(2, resolver.TypeAAAA, 0)}}
	res, events, err := run(t, s, ns1)
	if err != nil || res.Code != "EAI_NONAME" {
		t.Fatalf("%+v %v", res, err)
	}
	checkTrace(t, "early reply", resolvertest.CheckEvents(t, probe.Glibc, "early reply", events, res))
	for _, ev := range events {
		if ev.Kind == probe.KindLost {
			t.Errorf("%+v", ev.Lost)
		}
	}
}
