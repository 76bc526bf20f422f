package simnet

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestNthBeginsAgainAfterACycle(t *testing.T) {
	found := do(t, "a:192.0.2.1")
	found.Nth, found.Cycle = []int{1, 3}, 4
	w, st := world(t, found), NewState(1)
	var got []int
	for range 9 {
		got = append(got, w.React(st, resolver.Query{Name: "x.test.", Type: probe.TypeA}, Arrival{Server: ns1}).Reply.Rcode)
	}
	if want := []int{0, 3, 0, 3, 0, 3, 0, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestARateIsCountedAnewEachSecond(t *testing.T) {
	limit, answer := do(t, "servfail"), do(t, "a:192.0.2.1")
	limit.Name, limit.Over = "x.test *.other", 2
	answer.Name = ""
	w, st := world(t, limit, answer), NewState(1)
	start := time.Unix(100, 0)
	ask := func(name string, at time.Duration) int {
		return w.React(st, resolver.Query{Name: name, Type: probe.TypeA}, Arrival{Server: ns1, At: start.Add(at)}).Reply.Rcode
	}
	var got []int
	for _, at := range []time.Duration{0, 300, 600, 999, 1000, 1001, 1002, 5000} {
		got = append(got, ask("x.test.", at*time.Millisecond))
	}
	if want := []int{0, 0, 2, 2, 0, 0, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Names of one rule share its rate, other names have no part in it.
	if got := []int{ask("a.other.", 5001*time.Millisecond), ask("b.other.", 5002*time.Millisecond), ask("free.", 5003*time.Millisecond)}; !slices.Equal(got, []int{0, 2, 0}) {
		t.Errorf("shared rate: %v", got)
	}
}

func TestQueriesWithAnOPTRecord(t *testing.T) {
	with, without := do(t, "formerr"), do(t, "a:192.0.2.1")
	with.EDNS, without.EDNS = new(true), new(false)
	w := world(t, with, without)
	for size, want := range map[uint16]int{0: resolver.RcodeNoError, 1232: resolver.RcodeFormErr} {
		r := w.React(NewState(1), resolver.Query{Name: "x.test.", Type: probe.TypeA, EDNSSize: size}, Arrival{Server: ns1})
		if r.Reply.Rcode != want {
			t.Errorf("size %d: rcode %d, want %d", size, r.Reply.Rcode, want)
		}
	}
}

func TestHalfOfTheSourcePorts(t *testing.T) {
	lost := do(t, "drop")
	lost.Port = PortEven
	w, st := world(t, lost, do(t, "a:192.0.2.1")), NewState(1)
	for port := uint16(40000); port < 40010; port++ {
		r := w.React(st, resolver.Query{Name: "x.test.", Type: probe.TypeA}, Arrival{Server: ns1, Port: port})
		if r.Silent != (port%2 == 0) {
			t.Errorf("port %d: silent %v", port, r.Silent)
		}
	}
}

// Sockets have ports of their own, which the rules see; both halves are drawn.
func TestSocketsHavePorts(t *testing.T) {
	lost := do(t, "drop")
	lost.Port = PortEven
	w, st := world(t, lost, do(t, "a:192.0.2.1")), NewState(1)
	halves := map[bool]int{}
	for range 40 {
		n := New(t.Context(), w, Options{State: st})
		s, err := n.Open(probe.UDP, netip.AddrPortFrom(ns1, 53), resolver.OpenOptions{Connected: true})
		if err != nil {
			t.Fatal(err)
		}
		port := n.LocalPort(s)
		if port < 32768 || port > 60999 {
			t.Errorf("port %d", port)
		}
		if err := n.Send(s, netip.AddrPort{}, resolver.Query{Name: "x.test.", Type: probe.TypeA}); err != nil {
			t.Fatal(err)
		}
		ev, err := n.Poll(n.Now().Add(time.Second))
		if err != nil || (ev.Kind == resolver.EventDeadline) != (port%2 == 0) {
			t.Errorf("port %d: %v, %v", port, ev.Kind, err)
		}
		halves[port%2 == 0]++
		n.Close(s)
		if n.LocalPort(s) != 0 {
			t.Error("a closed socket has a port")
		}
	}
	if halves[true] < 10 || halves[false] < 10 {
		t.Errorf("drawn: %v", halves)
	}
}

func TestTimeGoesOnFromOneNetworkToTheNext(t *testing.T) {
	w, st := world(t), NewState(1)
	first := New(t.Context(), w, Options{State: st})
	start := first.Now()
	if err := first.Sleep(90 * time.Second); err != nil {
		t.Fatal(err)
	}
	if got := New(t.Context(), w, Options{State: st}).Now().Sub(start); got != 90*time.Second {
		t.Errorf("the next network begins %s later", got)
	}
	st.Pass(10 * time.Second)
	st.Pass(-time.Hour)
	if got := New(t.Context(), w, Options{State: st}).Now().Sub(start); got != 100*time.Second {
		t.Errorf("after a pause the next network begins %s later", got)
	}
	if got := New(t.Context(), w, Options{}).Now(); !got.Equal(start) {
		t.Errorf("servers that were never asked begin at %s", got)
	}
}

func TestCheckOfLimits(t *testing.T) {
	for name, r := range map[string]Rule{
		"port":               {Port: "both"},
		"cycle without nth":  {Cycle: 3},
		"nth past the cycle": {Cycle: 3, Nth: []int{4}},
		"negative":           {Over: -1},
	} {
		if err := (&World{Rules: []Rule{r}}).Check(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
