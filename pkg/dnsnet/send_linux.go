package dnsnet

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// sendWaitMillis is how long a full UDP send buffer is waited for.
const sendWaitMillis = 1000

// Send implements resolver.Network.
func (n *Network) Send(id resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	s := n.find(id)
	if s == nil {
		return fmt.Errorf("send to %s: socket %d is closed", to, id)
	}
	msgs := make([][]byte, len(queries))
	for i, q := range queries {
		var err error
		if msgs[i], err = Encode(q); err != nil {
			return err
		}
	}
	if s.tcp {
		return s.sendTCP(msgs)
	}
	var addr unix.Sockaddr
	if _, err := unix.Getpeername(s.fd); err != nil {
		// Not connected.
		if addr, err = sockaddr(n.opts.outward(to), s.v6); err != nil {
			return err
		}
	}
	if err := s.sendUDP(addr, msgs); err != nil {
		return fmt.Errorf("send to %s: %w", to, mapErr(err))
	}
	return nil
}

// sendUDP hands over all messages in one system call where the socket is connected, as glibc does.
func (s *socket) sendUDP(to unix.Sockaddr, msgs [][]byte) error {
	for len(msgs) > 0 {
		var (
			sent = 1
			err  error
		)
		if to == nil {
			sent, err = sendmmsg(s.fd, msgs)
		} else {
			err = unix.Sendto(s.fd, msgs[0], unix.MSG_NOSIGNAL, to)
		}
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLOUT}}
			if ready, _ := unix.Poll(fds, sendWaitMillis); ready == 0 {
				return err
			}
		case err != nil:
			return err
		default:
			msgs = msgs[sent:]
		}
	}
	return nil
}

// mmsghdr is struct mmsghdr of sendmmsg(2).
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
}

// sendmmsg sends messages on a connected socket and returns how many the kernel took.
func sendmmsg(fd int, msgs [][]byte) (int, error) {
	iovs := make([]unix.Iovec, len(msgs))
	hdrs := make([]mmsghdr, len(msgs))
	for i, m := range msgs {
		if len(m) > 0 {
			iovs[i].Base = &m[0]
		}
		iovs[i].SetLen(len(m))
		hdrs[i].hdr.Iov = &iovs[i]
		hdrs[i].hdr.SetIovlen(1)
	}
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&hdrs[0])), uintptr(len(hdrs)),
		unix.MSG_NOSIGNAL, 0, 0)
	runtime.KeepAlive(msgs)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// sendTCP writes all messages at once. What the kernel does not take yet, Poll writes.
func (s *socket) sendTCP(msgs [][]byte) error {
	for _, m := range msgs {
		out, err := frame(s.out, m)
		if err != nil {
			return err
		}
		s.out = out
	}
	if s.connecting {
		return nil
	}
	if err := s.flush(); err != nil {
		return fmt.Errorf("send to %s over tcp: %w", s.server, mapErr(err))
	}
	return nil
}

// flush writes as much of s.out as the kernel takes.
func (s *socket) flush() error {
	for len(s.out) > 0 {
		n, err := unix.SendmsgN(s.fd, s.out, nil, nil, unix.MSG_NOSIGNAL)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return err
		}
		s.out = s.out[n:]
	}
	s.out = nil
	return nil
}
