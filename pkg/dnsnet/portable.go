package dnsnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// portable implements resolver.Network with package net: a goroutine a socket that reports to one channel. It is what
// systems other than Linux get; it compiles and is tested everywhere.
type portable struct {
	ctx     context.Context
	stop    context.CancelFunc
	opts    Options
	sockets map[resolver.Socket]*portableSocket
	opened  int
	events  chan resolver.Event
}

type portableSocket struct {
	id        resolver.Socket
	tcp       bool
	connected bool
	server    netip.AddrPort
	udp       *net.UDPConn
	// conn is the TCP connection once it stands; standing is closed then, or when it failed.
	conn     net.Conn
	standing chan struct{}
	out      chan []byte
	stop     context.CancelFunc
}

// portableQueue is how many events may wait for Poll before readers pause.
const portableQueue = 64

func newPortable(ctx context.Context, o Options) *portable {
	ctx, stop := context.WithCancel(ctx)
	return &portable{
		ctx: ctx, stop: stop, opts: o,
		sockets: map[resolver.Socket]*portableSocket{}, events: make(chan resolver.Event, portableQueue),
	}
}

// Shut closes all sockets. The Network cannot be used afterwards.
func (n *portable) Shut() {
	for id := range n.sockets {
		n.Close(id)
	}
	n.stop()
}

// Now returns the current time, with its monotonic reading.
func (n *portable) Now() time.Time { return time.Now() }

// Random16 returns a random number for a message id.
func (n *portable) Random16() uint16 { return random16() }

// Open implements resolver.Network.
func (n *portable) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	ctx, stop := context.WithCancel(n.ctx)
	s := &portableSocket{tcp: t == probe.TCP, connected: o.Connected, server: server, stop: stop}
	to := n.opts.outward(server)
	if !s.tcp {
		if err := s.openUDP(to); err != nil {
			stop()
			return 0, fmt.Errorf("open a udp socket to %s: %w", server, mapErr(err))
		}
	}
	n.opened++
	s.id = resolver.Socket(n.opened)
	n.sockets[s.id] = s
	if s.tcp {
		s.standing, s.out = make(chan struct{}), make(chan []byte, portableQueue)
		go n.runTCP(ctx, s, to)
	} else {
		context.AfterFunc(ctx, func() { _ = s.udp.Close() })
		go n.runUDP(ctx, s)
	}
	return s.id, nil
}

func (s *portableSocket) openUDP(to netip.AddrPort) (err error) {
	network := "udp4"
	if to.Addr().Is6() {
		network = "udp6"
	}
	if s.connected {
		s.udp, err = net.DialUDP(network, nil, net.UDPAddrFromAddrPort(to))
		return err
	}
	if to.Addr().Is6() {
		// One that reaches servers with IPv4 addresses, too.
		network = "udp"
	}
	s.udp, err = net.ListenUDP(network, nil)
	return err
}

// report hands an event to Poll, unless the socket is closed first.
func (n *portable) report(ctx context.Context, ev resolver.Event) {
	ev.At = time.Now()
	select {
	case n.events <- ev:
	case <-ctx.Done():
	}
}

func (n *portable) runUDP(ctx context.Context, s *portableSocket) {
	buf := make([]byte, maxMessage)
	for ctx.Err() == nil {
		got, from, err := s.udp.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			n.report(ctx, resolver.Event{Kind: resolver.EventError, Socket: s.id, Err: mapErr(err)})
			if !errors.Is(mapErr(err), resolver.ErrRefused) {
				return
			}
		default:
			from = n.opts.inward(netip.AddrPortFrom(from.Addr(), from.Port()))
			if s.connected {
				from = s.server
			}
			n.report(ctx, resolver.Event{Kind: resolver.EventReply, Socket: s.id, From: from, Reply: Decode(buf[:got])})
		}
	}
}

func (n *portable) runTCP(ctx context.Context, s *portableSocket, to netip.AddrPort) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to.String())
	if err != nil {
		close(s.standing)
		n.report(ctx, resolver.Event{Kind: resolver.EventError, Socket: s.id, Err: mapErr(err)})
		return
	}
	s.conn = conn
	close(s.standing)
	defer conn.Close()
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	n.report(ctx, resolver.Event{Kind: resolver.EventConnected, Socket: s.id, From: s.server})
	go func() {
		for {
			select {
			case msg := <-s.out:
				// A failed write shows up at the reader too.
				_, _ = conn.Write(msg)
			case <-ctx.Done():
				return
			}
		}
	}()
	n.readTCP(ctx, s, conn)
}

func (n *portable) readTCP(ctx context.Context, s *portableSocket, conn net.Conn) {
	var in reassembly
	buf := make([]byte, maxMessage)
	for {
		got, err := conn.Read(buf)
		in.add(buf[:got])
		for msg, ok := in.next(); ok; msg, ok = in.next() {
			n.report(ctx, resolver.Event{Kind: resolver.EventReply, Socket: s.id, From: s.server, Reply: Decode(msg)})
		}
		switch {
		case errors.Is(err, io.EOF):
			n.report(ctx, resolver.Event{Kind: resolver.EventClosed, Socket: s.id, From: s.server})
			return
		case err != nil:
			n.report(ctx, resolver.Event{Kind: resolver.EventError, Socket: s.id, Err: mapErr(err)})
			return
		}
	}
}

// Send implements resolver.Network.
func (n *portable) Send(id resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	s := n.sockets[id]
	if s == nil {
		return fmt.Errorf("send to %s: socket %d is closed", to, id)
	}
	var stream []byte
	for _, q := range queries {
		msg, err := Encode(q)
		if err != nil {
			return err
		}
		switch {
		case s.tcp:
			stream, err = frame(stream, msg)
		case s.connected:
			_, err = s.udp.Write(msg)
		default:
			_, err = s.udp.WriteToUDPAddrPort(msg, n.opts.outward(to))
		}
		if err != nil {
			return fmt.Errorf("send to %s: %w", to, mapErr(err))
		}
	}
	if !s.tcp {
		return nil
	}
	select {
	case s.out <- stream:
		return nil
	default:
		return fmt.Errorf("send to %s over tcp: the server does not read", to)
	}
}

// Poll implements resolver.Network.
func (n *portable) Poll(deadline time.Time) (resolver.Event, error) {
	if deadline.IsZero() && len(n.sockets) == 0 {
		return resolver.Event{}, resolver.ErrNothingComes
	}
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	for {
		if err := n.ctx.Err(); err != nil {
			return resolver.Event{}, err
		}
		// What has come counts before the deadline.
		select {
		case ev := <-n.events:
			if n.sockets[ev.Socket] != nil {
				return ev, nil
			}
			continue
		default:
		}
		select {
		case ev := <-n.events:
			if n.sockets[ev.Socket] != nil {
				return ev, nil
			}
		case <-late:
			return resolver.Event{Kind: resolver.EventDeadline, At: time.Now()}, nil
		case <-n.ctx.Done():
		}
	}
}

// LocalPort implements resolver.Network.
func (n *portable) LocalPort(id resolver.Socket) uint16 {
	s := n.sockets[id]
	if s == nil {
		return 0
	}
	local := net.Addr(nil)
	if s.tcp {
		select {
		case <-s.standing:
			if s.conn != nil {
				local = s.conn.LocalAddr()
			}
		default:
		}
	} else {
		local = s.udp.LocalAddr()
	}
	if local == nil {
		return 0
	}
	a, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return 0
	}
	return a.Port()
}

// Close implements resolver.Network.
func (n *portable) Close(id resolver.Socket) {
	if s := n.sockets[id]; s != nil {
		s.stop()
		delete(n.sockets, id)
	}
}
