package dnsnet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Network implements resolver.Network on the sockets of this machine. Shut gives them back.
type Network struct {
	ctx  context.Context
	opts Options
	// wake is an eventfd that ends a ppoll when ctx ends.
	wake     int
	stopWake func() bool
	sockets  []*socket // the open ones, in order of Open: the order in which a libc looks at its poll set
	opened   int
	buf      []byte
	oob      []byte
}

// socket is an open socket and what has to be told about it.
type socket struct {
	id     resolver.Socket
	fd     int
	tcp    bool
	v6     bool
	server netip.AddrPort // as the resolver named it
	opened time.Time
	// connecting is set until the TCP handshake is over.
	connecting bool
	// waiting is an event that happened outside of Poll.
	waiting *resolver.Event
	in      reassembly
	out     []byte
	// over is set when the stream has ended and the end was told.
	over bool
}

// New returns a Network whose waits end when ctx ends.
func New(ctx context.Context, o Options) (*Network, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make an eventfd to wait on: %w", err)
	}
	n := &Network{ctx: ctx, opts: o, wake: wake, buf: make([]byte, maxMessage), oob: make([]byte, 512)}
	n.stopWake = context.AfterFunc(ctx, func() {
		// One is enough: the counter is never read, so the eventfd stays readable.
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	return n, nil
}

// Shut closes all sockets. The Network cannot be used afterwards.
func (n *Network) Shut() {
	for _, s := range n.sockets {
		_ = unix.Close(s.fd)
	}
	n.sockets = nil
	if n.stopWake() {
		// Otherwise the wake-up may be running right now; its eventfd must not become somebody else's descriptor.
		_ = unix.Close(n.wake)
	}
}

// Now returns the current time, with its monotonic reading.
func (n *Network) Now() time.Time { return time.Now() }

// Random16 returns a random number for a message id.
func (n *Network) Random16() uint16 { return random16() }

// Open implements resolver.Network.
func (n *Network) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	s, err := n.open(t, server, o)
	if err != nil {
		return 0, fmt.Errorf("open a %s socket to %s: %w", t, server, err)
	}
	n.opened++
	s.id = resolver.Socket(n.opened)
	n.sockets = append(n.sockets, s)
	return s.id, nil
}

func (n *Network) open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (*socket, error) {
	s := &socket{tcp: t == probe.TCP, v6: server.Addr().Is6(), server: server, opened: time.Now()}
	domain, kind := unix.AF_INET, unix.SOCK_DGRAM
	if s.v6 {
		domain = unix.AF_INET6
	}
	if s.tcp {
		kind = unix.SOCK_STREAM
	}
	addr, err := sockaddr(n.opts.outward(server), s.v6)
	if err != nil {
		return nil, err
	}
	s.fd, err = unix.Socket(domain, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if s.tcp {
		s.connecting = true
		switch err := unix.Connect(s.fd, addr); err {
		case nil, unix.EINPROGRESS:
		default:
			s.fail(err)
		}
		return s, nil
	}
	if err := s.prepareUDP(addr, o); err != nil {
		_ = unix.Close(s.fd)
		return nil, err
	}
	return s, nil
}

// prepareUDP asks for what Poll needs. A kernel that lacks an option only makes times and errors coarser.
func (s *socket) prepareUDP(server unix.Sockaddr, o resolver.OpenOptions) error {
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	if !o.Connected {
		var any unix.Sockaddr = &unix.SockaddrInet4{}
		if s.v6 {
			// As musl does: servers with IPv4 addresses are reached by the same socket. Where the kernel refuses, they are not.
			_ = unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
			any = &unix.SockaddrInet6{}
		}
		return unix.Bind(s.fd, any)
	}
	if err := unix.Connect(s.fd, server); err != nil {
		return mapErr(err)
	}
	if o.HardErrorsOnly {
		return nil
	}
	// As glibc does (resolv/res_enable_icmp.c): ICMP errors other than a refused port are reported at once.
	if s.v6 {
		_ = unix.SetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1)
	} else {
		_ = unix.SetsockoptInt(s.fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1)
	}
	return nil
}

// LocalPort implements resolver.Network.
func (n *Network) LocalPort(id resolver.Socket) uint16 {
	s := n.find(id)
	if s == nil {
		return 0
	}
	name, err := unix.Getsockname(s.fd)
	if err != nil {
		return 0
	}
	return addrPort(name).Port()
}

// Close implements resolver.Network.
func (n *Network) Close(id resolver.Socket) {
	for i, s := range n.sockets {
		if s.id == id {
			_ = unix.Close(s.fd)
			n.sockets = slices.Delete(n.sockets, i, i+1)
			return
		}
	}
}

func (n *Network) find(id resolver.Socket) *socket {
	for _, s := range n.sockets {
		if s.id == id {
			return s
		}
	}
	return nil
}

// fail keeps an error for Poll to tell.
func (s *socket) fail(err error) {
	s.connecting, s.over = false, true
	s.waiting = &resolver.Event{Kind: resolver.EventError, Socket: s.id, At: time.Now(), Err: mapErr(err)}
}

// sockaddr returns the kernel's form of an address. A zone may be a name or a number.
func sockaddr(a netip.AddrPort, v6 bool) (unix.Sockaddr, error) {
	if !v6 {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}, nil
	}
	sa := &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	zone := a.Addr().Zone()
	if zone == "" {
		return sa, nil
	}
	if index, err := strconv.ParseUint(zone, 10, 32); err == nil {
		sa.ZoneId = uint32(index)
		return sa, nil
	}
	link, err := net.InterfaceByName(zone)
	switch {
	case err == nil:
		sa.ZoneId = uint32(link.Index)
	case a.Addr().IsLinkLocalUnicast(), a.Addr().IsLinkLocalMulticast():
		// What the kernel says about such an address without a zone, which is what a libc hands to it.
		return nil, fmt.Errorf("find the zone %q of %s: %w (%w)", zone, a.Addr().WithZone(""), unix.EINVAL, err)
	}
	return sa, nil
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		a := netip.AddrFrom16(sa.Addr)
		if sa.ZoneId != 0 {
			a = a.WithZone(strconv.FormatUint(uint64(sa.ZoneId), 10))
		}
		return netip.AddrPortFrom(a, uint16(sa.Port))
	}
	return netip.AddrPort{}
}
