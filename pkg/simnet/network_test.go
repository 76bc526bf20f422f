package simnet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

var server = netip.AddrPortFrom(ns1, 53)

func open(t *testing.T, n *Network, tr probe.Transport, to netip.AddrPort, connected bool) resolver.Socket {
	t.Helper()
	s, err := n.Open(tr, to, resolver.OpenOptions{Connected: connected})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func poll(t *testing.T, n *Network, deadline time.Time) resolver.Event {
	t.Helper()
	ev, err := n.Poll(deadline)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func query(id uint16, qt probe.QueryType) resolver.Query {
	return resolver.Query{ID: id, Name: "x.test.", Type: qt}
}

func TestVirtualTime(t *testing.T) {
	w := world(t, Rule{Type: probe.TypeAAAA, Do: []Action{{Kind: ActDelay, Delay: 40 * time.Second}}}, do(t, "a:192.0.2.1"))
	n := New(t.Context(), w, Options{})
	wall, start := time.Now(), n.Now()
	s := open(t, n, probe.UDP, server, true)
	if err := n.Send(s, server, query(1, probe.TypeA), query(2, probe.TypeAAAA)); err != nil {
		t.Fatal(err)
	}
	if ev := poll(t, n, start.Add(5*time.Second)); ev.Kind != resolver.EventReply || ev.Reply.ID != 1 || ev.At.Sub(start) != time.Millisecond || ev.From != server {
		t.Errorf("first: %+v", ev)
	}
	if ev := poll(t, n, start.Add(5*time.Second)); ev.Kind != resolver.EventDeadline || n.Now().Sub(start) != 5*time.Second {
		t.Errorf("deadline: %+v at %s", ev, n.Now().Sub(start))
	}
	if ev := poll(t, n, time.Time{}); ev.Reply.ID != 2 || n.Now().Sub(start) != 40*time.Second {
		t.Errorf("late reply: %+v", ev)
	}
	if _, err := n.Poll(time.Time{}); !errors.Is(err, resolver.ErrNothingComes) {
		t.Errorf("nothing left: %v", err)
	}
	if d := time.Since(wall); d > 5*time.Second {
		t.Errorf("40 virtual seconds took %s", d)
	}
}

func TestClosedSocketsHearNothing(t *testing.T) {
	n := New(t.Context(), world(t), Options{})
	s := open(t, n, probe.UDP, server, true)
	if err := n.Send(s, server, query(1, probe.TypeA)); err != nil {
		t.Fatal(err)
	}
	if n.Idle() {
		t.Error("idle with a reply under way")
	}
	n.Close(s)
	if !n.Idle() {
		t.Error("what comes to a closed socket keeps the network from being idle")
	}
	if ev := poll(t, n, n.Now().Add(time.Second)); ev.Kind != resolver.EventDeadline {
		t.Errorf("%+v", ev)
	}
	if err := n.Send(s, server, query(1, probe.TypeA)); err == nil {
		t.Error("sent on a closed socket")
	}
}

func TestClosedPort(t *testing.T) {
	closed := netip.MustParseAddrPort("10.9.9.9:53")
	n := New(t.Context(), world(t), Options{})
	connected, free := open(t, n, probe.UDP, closed, true), open(t, n, probe.UDP, closed, false)
	for _, s := range []resolver.Socket{free, connected} {
		if err := n.Send(s, closed, query(1, probe.TypeA)); err != nil {
			t.Fatal(err)
		}
	}
	if ev := poll(t, n, n.Now().Add(time.Second)); ev.Socket != connected || !errors.Is(ev.Err, resolver.ErrRefused) {
		t.Errorf("connected socket: %+v", ev)
	}
	if ev := poll(t, n, n.Now().Add(time.Second)); ev.Kind != resolver.EventDeadline {
		t.Errorf("unconnected socket: %+v", ev)
	}
	open(t, n, probe.TCP, closed, true)
	if ev := poll(t, n, time.Time{}); ev.Kind != resolver.EventError || !errors.Is(ev.Err, resolver.ErrRefused) {
		t.Errorf("tcp: %+v", ev)
	}
}

func TestTCP(t *testing.T) {
	w := world(t, Rule{Name: "x.test", Type: probe.TypeA, Do: []Action{{Kind: ActDelay, Delay: 50 * time.Millisecond}}})
	n := New(t.Context(), w, Options{})
	s := open(t, n, probe.TCP, server, true)
	if err := n.Send(s, server, query(1, probe.TypeA)); err == nil {
		t.Error("sent before the handshake was through")
	}
	if ev := poll(t, n, time.Time{}); ev.Kind != resolver.EventConnected {
		t.Fatalf("%+v", ev)
	}
	if err := n.Send(s, server, query(1, probe.TypeA), query(2, probe.TypeAAAA)); err != nil {
		t.Fatal(err)
	}
	for id := uint16(1); id <= 2; id++ {
		if ev := poll(t, n, time.Time{}); ev.Reply.ID != id {
			t.Errorf("a stream does not keep its order: %+v", ev)
		}
	}
}

func TestTCPEnds(t *testing.T) {
	for word, want := range map[string]resolver.EventKind{"close": resolver.EventClosed, "reset": resolver.EventError} {
		n := New(t.Context(), world(t, do(t, "drop", word)), Options{})
		s := open(t, n, probe.TCP, server, true)
		poll(t, n, time.Time{})
		if err := n.Send(s, server, query(1, probe.TypeA), query(2, probe.TypeAAAA)); err != nil {
			t.Fatal(err)
		}
		if ev := poll(t, n, time.Time{}); ev.Kind != want {
			t.Errorf("%s: %+v", word, ev)
		}
		if err := n.Send(s, server, query(3, probe.TypeA)); err == nil {
			t.Errorf("%s: the connection can still be used", word)
		}
		if _, err := n.Poll(time.Time{}); !errors.Is(err, resolver.ErrNothingComes) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestTCPAnswersOnceThenCloses(t *testing.T) {
	n := New(t.Context(), world(t, do(t, "a:192.0.2.1", "close")), Options{})
	s := open(t, n, probe.TCP, server, true)
	poll(t, n, time.Time{})
	if err := n.Send(s, server, query(1, probe.TypeA), query(2, probe.TypeAAAA)); err != nil {
		t.Fatal(err)
	}
	if ev := poll(t, n, time.Time{}); ev.Kind != resolver.EventReply || ev.Reply.ID != 1 {
		t.Errorf("%+v", ev)
	}
	if ev := poll(t, n, time.Time{}); ev.Kind != resolver.EventClosed {
		t.Errorf("%+v", ev)
	}
}

func TestTCPBlackHole(t *testing.T) {
	n := New(t.Context(), &World{Servers: []Server{{Addr: ns1, SilentTCP: true}}}, Options{})
	start := n.Now()
	open(t, n, probe.TCP, server, true)
	ev := poll(t, n, time.Time{})
	if !errors.Is(ev.Err, resolver.ErrConnectTimedOut) || n.Now().Sub(start) != ConnectTimeout {
		t.Errorf("%+v after %s", ev, n.Now().Sub(start))
	}
}

// transcript runs a lossy exchange and writes down everything that happened.
func transcript(t *testing.T, seed uint64) string {
	t.Helper()
	w := world(t, do(t, "a:192.0.2.1", "loss:0.5"))
	w.Loss, w.PairRace = 0.2, 0.3
	n := New(t.Context(), w, Options{Seed: seed})
	out := ""
	for range 50 {
		s := open(t, n, probe.UDP, server, true)
		if err := n.Send(s, server, query(n.Random16(), probe.TypeA), query(n.Random16(), probe.TypeAAAA)); err != nil {
			t.Fatal(err)
		}
		for {
			ev := poll(t, n, n.Now().Add(time.Second))
			out += fmt.Sprintln(ev.Kind, ev.Socket, ev.At.UnixNano(), ev.Reply.ID)
			if ev.Kind == resolver.EventDeadline {
				break
			}
		}
	}
	return out
}

func TestSameSeedSameRun(t *testing.T) {
	first, second := transcript(t, 3), transcript(t, 3)
	if first != second {
		t.Error("the same seed gave two runs")
	}
	if first == transcript(t, 4) {
		t.Error("two seeds gave the same run")
	}
}

func TestPairRaceHitsOnlyPairs(t *testing.T) {
	w := world(t, do(t, "a:192.0.2.1"))
	w.PairRace = 1
	n := New(t.Context(), w, Options{})
	shared := open(t, n, probe.UDP, server, true)
	if err := n.Send(shared, server, query(1, probe.TypeA), query(2, probe.TypeAAAA)); err != nil {
		t.Fatal(err)
	}
	if ev := poll(t, n, n.Now().Add(time.Second)); ev.Reply.ID != 1 {
		t.Errorf("%+v", ev)
	}
	if ev := poll(t, n, n.Now().Add(time.Second)); ev.Kind != resolver.EventDeadline {
		t.Errorf("the second of a pair got through: %+v", ev)
	}
	// The flow exists by now: nothing races any more.
	if err := n.Send(shared, server, query(3, probe.TypeA), query(4, probe.TypeAAAA)); err != nil {
		t.Fatal(err)
	}
	for id := uint16(3); id <= 4; id++ {
		if ev := poll(t, n, n.Now().Add(time.Second)); ev.Reply.ID != id {
			t.Errorf("%+v", ev)
		}
	}
}

func TestPaceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := New(ctx, world(t), Options{Pace: 1})
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, err := n.Poll(n.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if time.Since(start) > 10*time.Second {
		t.Error("waited on")
	}
	if _, err := n.Poll(n.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestPaceTakesRealTime(t *testing.T) {
	n := New(t.Context(), world(t), Options{Pace: 0.5})
	start := time.Now()
	poll(t, n, n.Now().Add(60*time.Millisecond))
	if d := time.Since(start); d < 29*time.Millisecond {
		t.Errorf("60 ms at half pace took %s", d)
	}
}
