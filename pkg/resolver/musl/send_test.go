package musl

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestHalfAPair(t *testing.T) {
	half := []string{"x A - - - a:192.0.2.1", "x AAAA - - - drop"}
	newModel(t, latest, settings(ns1), half...).Want(host("x."), "A x. 2; AAAA x. 2; AAAA x. 2@2.5s; EAI_AGAIN in 5.01s")
	newModel(t, "1.2.1", settings(ns1), half...).Want(host("x."), "A x. 2; AAAA x. 2; AAAA x. 2@2.5s; EAI_AGAIN in 5.01s")
	newModel(t, old, settings(ns1), half...).Want(host("x."), "A x. 2; AAAA x. 2; AAAA x. 2@2.5s; ok 192.0.2.1 in 5.01s")
	negative := []string{"x A - - - a:192.0.2.1", "x AAAA - - - nx"}
	newModel(t, latest, settings(ns1), negative...).Want(host("x."), "A x. 2; AAAA x. 2; EAI_NONAME")
	newModel(t, old, settings(ns1), negative...).Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1")
}

func TestServFailIsRetriedWithinABudget(t *testing.T) {
	m := newModel(t, latest, settings(ns1+"options timeout:1\n"), "x A - - - servfail", "x AAAA - - - aaaa:2001:db8::1")
	again := "; A x. 2; A x. 2; A x. 2; A x. 2"
	m.Want(host("x."), "A x. 2; AAAA x. 2"+again+"; A x. 2@500ms"+strings.ReplaceAll(again, "2;", "2@500ms;")+"@500ms; EAI_AGAIN in 1s")
	r := m.Trace()
	if a := r.Attempts[0]; a.Outcome != probe.ServFail || a.Queries[0].Rcode != "SERVFAIL" || a.Queries[1].Transmissions[0].Use != probe.UseAccepted {
		t.Errorf("%+v", a)
	}
}

func TestOtherErrorsAreDropped(t *testing.T) {
	for word, outcome := range map[string]probe.Outcome{"refused": probe.Refused, "formerr": probe.FormErr, "notimp": probe.NotImp, "rcode:9": probe.Fail} {
		m := newModel(t, latest, settings(ns1+"options timeout:1 attempts:1\n"), "* - - - - "+word)
		m.Want(host("x."), "A x. 2; AAAA x. 2; EAI_AGAIN in 1s")
		if a := m.Trace().Attempts[0]; a.Outcome != outcome || a.Queries[0].Transmissions[0].Use != probe.UseRejected {
			t.Errorf("%s: %+v", word, a)
		}
	}
}

func TestAllServersAreAsked(t *testing.T) {
	m := newModel(t, latest, settings(ns2), "x - 2 - - drop", "x - 3 - - a:192.0.2.1 aaaa:2001:db8::1 delay:3s")
	m.Want(host("x."), "A x. 2; A x. 3; AAAA x. 2; AAAA x. 3; A x. 2@2.5s; A x. 3@2.5s; AAAA x. 2@2.5s; AAAA x. 3@2.5s; ok 2001:db8::1 192.0.2.1 in 3s")
	replies := map[string]string{}
	for _, tr := range m.Trace().Attempts[0].Queries[0].Transmissions {
		replies[fmt.Sprintf("%s %d", tr.Server, tr.Try)] = tr.Reply
	}
	want := "map[127.0.0.2:53 1:lost 127.0.0.2:53 3:abandoned 127.0.0.3:53 2:lost 127.0.0.3:53 4:NOERROR]"
	if got := fmt.Sprint(replies); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sockets := m.Trace().Attempts[0].Queries[1].Transmissions[3].Socket; sockets != 1 {
		t.Errorf("socket %d", sockets)
	}
}

func TestSpuriousReplies(t *testing.T) {
	sys := settings(ns1 + "options timeout:1 attempts:1\n")
	newModel(t, latest, sys, "* - - - - a:192.0.2.1 aaaa:2001:db8::1 badid").Want(host("x."), "A x. 2; AAAA x. 2; EAI_AGAIN in 1s")
	// The question is not looked at.
	newModel(t, latest, sys, "* - - - - a:192.0.2.1 aaaa:2001:db8::1 badquestion").Want(host("x."), "A x. 2; AAAA x. 2; ok 2001:db8::1 192.0.2.1")
	// A bare header is an empty answer.
	newModel(t, latest, sys, "* - - - - header").Want(host("x."), "A x. 2; AAAA x. 2; EAI_NODATA")
}

func TestNumbersThatSendNothing(t *testing.T) {
	m := newModel(t, latest, settings(ns1+"options timeout:0\n"))
	m.Want(host("x."), "EAI_AGAIN")
	if a := m.Trace().Attempts[0]; a.Outcome != probe.Unsent || !strings.Contains(m.Notes(), "timeout:0") {
		t.Errorf("%+v, notes %s", a, m.Notes())
	}
	m = newModel(t, latest, settings(ns1+"options attempts:0\n"))
	m.Want(host("x."), "fail")
	if r := m.Trace(); r.Code != "" || !strings.Contains(m.Notes(), "SIGFPE") {
		t.Errorf("%+v", r)
	}
	m.Want(host("10.1"), "ok 10.0.0.1")
}

// Where the rounds do not add up to the timeout, the lateness of poll keeps another one from fitting in. Tried with 1.2.3; with
// timeout:1 and 6 or 7 attempts, where 4 and 6 ms are missing, that depends on how busy the machine is.
func TestRounds(t *testing.T) {
	for options, rounds := range map[string]int{
		"timeout:1 attempts:3": 3, "timeout:1 attempts:9": 9, "timeout:2 attempts:3": 3, "timeout:5 attempts:9": 9, "timeout:5 attempts:3": 3,
		"timeout:1 attempts:10": 10, "timeout:60 attempts:1": 1,
	} {
		m := newModel(t, latest, settings(ns1+"options "+options+"\n"), "* - - - - drop")
		m.Ask(resolver.Request{Host: "x.", Family: resolver.Inet})
		if sent := m.Trace().TransmissionsSent; sent != rounds {
			t.Errorf("%s: %d rounds, want %d", options, sent, rounds)
		}
	}
}

func TestTCP(t *testing.T) {
	sys := settings(ns1 + "options timeout:1\n")
	answer := "* - - tcp - a:192.0.2.1 aaaa:2001:db8::1"
	cut := "* A - udp - tc"
	rest := "* AAAA - udp - aaaa:2001:db8::2"
	newModel(t, latest, sys, cut, rest, answer).Want(host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; ok 2001:db8::2 192.0.2.1")
	newModel(t, middle, sys, cut, rest, answer).Want(host("x."), "A x. 2; AAAA x. 2; ok 2001:db8::2")
	newModel(t, latest, sys, cut, rest, "* - - tcp - drop").Want(host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; EAI_AGAIN in 1s")
	for word, outcome := range map[string]probe.Outcome{
		"servfail": probe.ServFail, "refused": probe.Refused, "reset": probe.Unreachable, "close drop": probe.Unreachable,
	} {
		m := newModel(t, latest, sys, cut, rest, "* - - tcp - "+word)
		m.Want(host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; EAI_AGAIN")
		if a := m.Trace().Attempts[0]; a.Outcome != outcome {
			t.Errorf("%s: %+v", word, a)
		}
	}
	// The id of what comes over TCP is not looked at.
	newModel(t, latest, sys, cut, rest, "* - - tcp - a:192.0.2.1 badid").Want(host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; ok 2001:db8::2 192.0.2.1")
	newModel(t, latest, sys, cut, rest, "* - - tcp - header").Want(host("x."), "A x. 2; AAAA x. 2; A x. 2/tcp; EAI_AGAIN")
	// The query that waits over UDP goes on: its reply comes late.
	newModel(t, latest, sys, cut, "* AAAA - udp - aaaa:2001:db8::2 delay:300", answer).Want(host("x."),
		"A x. 2; AAAA x. 2; A x. 2/tcp; ok 2001:db8::2 192.0.2.1 in 300ms")
	newModel(t, latest, sys, cut, "* AAAA - udp 1 drop", rest, answer).Want(host("x."),
		"A x. 2; AAAA x. 2; A x. 2/tcp; AAAA x. 2@500ms; ok 2001:db8::2 192.0.2.1 in 500ms")
}

func TestSizesOfReplies(t *testing.T) {
	inet := resolver.Request{Host: "x.y.", Family: resolver.Inet}
	counts := func(version, records string) string {
		m := newModel(t, version, settings(ns1), "* - - - - "+records)
		got := m.Ask(inet)
		addresses := len(m.Trace().Addresses)
		return fmt.Sprintf("%d sent, %d addresses%s", m.Trace().TransmissionsSent, addresses, map[bool]string{true: ", " + got[strings.LastIndex(got, ";")+2:]}[addresses == 0])
	}
	for _, c := range []struct{ version, records, want string }{
		{middle, "pad:30", "1 sent, 30 addresses"},
		{middle, "pad:60", "1 sent, 30 addresses"},
		{middle, "pad:63", "1 sent, 30 addresses"},
		{middle, "pad:64", "1 sent, 0 addresses, EAI_NONAME"},
		{"1.2.4", "pad:46", "1 sent, 46 addresses"},
		{"1.2.4", "pad:47", "2 sent, 46 addresses"},
		{"1.2.4", "pad:64", "2 sent, 0 addresses, EAI_NODATA"},
		{latest, "pad:64", "1 sent, 48 addresses"},
		{latest, "pad:298", "1 sent, 48 addresses"},
		{latest, "pad:299", "2 sent, 48 addresses"},
	} {
		if got := counts(c.version, c.records); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.version, c.records, got, c.want)
		}
	}
}

// The last record that reaches into the buffer of 512 bytes: whole, cut in its data, cut in its header.
func TestCutRecords(t *testing.T) {
	for _, c := range []struct {
		name, records, last string
		count               int
		note                bool
	}{
		// The records begin at byte 32, and the 30th ends with the buffer.
		{"abcdefghijklmn", "pad:60", "10.9.0.29", 30, false},
		// The 30th begins at byte 497 and ends at 513.
		{"abcdefghijklmno", "pad:60", "10.9.0.0", 30, true},
		// At 500: nothing of the address is left.
		{"abcdefghijklmnopqr", "pad:60", "0.0.0.0", 30, true},
		// At 501: its header is cut.
		{"abcdefghijklmnopqrs", "pad:60", "10.9.0.28", 29, false},
	} {
		m := newModel(t, middle, settings(ns1), "* - - - - "+c.records)
		m.Ask(resolver.Request{Host: c.name + ".", Family: resolver.Inet})
		got := m.Trace().Addresses
		if len(got) != c.count || got[len(got)-1] != c.last || strings.Contains(m.Notes(), CutNote) != c.note {
			t.Errorf("%s: %d addresses, the last %s; notes %s", c.name, len(got), got[len(got)-1], m.Notes())
		}
	}
	// An IPv6 address may lack up to ten bytes.
	m := newModel(t, middle, settings(ns1), "* - - - - pad6:40")
	m.Ask(resolver.Request{Host: "abcdefghijklmnopqrstuvwxyz.", Family: resolver.Inet6})
	if got := m.Trace().Addresses; len(got) != 17 || got[16] != "fd00:fd00:fd00:fd00::" {
		t.Errorf("%d addresses %v", len(got), got)
	}
}

// closedNetwork refuses sockets or sending.
type closedNetwork struct {
	resolver.Network
	open, send func(server netip.AddrPort) error
}

func (n *closedNetwork) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	if n.open != nil {
		if err := n.open(server); err != nil {
			return 0, err
		}
	}
	return n.Network.Open(t, server, o)
}

func (n *closedNetwork) Send(s resolver.Socket, to netip.AddrPort, q ...resolver.Query) error {
	if n.send != nil {
		if err := n.send(to); err != nil {
			return err
		}
	}
	return n.Network.Send(s, to, q...)
}

func noIPv6(server netip.AddrPort) error {
	if server.Addr().Is6() {
		return syscall.EAFNOSUPPORT
	}
	return nil
}

func TestSockets(t *testing.T) {
	both := "nameserver ::1\n" + ns1 + "options timeout:1 attempts:1\n"
	answer := "* - - - - a:192.0.2.1"
	inet := resolver.Request{Host: "x.", Family: resolver.Inet}
	run := func(version, conf string, n closedNetwork) (string, error) {
		m := newModel(t, version, settings(conf), answer)
		n.Network = m.Net
		sent := 0
		res, err := m.r.Resolve(context.Background(), &n, inet, func(ev probe.Event) {
			if ev.Kind == probe.KindSent {
				sent++
			}
		})
		return fmt.Sprintf("%d %s", sent, res.Code), err
	}
	for _, c := range []struct {
		what, version, conf string
		n                   closedNetwork
		want                string
	}{
		{"a server that cannot be reached", latest, both, closedNetwork{send: noIPv6}, "1 "},
		{"no IPv6 in the kernel", latest, both, closedNetwork{open: noIPv6, send: noIPv6}, "1 "},
		{"no IPv6 in the kernel, before 1.2.4", middle, both, closedNetwork{open: noIPv6}, "0 EAI_SYSTEM"},
		{"no IPv6 in the kernel and no other server", latest, "nameserver ::1\n", closedNetwork{open: noIPv6}, "0 EAI_SYSTEM"},
	} {
		if got, err := run(c.version, c.conf, c.n); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.what, got, err, c.want)
		}
	}
	if _, err := run(latest, both, closedNetwork{open: func(netip.AddrPort) error { return syscall.EMFILE }}); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("no descriptors left: %v", err)
	}
}

func TestContextEndsACall(t *testing.T) {
	m := newModel(t, latest, settings(ns1), "* - - - - drop")
	ctx, cancel := context.WithCancel(context.Background())
	pair := resolver.Request{Host: "x.", Family: resolver.Unspec}
	lost := 0
	_, err := m.r.Resolve(ctx, m.Net, pair, func(ev probe.Event) {
		switch ev.Kind {
		case probe.KindSent:
			cancel()
		case probe.KindLost:
			lost++
		}
	})
	if !errors.Is(err, context.Canceled) || lost != 2 {
		t.Errorf("%v, %d lost", err, lost)
	}
}

func TestIDsOfAPairDiffer(t *testing.T) {
	m := newModel(t, latest, settings(ns1))
	n := &sameDice{m.Net}
	var ids []uint16
	if _, err := m.r.Resolve(context.Background(), n, resolver.Request{Host: "x.", Family: resolver.Unspec}, func(ev probe.Event) {
		if ev.Kind == probe.KindSent {
			ids = append(ids, ev.Sent.ID)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 2 || ids[0] != 0xffab || ids[1] != 0x00ab {
		t.Errorf("%x", ids)
	}
}

type sameDice struct{ resolver.Network }

func (sameDice) Random16() uint16 { return 0xffab }

func TestLatenessOfPoll(t *testing.T) {
	m := newModel(t, latest, settings(ns1))
	c := &call{ctx: context.Background(), n: m.Net, r: m.r}
	for timeout, late := range map[time.Duration]time.Duration{
		time.Second: time.Millisecond, 10 * time.Millisecond: 50 * time.Microsecond, 1000 * time.Second: 100 * time.Millisecond,
	} {
		before := m.Net.Now()
		if ev, err := c.poll(timeout); err != nil || ev.Kind != resolver.EventDeadline {
			t.Fatalf("%+v, %v", ev, err)
		}
		if got := m.Net.Now().Sub(before) - timeout; got != late+wakeUp {
			t.Errorf("%s took %s longer", timeout, got)
		}
	}
}
