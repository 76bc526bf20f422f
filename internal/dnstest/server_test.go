package dnstest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// patience bounds every wait of these tests; none comes near it when all is well.
const patience = 10 * time.Second

var (
	first  = netip.MustParseAddr("127.0.0.2")
	second = netip.MustParseAddr("127.0.0.3")
)

func serve(t *testing.T, w simnet.World) *Server {
	t.Helper()
	s, err := Start(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shut)
	return s
}

func world(rules ...simnet.Rule) simnet.World {
	return simnet.World{Servers: []simnet.Server{{Addr: first}, {Addr: second}}, Rules: rules}
}

func rule(name string, words ...string) simnet.Rule {
	actions, err := simnet.ParseActions(words)
	if err != nil {
		panic(err)
	}
	return simnet.Rule{Name: name, Do: actions}
}

func query(id uint16, name string, qtype uint16) []byte {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.Id = id
	wire, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return wire
}

func dial(t *testing.T, network string, s *Server, addr netip.Addr) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout(network, netip.AddrPortFrom(addr, s.Port()).String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask sends queries over one UDP socket and returns as many replies as asked for.
func ask(t *testing.T, s *Server, addr netip.Addr, replies int, queries ...[]byte) []*dns.Msg {
	t.Helper()
	conn := dial(t, "udp", s, addr)
	for _, q := range queries {
		if _, err := conn.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	var got []*dns.Msg
	for range replies {
		buf := make([]byte, 65535)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatalf("reply %d of %d: %v", len(got)+1, replies, err)
		}
		m := new(dns.Msg)
		if err := m.Unpack(buf[:n]); err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	return got
}

func TestAnswersByNameTypeAndServer(t *testing.T) {
	only := rule("x.test", "servfail")
	only.Server = second
	s := serve(t, world(only, rule("x.test", "a:192.0.2.1", "aaaa:2001:db8::1")))
	got := ask(t, s, first, 2, query(7, "X.Test.", dns.TypeA), query(8, "X.Test.", dns.TypeAAAA))
	if a := got[0]; a.Id != 7 || a.Rcode != 0 || len(a.Answer) != 1 || a.Answer[0].(*dns.A).A.String() != "192.0.2.1" {
		t.Errorf("A: %v", a)
	}
	if name := got[0].Question[0].Name; name != "X.Test." {
		t.Errorf("question %q, the asked case must be kept", name)
	}
	if a := got[1]; a.Id != 8 || len(a.Answer) != 1 || a.Answer[0].(*dns.AAAA).AAAA.String() != "2001:db8::1" {
		t.Errorf("AAAA: %v", a)
	}
	if m := ask(t, s, second, 1, query(9, "x.test.", dns.TypeA))[0]; m.Rcode != dns.RcodeServerFailure {
		t.Errorf("second server: %v", m)
	}
	if m := ask(t, s, second, 1, query(9, "else.test.", dns.TypeA))[0]; m.Rcode != dns.RcodeNameError || len(m.Ns) != 1 {
		t.Errorf("a name without a rule: %v", m)
	}
}

func TestJournalHasEveryQuery(t *testing.T) {
	s := serve(t, world(rule("*", "drop")))
	conn := dial(t, "udp", s, first)
	wires := [][]byte{query(1, "a.test.", dns.TypeA), query(2, "a.test.", dns.TypeAAAA), []byte("xyz")}
	for _, w := range wires {
		if _, err := conn.Write(w); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	got, err := s.Await(ctx, len(wires))
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(conn.LocalAddr().(*net.UDPAddr).Port)
	for i, want := range []struct {
		name string
		kind probe.QueryType
		id   uint16
	}{{"a.test.", probe.TypeA, 1}, {"a.test.", probe.TypeAAAA, 2}, {"", "", binary.BigEndian.Uint16([]byte("xy"))}} {
		a := got[i]
		if a.Query.Name != want.name || a.Query.Type != want.kind || a.Query.ID != want.id || a.Transport != probe.UDP ||
			a.Server != first || a.From.Port() != port {
			t.Errorf("entry %d: %+v, want %+v", i, a, want)
		}
	}
	if string(got[2].Query.Wire) != "xyz" {
		t.Errorf("an undecodable query is kept as %q", got[2].Query.Wire)
	}
}

func TestDelaysKeepTheOrderOfTheirDueTimes(t *testing.T) {
	late := rule("*", "a:192.0.2.1", "delay:120")
	late.Type = probe.TypeA
	s := serve(t, world(late, rule("*", "aaaa:2001:db8::1", "delay:20")))
	began := time.Now()
	got := ask(t, s, first, 2, query(1, "x.test.", dns.TypeA), query(2, "x.test.", dns.TypeAAAA))
	if got[0].Id != 2 || got[1].Id != 1 {
		t.Errorf("replies in the order %d, %d", got[0].Id, got[1].Id)
	}
	if took := time.Since(began); took < 120*time.Millisecond {
		t.Errorf("both replies after %s", took)
	}
	equal := serve(t, world(rule("*", "a:192.0.2.1", "aaaa:2001:db8::1", "delay:5")))
	for range 20 {
		got := ask(t, equal, first, 2, query(1, "x.test.", dns.TypeA), query(2, "x.test.", dns.TypeAAAA))
		if got[0].Id != 1 {
			t.Fatal("equal delays changed the order")
		}
	}
}

func frames(wires ...[]byte) (out []byte) {
	for _, w := range wires {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(w))), w...)
	}
	return out
}

func TestTCP(t *testing.T) {
	shut := rule("shut.test", "a:192.0.2.1", "close")
	shut.Type = probe.TypeA
	s := serve(t, world(shut, rule("reset.test", "reset"), rule("*", "pad:200", "delay:30")))
	conn := dial(t, "tcp", s, first)
	if _, err := conn.Write(frames(query(1, "x.test.", dns.TypeA), query(2, "x.test.", dns.TypeAAAA))); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, id := range []uint16{1, 2} {
		wire, err := readFrame(conn)
		if err != nil {
			t.Fatal(err)
		}
		var m dns.Msg
		if err := m.Unpack(wire); err != nil || m.Id != id {
			t.Errorf("reply %d: %v, %v", id, m.Id, err)
		}
		if id == 1 && len(m.Answer) != 200 {
			t.Errorf("%d answers", len(m.Answer))
		}
	}
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("delays of one write were added up: %s", took)
	}

	conn = dial(t, "tcp", s, first)
	if _, err := conn.Write(frames(query(1, "shut.test.", dns.TypeA), query(2, "shut.test.", dns.TypeAAAA))); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); !errors.Is(err, io.EOF) {
		t.Errorf("after close: %v, want an end in good order", err)
	}

	conn = dial(t, "tcp", s, first)
	if _, err := conn.Write(frames(query(1, "reset.test.", dns.TypeA))); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after reset: %v", err)
	}
}

func TestClosedAndSilentTCP(t *testing.T) {
	w := world(rule("*", "a:192.0.2.1"))
	w.Servers[0].NoTCP, w.Servers[1].SilentTCP = true, true
	s := serve(t, w)
	ask(t, s, first, 1, query(1, "x.test.", dns.TypeA))
	ask(t, s, second, 1, query(1, "x.test.", dns.TypeA))
	if conn, err := net.DialTimeout("tcp", netip.AddrPortFrom(first, s.Port()).String(), patience); err == nil {
		_ = conn.Close()
		t.Error("a closed port accepts")
	}
	conn, err := net.DialTimeout("tcp", netip.AddrPortFrom(second, s.Port()).String(), 300*time.Millisecond)
	if err == nil {
		_ = conn.Close()
		t.Fatal("a silent port accepts")
	}
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a silent port answers: %v", err)
	}
}

func TestSilentServer(t *testing.T) {
	w := world()
	w.Servers[0].Silent = true
	s := serve(t, w)
	conn := dial(t, "udp", s, first)
	if _, err := conn.Write(query(1, "x.test.", dns.TypeA)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if _, err := s.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	// A query to the other server comes back; had the silent one replied, its reply would have been sent before.
	ask(t, s, second, 1, query(2, "x.test.", dns.TypeA))
	if err := conn.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 512)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes came, %v", n, err)
	}
}

func TestStartRefusesTheWorldOutside(t *testing.T) {
	_, err := Start(simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("192.0.2.1")}}}, Options{})
	if err == nil {
		t.Error("a server was started on an address that is not loopback")
	}
}

func TestShutEndsEverything(t *testing.T) {
	s, err := Start(world(rule("*", "drop")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, "tcp", s, first)
	if _, err := conn.Write(frames(query(1, "x.test.", dns.TypeA))); err != nil {
		t.Fatal(err)
	}
	s.Shut()
	if _, err := readFrame(conn); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after Shut: %v", err)
	}
	again, err := Start(world(), Options{Port: s.Port()})
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	again.Shut()
}

func TestEncodedSizeIsTheModelsSize(t *testing.T) {
	// Truncation is decided by the model's sizes, so they must be those of the wire.
	for _, words := range [][]string{
		{"a:192.0.2.1"},
		{"pad:60"},
		{"nodata"},
		{"nx"},
		{"servfail"},
		{"header"},
		{"lame"},
		{"tc"},
		// A CNAME's target shares its end with the question, in the same letters or not at all.
		{"cname:t.example", "pad:50"},
		{"cname:T.Example", "pad:3"},
		{"cname:elsewhere.test", "a:192.0.2.1"},
		{"cname:x.a.b.example", "pad:3"},
	} {
		w := world(rule("*", words...))
		for _, edns := range []uint16{0, 1200} {
			q := decodeQuery(query(1, "a.B.example.", dns.TypeA))
			q.EDNSSize = edns
			r := w.React(simnet.NewState(1), q, simnet.Arrival{Server: first, Transport: probe.UDP})
			wire, err := encodeReply(r.Reply, r.EDNS)
			if err != nil {
				t.Fatal(err)
			}
			if len(wire) != r.Reply.Size {
				t.Errorf("%s", fmt.Sprintf("%v, edns %d: %d bytes on the wire, %d in the model", words, edns, len(wire), r.Reply.Size))
			}
		}
	}
}
