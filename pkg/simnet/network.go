package simnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sort"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxPending bounds the events under way in a Network.
const maxPending = 1 << 16

// Options of a Network.
type Options struct {
	// Start is the virtual time at the beginning; zero means 2026-01-01T00:00:00Z, so that runs can be compared. Where the clock of
	// State is further, it goes on from there.
	Start time.Time
	// Seed decides ids and losses.
	Seed uint64
	// State is what the servers remember; nil means servers that were never asked. Networks that follow each other can
	// share one: time goes on from one to the next.
	State *State
	// Pace is how many real seconds a virtual second takes: 0 jumps from event to event, 1 runs in real time.
	Pace float64
}

// Network is a resolver.Network over a World, in virtual time.
type Network struct {
	ctx   context.Context
	world *World
	state *State
	ids   *rand.Rand
	pace  float64

	start, now time.Time
	wallStart  time.Time

	sockets map[resolver.Socket]*socket
	opened  resolver.Socket
	// pending is what is under way, the last of it due next. At the same time the one that was caused first is.
	pending []resolver.Event
}

type socket struct {
	transport probe.Transport
	port      uint16
	server    netip.AddrPort
	connected bool
	// flows has the time of the first datagram to each server, where a race between datagrams is modelled.
	flows map[netip.AddrPort]time.Time
	// established is set once a TCP handshake is through; ended once the server closed or reset.
	established, ended bool
	// lastReply keeps the order of a stream.
	lastReply time.Time
}

var _ resolver.Network = (*Network)(nil)

// New returns a Network over w. Poll fails with ctx's error once ctx has ended, also while it waits for the pace.
func New(ctx context.Context, w *World, o Options) *Network {
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.State == nil {
		o.State = NewState(o.Seed)
	}
	if o.State.now.After(o.Start) {
		o.Start = o.State.now
	}
	o.State.now = o.Start
	return &Network{
		ctx: ctx, world: w, state: o.State, pace: o.Pace,
		ids:   rand.New(rand.NewPCG(o.Seed, 0xd1b54a32d192ed03)),
		start: o.Start, now: o.Start, wallStart: time.Now(),
		sockets: map[resolver.Socket]*socket{},
	}
}

// Now returns the virtual time.
func (n *Network) Now() time.Time { return n.now }

// Random16 returns the next number of the seed's sequence.
func (n *Network) Random16() uint16 { return uint16(n.ids.Uint32()) }

// LocalPort returns the source port of an open socket.
func (n *Network) LocalPort(id resolver.Socket) uint16 {
	if s, open := n.sockets[id]; open {
		return s.port
	}
	return 0
}

// Open opens a socket; a TCP socket starts its handshake.
func (n *Network) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	n.opened++
	s := &socket{transport: t, port: n.state.port(), server: server, connected: o.Connected}
	n.sockets[n.opened] = s
	if t != probe.TCP {
		return n.opened, nil
	}
	ev := resolver.Event{Kind: resolver.EventConnected, Socket: n.opened}
	r := n.world.Connect(server.Addr())
	switch {
	case server.Port() != 53 || r.Refused:
		ev.Kind, ev.Err = resolver.EventError, resolver.ErrRefused
	case r.Silent:
		ev.Kind, ev.Err, r.Delay = resolver.EventError, resolver.ErrConnectTimedOut, ConnectTimeout
	}
	return n.opened, n.push(n.now.Add(r.Delay), ev)
}

// Send sends queries and schedules what comes of them.
func (n *Network) Send(id resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	s, ok := n.sockets[id]
	if !ok {
		return fmt.Errorf("send on socket %d: it is not open", id)
	}
	if s.transport == probe.TCP {
		return n.sendStream(id, s, queries)
	}
	if s.connected {
		to = s.server
	}
	for _, q := range queries {
		if err := n.sendDatagram(id, s, to, q); err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) sendDatagram(id resolver.Socket, s *socket, to netip.AddrPort, q resolver.Query) error {
	r := n.world.React(n.state, q, Arrival{Server: to.Addr(), Transport: probe.UDP, Port: s.port, At: n.now})
	raced := n.raced(s, to)
	switch {
	case to.Port() != 53 || r.Refused:
		// An unconnected socket never sees the ICMP error.
		if !s.connected {
			return nil
		}
		return n.push(n.now.Add(r.Delay), resolver.Event{Kind: resolver.EventError, Socket: id, Err: resolver.ErrRefused})
	case r.Silent || raced:
		return nil
	}
	return n.push(n.now.Add(r.Delay), resolver.Event{Kind: resolver.EventReply, Socket: id, From: to, Reply: r.Reply})
}

// raced says whether a datagram is lost because it leaves at the same instant as the first one of its flow.
func (n *Network) raced(s *socket, to netip.AddrPort) bool {
	if n.world.PairRace == 0 {
		return false
	}
	if first, known := s.flows[to]; known {
		return first.Equal(n.now) && n.state.chance(n.world.PairRace)
	}
	if s.flows == nil {
		s.flows = map[netip.AddrPort]time.Time{}
	}
	s.flows[to] = n.now
	return false
}

var errNotConnected = errors.New("the connection does not stand")

func (n *Network) sendStream(id resolver.Socket, s *socket, queries []resolver.Query) error {
	switch {
	case !s.established:
		return fmt.Errorf("send over tcp to %s: %w", s.server, errNotConnected)
	case s.ended:
		return resolver.ErrReset
	}
	for _, q := range queries {
		r := n.world.React(n.state, q, Arrival{Server: s.server.Addr(), Transport: probe.TCP, Port: s.port, At: n.now})
		at := n.now.Add(r.Delay)
		if at.Before(s.lastReply) {
			at = s.lastReply
		}
		if r.Reset {
			s.ended = true
			return n.push(at, resolver.Event{Kind: resolver.EventError, Socket: id, Err: resolver.ErrReset})
		}
		if !r.Silent {
			s.lastReply = at
			if err := n.push(at, resolver.Event{Kind: resolver.EventReply, Socket: id, From: s.server, Reply: r.Reply}); err != nil {
				return err
			}
		}
		if r.Close {
			s.ended = true
			return n.push(at, resolver.Event{Kind: resolver.EventClosed, Socket: id})
		}
	}
	return nil
}

// Poll moves the clock to the next event or to the deadline, whichever is first. At the same instant an event comes before
// the deadline, and events come in the order in which they were caused.
func (n *Network) Poll(deadline time.Time) (resolver.Event, error) {
	if err := n.ctx.Err(); err != nil {
		return resolver.Event{}, err
	}
	for len(n.pending) > 0 {
		next := n.pending[len(n.pending)-1]
		if !deadline.IsZero() && next.At.After(deadline) {
			break
		}
		if err := n.advance(next.At); err != nil {
			return resolver.Event{}, err
		}
		n.pending = n.pending[:len(n.pending)-1]
		s, open := n.sockets[next.Socket]
		if !open {
			continue
		}
		if next.Kind == resolver.EventConnected {
			s.established = true
		}
		return next, nil
	}
	if deadline.IsZero() {
		return resolver.Event{}, resolver.ErrNothingComes
	}
	if err := n.advance(deadline); err != nil {
		return resolver.Event{}, err
	}
	return resolver.Event{Kind: resolver.EventDeadline, At: n.now}, nil
}

// Idle reports whether nothing is under way: a Poll without a deadline would return resolver.ErrNothingComes.
func (n *Network) Idle() bool {
	for _, q := range n.pending {
		if _, open := n.sockets[q.Socket]; open {
			return false
		}
	}
	return true
}

// Close closes a socket.
func (n *Network) Close(id resolver.Socket) { delete(n.sockets, id) }

// Sleep moves the clock on as if the process had done something else meanwhile; what arrives waits.
func (n *Network) Sleep(d time.Duration) error { return n.advance(n.now.Add(d)) }

// advance moves the clock to at, and waits until real time has caught up with the pace.
func (n *Network) advance(at time.Time) error {
	if !at.After(n.now) {
		return nil
	}
	n.now = at
	if at.After(n.state.now) {
		n.state.now = at
	}
	if n.pace <= 0 {
		return nil
	}
	due := n.wallStart.Add(time.Duration(float64(at.Sub(n.start)) * n.pace))
	wait := time.NewTimer(time.Until(due))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-n.ctx.Done():
		return n.ctx.Err()
	}
}

func (n *Network) push(at time.Time, ev resolver.Event) error {
	if len(n.pending) >= maxPending {
		return fmt.Errorf("over %d events under way in the modelled network", maxPending)
	}
	ev.At = at
	later := sort.Search(len(n.pending), func(i int) bool { return !n.pending[i].At.After(at) })
	n.pending = slices.Insert(n.pending, later, ev)
	return nil
}
