package dnstest

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// swallowTCP makes handshakes with addr go unanswered, as a firewall that drops them does: Linux drops the SYNs to a
// listener whose queue is full. The queue is filled with connections of our own, which are never accepted.
func (s *Server) swallowTCP(addr netip.Addr) error {
	domain, sa := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(s.port), Addr: addr.As16()})
	if addr.Is4() {
		domain, sa = unix.AF_INET, &unix.SockaddrInet4{Port: int(s.port), Addr: addr.As4()}
	}
	l, err := s.rawTCP(domain)
	if err != nil {
		return err
	}
	if err := unix.SetsockoptInt(l, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(l, sa); err != nil {
		return os.NewSyscallError("bind", err)
	}
	// A backlog of 0 has room for one connection (listen(2): the queue is full above its length).
	if err := unix.Listen(l, 0); err != nil {
		return os.NewSyscallError("listen", err)
	}
	fill, err := s.rawTCP(domain)
	if err != nil {
		return err
	}
	if err := unix.Connect(fill, sa); err != nil {
		return fmt.Errorf("fill the queue of a silent listener: %w", err)
	}
	return nil
}

// rawTCP returns a socket that Shut closes.
func (s *Server) rawTCP(domain int) (int, error) {
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	s.closers = append(s.closers, func() error { return unix.Close(fd) })
	return fd, nil
}
