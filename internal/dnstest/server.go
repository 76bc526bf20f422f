package dnstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Options of a Server.
type Options struct {
	// Port is where all addresses listen; 0 picks one that is free on all of them.
	Port uint16
	// Seed decides the losses of a World that has some.
	Seed uint64
}

// Server serves a World until Shut.
type Server struct {
	world   simnet.World
	port    uint16
	journal journal

	mu    sync.Mutex // guards state
	state *simnet.State

	ctx     context.Context
	stop    context.CancelFunc
	closers []func() error
	running sync.WaitGroup
}

// portTries is how many free ports are tried until one is free on every address and both transports.
const portTries = 50

// Start serves w. Every address of w must be a loopback address.
func Start(w simnet.World, o Options) (*Server, error) {
	for _, s := range w.Servers {
		if !s.Addr.IsLoopback() {
			return nil, fmt.Errorf("serve %s: it is no loopback address", s.Addr)
		}
	}
	tries := 1
	if o.Port == 0 {
		tries = portTries
	}
	var err error
	for range tries {
		ctx, stop := context.WithCancel(context.Background())
		s := &Server{
			world: w, port: o.Port, state: simnet.NewState(o.Seed), ctx: ctx, stop: stop,
			journal: journal{changed: make(chan struct{})},
		}
		if err = s.listen(); err == nil {
			return s, nil
		}
		s.Shut()
	}
	return nil, err
}

// Port is where all addresses listen.
func (s *Server) Port() uint16 { return s.port }

// Journal returns the queries that arrived so far, in order of arrival.
func (s *Server) Journal() []Asked {
	entries, _ := s.journal.all()
	return entries
}

// Await returns the journal once it has at least n entries, or ctx's error.
func (s *Server) Await(ctx context.Context, n int) ([]Asked, error) {
	for {
		entries, changed := s.journal.all()
		if len(entries) >= n {
			return entries, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return entries, fmt.Errorf("wait for %d queries, %d came: %w", n, len(entries), ctx.Err())
		}
	}
}

// Shut closes all sockets and waits until nothing of the server runs.
func (s *Server) Shut() {
	s.stop()
	for _, c := range s.closers {
		_ = c()
	}
	s.running.Wait()
}

func (s *Server) listen() error {
	for _, srv := range s.world.Servers {
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(srv.Addr, s.port)))
		if err != nil {
			return fmt.Errorf("serve %s over udp: %w", srv.Addr, err)
		}
		s.closers = append(s.closers, conn.Close)
		s.port = uint16(conn.LocalAddr().(*net.UDPAddr).Port)
		s.goRun(func() { s.serveUDP(conn, srv.Addr) })
		switch {
		case srv.NoTCP:
		case srv.Silent || srv.SilentTCP:
			err = s.swallowTCP(srv.Addr)
		default:
			err = s.listenTCP(srv.Addr)
		}
		if err != nil {
			return fmt.Errorf("serve %s over tcp: %w", srv.Addr, err)
		}
	}
	return nil
}

func (s *Server) goRun(f func()) {
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		f()
	}()
}

// react notes a query down and asks the World.
func (s *Server) react(wire []byte, server netip.Addr, from netip.AddrPort, t probe.Transport) (r simnet.Reaction, reply []byte) {
	q := decodeQuery(wire)
	s.mu.Lock()
	now := time.Now()
	s.journal.add(Asked{At: now, Server: server, From: from, Transport: t, Query: q})
	r = s.world.React(s.state, q, simnet.Arrival{Server: server, Transport: t, Port: from.Port(), At: now})
	s.mu.Unlock()
	if r.Refused || r.Silent || r.Reset {
		return r, nil
	}
	reply, err := encodeReply(r.Reply, r.EDNS)
	if err != nil {
		// A World can describe what no message can hold (a target over 255 octets): no server would send it.
		r.Silent = true
	}
	return r, reply
}

// serveUDP answers datagrams. Replies leave in order of their due times, equal ones in order of the queries. What came
// together is taken in before any of it is answered: an asker that goes on to TCP at the first reply must not overtake its own
// second query.
func (s *Server) serveUDP(conn *net.UDPConn, addr netip.Addr) {
	late := newSchedule()
	s.goRun(func() { late.run(s.ctx) })
	buf := make([]byte, 65535)
	var replies []func()
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			for _, send := range replies {
				send()
			}
			replies = replies[:0]
			if conn.SetReadDeadline(time.Time{}) != nil {
				return
			}
			continue
		case err != nil:
			// An ICMP error about an earlier reply: the asker is gone.
			continue
		}
		now := time.Now()
		r, reply := s.react(buf[:n], addr, from, probe.UDP)
		if reply == nil {
			continue
		}
		send := func() { _, _ = conn.WriteToUDPAddrPort(reply, from) }
		if r.Delay > 0 {
			late.at(now.Add(r.Delay), send)
			continue
		}
		replies = append(replies, send)
		// The next read is one that does not wait.
		if conn.SetReadDeadline(now) != nil {
			return
		}
	}
}
