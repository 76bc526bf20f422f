package dnsnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/dnstest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// patience bounds every wait of these tests; none comes near it when all is well.
const patience = 10 * time.Second

type shuttable interface {
	resolver.Network
	Shut()
}

// kinds are the implementations; what is asserted here holds for all of them.
var kinds = map[string]func(context.Context, Options) (shuttable, error){
	"system":   func(ctx context.Context, o Options) (shuttable, error) { return New(ctx, o) },
	"portable": func(ctx context.Context, o Options) (shuttable, error) { return newPortable(ctx, o), nil },
}

func eachKind(t *testing.T, o Options, f func(*testing.T, resolver.Network)) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			n, err := open(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			defer n.Shut()
			f(t, n)
		})
	}
}

func server(t *testing.T, addr string, rules map[string][]string, edit func(*simnet.Server)) (*dnstest.Server, netip.AddrPort) {
	t.Helper()
	srv := simnet.Server{Addr: netip.MustParseAddr(addr)}
	if edit != nil {
		edit(&srv)
	}
	w := simnet.World{Servers: []simnet.Server{srv}}
	for name, words := range rules {
		actions, err := simnet.ParseActions(words)
		if err != nil {
			t.Fatal(err)
		}
		w.Rules = append(w.Rules, simnet.Rule{Name: name, Do: actions})
	}
	s, err := dnstest.Start(w, dnstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shut)
	return s, netip.AddrPortFrom(srv.Addr, dnsPort)
}

func open(t *testing.T, n resolver.Network, tr probe.Transport, to netip.AddrPort, connected bool) resolver.Socket {
	t.Helper()
	s, err := n.Open(tr, to, resolver.OpenOptions{Connected: connected})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next polls for an event of this kind on this socket.
func next(t *testing.T, n resolver.Network, s resolver.Socket, kind resolver.EventKind) resolver.Event {
	t.Helper()
	ev, err := n.Poll(time.Now().Add(patience))
	if err != nil {
		t.Fatal(err)
	}
	if ev.Kind != kind || ev.Socket != s {
		t.Fatalf("event %+v, want kind %d on socket %d", ev, kind, s)
	}
	if age := time.Since(ev.At); age < 0 || age > patience {
		t.Errorf("an event %s ago", age)
	}
	return ev
}

func pair(name string) []resolver.Query {
	return []resolver.Query{{ID: 1, Name: name, Type: probe.TypeA}, {ID: 2, Name: name, Type: probe.TypeAAAA}}
}

func TestUDPPair(t *testing.T) {
	for _, addr := range []string{"127.0.0.2", "::1"} {
		for _, connected := range []bool{true, false} {
			srv, to := server(t, addr, map[string][]string{"x.test": {"a:192.0.2.1", "aaaa:2001:db8::1"}}, nil)
			eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
				before := len(srv.Journal())
				s := open(t, n, probe.UDP, to, connected)
				sent := n.Now()
				if err := n.Send(s, to, pair("X.test.")...); err != nil {
					t.Fatal(err)
				}
				for id := uint16(1); id <= 2; id++ {
					ev := next(t, n, s, resolver.EventReply)
					if ev.Reply.ID != id || len(ev.Reply.Answers) != 1 || ev.From != to {
						t.Errorf("reply %d: %+v", id, ev)
					}
					if ev.At.Before(sent) || ev.At.After(n.Now()) {
						t.Errorf("reply %d came at %s after it was sent, now it is %s after", id, ev.At.Sub(sent), n.Now().Sub(sent))
					}
				}
				asked := srv.Journal()[before:]
				if len(asked) != 2 || asked[0].From.Port() != n.LocalPort(s) || asked[1].From.Port() != n.LocalPort(s) ||
					asked[0].Query.Type != probe.TypeA || asked[0].Query.Name != "X.test." {
					t.Errorf("the server saw %+v from port %d", asked, n.LocalPort(s))
				}
			})
		}
	}
}

// musl asks all servers from one socket, of both families where one of them is an IPv6 one.
func TestOneSocketForServersOfBothFamilies(t *testing.T) {
	w := simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("127.0.0.2")}, {Addr: netip.MustParseAddr("::1")}}}
	srv, err := dnstest.Start(w, dnstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shut)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, netip.AddrPortFrom(w.Servers[1].Addr, dnsPort), false)
		for _, server := range w.Servers {
			to := netip.AddrPortFrom(server.Addr, dnsPort)
			if err := n.Send(s, to, pair("x.test.")[0]); err != nil {
				t.Fatalf("to %s: %v", to, err)
			}
			if ev := next(t, n, s, resolver.EventReply); ev.From.Addr().Unmap() != server.Addr || ev.From.Port() != dnsPort {
				t.Errorf("%s answered as %s", to, ev.From)
			}
		}
	})
}

func TestDeadline(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"*": {"drop"}}, nil)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, to, true)
		if err := n.Send(s, to, pair("x.test.")...); err != nil {
			t.Fatal(err)
		}
		deadline := n.Now().Add(50 * time.Millisecond)
		ev, err := n.Poll(deadline)
		if err != nil || ev.Kind != resolver.EventDeadline || ev.At.Before(deadline) {
			t.Errorf("%+v, %v, %s after the deadline", ev, err, ev.At.Sub(deadline))
		}
		if ev, err := n.Poll(n.Now().Add(-time.Second)); err != nil || ev.Kind != resolver.EventDeadline {
			t.Errorf("a deadline in the past: %+v, %v", ev, err)
		}
	})
}

func TestNothingToWaitFor(t *testing.T) {
	eachKind(t, Options{}, func(t *testing.T, n resolver.Network) {
		if _, err := n.Poll(time.Time{}); !errors.Is(err, resolver.ErrNothingComes) {
			t.Errorf("%v", err)
		}
	})
}

func TestContextEndsAWait(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"*": {"drop"}}, nil)
	for name, newNetwork := range kinds {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			n, err := newNetwork(ctx, Options{Port: srv.Port()})
			if err != nil {
				t.Fatal(err)
			}
			defer n.Shut()
			open(t, n, probe.UDP, to, true)
			go stop()
			if _, err := n.Poll(time.Time{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if _, err := n.Poll(time.Time{}); !errors.Is(err, context.Canceled) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

func TestRefusedUDP(t *testing.T) {
	srv, _ := server(t, "127.0.0.2", nil, nil)
	to := netip.MustParseAddrPort("127.0.0.9:53")
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, to, true)
		if err := n.Send(s, to, pair("x.test.")[:1]...); err != nil {
			t.Fatal(err)
		}
		if ev := next(t, n, s, resolver.EventError); !errors.Is(ev.Err, resolver.ErrRefused) {
			t.Errorf("%v", ev.Err)
		}
		// The error was taken: there is nothing more.
		if ev, err := n.Poll(n.Now().Add(20 * time.Millisecond)); err != nil || ev.Kind != resolver.EventDeadline {
			t.Errorf("after the error: %+v, %v", ev, err)
		}
		if err := n.Send(s, to, pair("x.test.")[:1]...); err != nil {
			t.Errorf("the socket is of no use after the error: %v", err)
		}
	})
}

func TestUnconnectedUDPSeesNoRefusal(t *testing.T) {
	srv, _ := server(t, "127.0.0.2", nil, nil)
	to := netip.MustParseAddrPort("127.0.0.9:53")
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, to, false)
		if err := n.Send(s, to, pair("x.test.")...); err != nil {
			t.Fatal(err)
		}
		if ev, err := n.Poll(n.Now().Add(50 * time.Millisecond)); err != nil || ev.Kind != resolver.EventDeadline {
			t.Errorf("%+v, %v", ev, err)
		}
	})
}

func TestTCPPair(t *testing.T) {
	for _, addr := range []string{"127.0.0.2", "::1"} {
		srv, to := server(t, addr, map[string][]string{"*": {"pad:3000", "aaaa:2001:db8::1"}}, nil)
		eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
			s := open(t, n, probe.TCP, to, false)
			next(t, n, s, resolver.EventConnected)
			if err := n.Send(s, to, pair("x.test.")...); err != nil {
				t.Fatal(err)
			}
			ev := next(t, n, s, resolver.EventReply)
			if ev.Reply.ID != 1 || len(ev.Reply.Answers) != 3000 || ev.From != to || ev.Reply.Malformed != nil {
				t.Errorf("A: id %d, %d answers, %v", ev.Reply.ID, len(ev.Reply.Answers), ev.Reply.Malformed)
			}
			if ev := next(t, n, s, resolver.EventReply); ev.Reply.ID != 2 || len(ev.Reply.Answers) != 1 {
				t.Errorf("AAAA: %+v", ev.Reply)
			}
			if n.LocalPort(s) == 0 {
				t.Error("no local port")
			}
		})
	}
}

func TestTCPSentBeforeTheHandshakeIsOver(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"*": {"a:192.0.2.1"}}, nil)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.TCP, to, false)
		if err := n.Send(s, to, pair("x.test.")...); err != nil {
			t.Fatal(err)
		}
		next(t, n, s, resolver.EventConnected)
		next(t, n, s, resolver.EventReply)
		next(t, n, s, resolver.EventReply)
	})
}

func TestTCPEnds(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"shut.test": {"a:192.0.2.1", "close"}, "reset.test": {"reset"}}, nil)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.TCP, to, false)
		next(t, n, s, resolver.EventConnected)
		if err := n.Send(s, to, pair("shut.test.")...); err != nil {
			t.Fatal(err)
		}
		next(t, n, s, resolver.EventReply)
		next(t, n, s, resolver.EventClosed)
		if ev, err := n.Poll(n.Now().Add(20 * time.Millisecond)); err != nil || ev.Kind != resolver.EventDeadline {
			t.Errorf("after the end: %+v, %v", ev, err)
		}
		n.Close(s)

		s = open(t, n, probe.TCP, to, false)
		next(t, n, s, resolver.EventConnected)
		if err := n.Send(s, to, pair("reset.test.")...); err != nil {
			t.Fatal(err)
		}
		if ev := next(t, n, s, resolver.EventError); !errors.Is(ev.Err, resolver.ErrReset) {
			t.Errorf("%v", ev.Err)
		}
	})
}

func TestTCPRefused(t *testing.T) {
	srv, to := server(t, "127.0.0.2", nil, func(s *simnet.Server) { s.NoTCP = true })
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.TCP, to, false)
		if ev := next(t, n, s, resolver.EventError); !errors.Is(ev.Err, resolver.ErrRefused) {
			t.Errorf("%v", ev.Err)
		}
	})
}

// rawServer accepts one TCP connection and hands it to serve.
func rawServer(t *testing.T, serve func(net.Conn)) (port uint16) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

func TestTCPHostileStreams(t *testing.T) {
	reply := message(t, nil, "x.test. 60 IN A 192.0.2.1")
	framed, err := frame(nil, reply)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		stream []byte
		want   []resolver.EventKind
		short  bool
	}{
		{"half a prefix", []byte{0}, []resolver.EventKind{resolver.EventClosed}, false},
		{"half a message", framed[:len(framed)/2], []resolver.EventKind{resolver.EventClosed}, false},
		{"a promise of 65535 bytes", append([]byte{0xff, 0xff}, reply...), []resolver.EventKind{resolver.EventClosed}, false},
		{"an empty message", append([]byte{0, 0}, framed...), []resolver.EventKind{resolver.EventReply, resolver.EventReply, resolver.EventClosed}, true},
		{"two and a half", append(append(append([]byte{}, framed...), framed...), framed[:9]...), []resolver.EventKind{resolver.EventReply, resolver.EventReply, resolver.EventClosed}, false},
	} {
		port := rawServer(t, func(conn net.Conn) { _, _ = conn.Write(tc.stream) })
		eachKind(t, Options{Port: port}, func(t *testing.T, n resolver.Network) {
			s := open(t, n, probe.TCP, netip.MustParseAddrPort("127.0.0.1:53"), false)
			next(t, n, s, resolver.EventConnected)
			for i, kind := range tc.want {
				ev := next(t, n, s, kind)
				if kind == resolver.EventReply && ev.Reply.Short != (tc.short && i == 0) {
					t.Errorf("%s: reply %d: %+v", tc.name, i+1, ev.Reply)
				}
			}
		})
	}
}

func TestMessageInPieces(t *testing.T) {
	reply := message(t, nil, "x.test. 60 IN A 192.0.2.1")
	framed, err := frame(nil, reply)
	if err != nil {
		t.Fatal(err)
	}
	port := rawServer(t, func(conn net.Conn) {
		for i := range framed {
			if _, err := conn.Write(framed[i : i+1]); err != nil {
				return
			}
		}
	})
	eachKind(t, Options{Port: port}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.TCP, netip.MustParseAddrPort("127.0.0.1:53"), false)
		next(t, n, s, resolver.EventConnected)
		if ev := next(t, n, s, resolver.EventReply); ev.Reply.Size != len(reply) || len(ev.Reply.Answers) != 1 {
			t.Errorf("%+v", ev.Reply)
		}
	})
}

func TestHostileDatagrams(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent := make(chan error, 1)
	bodies := [][]byte{{}, {1, 2, 3}, make([]byte, 65000)}
	eachKind(t, Options{Port: uint16(conn.LocalAddr().(*net.UDPAddr).Port)}, func(t *testing.T, n resolver.Network) {
		to := netip.MustParseAddrPort("127.0.0.1:53")
		s := open(t, n, probe.UDP, to, true)
		if err := n.Send(s, to, pair("x.test.")[0]); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, from, err := conn.ReadFrom(make([]byte, 512))
			for _, b := range bodies {
				if err == nil {
					_, err = conn.WriteTo(b, from)
				}
			}
			sent <- err
		}()
		for _, b := range bodies {
			if ev := next(t, n, s, resolver.EventReply); ev.Reply.Size != len(b) || ev.Reply.Short != (len(b) < 12) {
				t.Errorf("a datagram of %d bytes: %+v", len(b), ev.Reply)
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	})
}

func TestClosedSocketIsSilent(t *testing.T) {
	srv, to := server(t, "127.0.0.2", map[string][]string{"*": {"a:192.0.2.1"}}, nil)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, to, true)
		if err := n.Send(s, to, pair("x.test.")...); err != nil {
			t.Fatal(err)
		}
		n.Close(s)
		other := open(t, n, probe.UDP, to, true)
		if other == s {
			t.Error("a socket's number was used again")
		}
		if err := n.Send(other, to, pair("x.test.")[1]); err != nil {
			t.Fatal(err)
		}
		next(t, n, other, resolver.EventReply)
		if err := n.Send(s, to, pair("x.test.")...); err == nil {
			t.Error("a closed socket sends")
		}
		if n.LocalPort(s) != 0 {
			t.Error("a closed socket has a port")
		}
	})
}

func TestSendErrors(t *testing.T) {
	srv, to := server(t, "127.0.0.2", nil, nil)
	eachKind(t, Options{Port: srv.Port()}, func(t *testing.T, n resolver.Network) {
		s := open(t, n, probe.UDP, to, true)
		if err := n.Send(s, to, resolver.Query{Name: "a..b.", Type: probe.TypeA}); err == nil {
			t.Error("an impossible name was sent")
		}
		if err := n.Send(s, to, resolver.Query{Name: "x.test.", Wire: []byte{0, 1, 2}}); err != nil {
			t.Error(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		asked, err := srv.Await(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := asked[len(asked)-1].Query.Wire; string(got) != "\x00\x01\x02" {
			t.Errorf("%x was sent", got)
		}
	})
}
