package scenario

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

func pairOf(at time.Duration, socket, id int) []Packet {
	s := netip.MustParseAddr("127.0.0.2")
	return []Packet{
		{At: at, Transport: probe.UDP, Server: s, Socket: socket, ID: id, Type: probe.TypeA, Name: "x.y.", Size: 21},
		{At: at, Transport: probe.UDP, Server: s, Socket: socket, ID: id + 1, Type: probe.TypeAAAA, Name: "x.y.", Size: 21},
	}
}

func TestCompareEqual(t *testing.T) {
	observed := slices.Concat(pairOf(2*time.Millisecond, 1, 1), pairOf(5020*time.Millisecond, 1, 1))
	ours := slices.Concat(pairOf(0, 1, 1), pairOf(5*time.Second, 1, 1))
	if d := Compare(observed, ours); len(d) != 0 {
		t.Errorf("%v", d)
	}
	// Events know neither SYNs nor sizes.
	syn := Packet{Transport: SYN, Server: observed[0].Server, Socket: 1}
	withSYN := append([]Packet{syn}, pairOf(0, 2, 1)...)
	unsized := pairOf(0, 1, 1)
	unsized[0].Size, unsized[1].Size = 0, 0
	if d := Compare(withSYN, unsized); len(d) != 0 {
		t.Errorf("without SYNs: %v", d)
	}
}

// TestCompareAll: a SYN that only one side has is a difference where both know of SYNs.
func TestCompareAll(t *testing.T) {
	pair := pairOf(0, 2, 1)
	withSYN := append([]Packet{{Transport: SYN, Server: pair[0].Server, Socket: 1}}, pairOf(0, 2, 1)...)
	if d := CompareAll(withSYN, pair); len(d) == 0 {
		t.Error("a SYN too few is no difference")
	}
	if d := CompareAll(withSYN, withSYN); len(d) != 0 {
		t.Errorf("with itself: %v", d)
	}
}

func TestCompareSeesEveryDifference(t *testing.T) {
	for field, change := range map[string]func(*Packet){
		"name":      func(p *Packet) { p.Name = "X.y." },
		"type":      func(p *Packet) { p.Type = probe.TypeA },
		"transport": func(p *Packet) { p.Transport = probe.TCP },
		"server":    func(p *Packet) { p.Server = netip.IPv6Loopback() },
		"socket":    func(p *Packet) { p.Socket = 2 },
		"id":        func(p *Packet) { p.ID = 1 },
		"size":      func(p *Packet) { p.Size = 22 },
		"ad":        func(p *Packet) { p.AD = true },
		"edns":      func(p *Packet) { p.EDNSSize = 1232 },
		"raw":       func(p *Packet) { p.Raw = "x" },
		"time":      func(p *Packet) { p.At = 70 * time.Millisecond },
	} {
		observed, ours := pairOf(0, 1, 1), pairOf(0, 1, 1)
		change(&ours[1])
		if d := Compare(observed, ours); len(d) != 1 || d[0].Field != field || d[0].Index != 1 {
			t.Errorf("%s: %v", field, d)
		}
	}
	if d := Compare(pairOf(0, 1, 1), pairOf(0, 1, 1)[:1]); len(d) != 1 || d[0].Field != "count" {
		t.Errorf("count: %v", d)
	}
}

func TestRecorder(t *testing.T) {
	server := netip.MustParseAddrPort("127.0.0.2:53")
	r := Record(simnet.New(t.Context(), &simnet.World{Servers: []simnet.Server{{Addr: server.Addr()}}}, simnet.Options{}))
	udp, err := r.Open(probe.UDP, server, resolver.OpenOptions{Connected: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Send(udp, server, resolver.Query{ID: 9, Name: `x.\013.`, Type: probe.TypeA, AD: true, EDNSSize: 1200}); err != nil {
		t.Fatal(err)
	}
	tcp, err := r.Open(probe.TCP, server, resolver.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Poll(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Send(tcp, server, resolver.Query{ID: 9, Name: "x.", Type: probe.TypeAAAA}); err != nil {
		t.Fatal(err)
	}
	want := []Packet{
		{Transport: probe.UDP, Server: server.Addr(), Socket: 1, ID: 1, Type: probe.TypeA, Name: "x.\r.", Size: 32, AD: true, EDNSSize: 1200},
		{Transport: SYN, Server: server.Addr(), Socket: 2},
		{Transport: probe.TCP, Server: server.Addr(), Socket: 2, ID: 1, Type: probe.TypeAAAA, Name: "x.", Size: 19},
	}
	if d := Compare(want, r.Packets()); len(d) != 0 {
		t.Errorf("%v", d)
	}
}

func TestFromEvents(t *testing.T) {
	sent := func(res string, at probe.Millis, qt probe.QueryType, socket int, id uint16) probe.Event {
		return probe.Event{Kind: probe.KindSent, Resolution: res, At: at, Sent: &probe.Sent{
			Ref: probe.Ref{Attempt: 1, Type: qt}, Server: "127.0.0.2:53", Transport: probe.UDP, Socket: socket, ID: id,
		}}
	}
	attempt := func(res string) probe.Event {
		return probe.Event{Kind: probe.KindAttempt, Resolution: res, Attempt: &probe.Try{N: 1, Name: "x.y."}}
	}
	got := FromEvents([]probe.Event{
		attempt("r1"), sent("r1", 0, probe.TypeA, 1, 70), sent("r1", 0, probe.TypeAAAA, 1, 80),
		attempt("r2"), sent("r2", probe.Millis(time.Second), probe.TypeA, 1, 90), sent("r2", probe.Millis(time.Second), probe.TypeAAAA, 1, 91),
	}, map[string]time.Duration{"r2": time.Second})
	if d := Compare(slices.Concat(pairOf(0, 1, 1), pairOf(2*time.Second, 2, 3)), got); len(d) != 0 {
		t.Errorf("%v", d)
	}
}

func TestWire(t *testing.T) {
	for in, want := range map[string]string{`a\013.`: "a\r.", `x.\#.`: "x.#.", `\255`: "\u00ff", "b\xc3": "b\u00c3", `\`: `\`, `\2`: "2"} {
		if got := Wire(in); got != want {
			t.Errorf("Wire(%q) = %q, want %q", in, got, want)
		}
	}
}
