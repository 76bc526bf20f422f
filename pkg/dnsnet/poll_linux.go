package dnsnet

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Poll implements resolver.Network.
func (n *Network) Poll(deadline time.Time) (resolver.Event, error) {
	for {
		if err := n.ctx.Err(); err != nil {
			return resolver.Event{}, err
		}
		for _, s := range n.sockets {
			if ev, ok := s.ready(); ok {
				return ev, nil
			}
		}
		if deadline.IsZero() && len(n.sockets) == 0 {
			return resolver.Event{}, resolver.ErrNothingComes
		}
		late, err := n.wait(deadline)
		if err != nil {
			return resolver.Event{}, err
		}
		if late {
			return resolver.Event{Kind: resolver.EventDeadline, At: time.Now()}, nil
		}
	}
}

// ready returns an event that needs no system call.
func (s *socket) ready() (resolver.Event, bool) {
	if s.tcp {
		// Before s.waiting: messages that came ahead of an end of the stream count.
		if msg, ok := s.in.next(); ok {
			return resolver.Event{
				Kind: resolver.EventReply, Socket: s.id, At: time.Now(), From: s.server, Reply: Decode(msg),
			}, true
		}
	}
	if ev := s.waiting; ev != nil {
		s.waiting = nil
		ev.Socket = s.id
		return *ev, true
	}
	return resolver.Event{}, false
}

// wait blocks until a socket has something, and takes in what it has: at most one event a socket. late is set when the
// deadline came first.
func (n *Network) wait(deadline time.Time) (late bool, err error) {
	fds := make([]unix.PollFd, 1, len(n.sockets)+1)
	fds[0] = unix.PollFd{Fd: int32(n.wake), Events: unix.POLLIN}
	for _, s := range n.sockets {
		fds = append(fds, unix.PollFd{Fd: int32(s.fd), Events: s.interest()})
		if s.over {
			// A finished stream would be ready for ever; negative descriptors are skipped (poll(2)).
			fds[len(fds)-1].Fd = -1
		}
	}
	var timeout *unix.Timespec
	if !deadline.IsZero() {
		ts := unix.NsecToTimespec(int64(max(0, time.Until(deadline))))
		timeout = &ts
	}
	ready, err := unix.Ppoll(fds, timeout, nil)
	switch {
	case errors.Is(err, unix.EINTR):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("wait on %d sockets: %w", len(n.sockets), err)
	case ready == 0:
		return true, nil
	}
	for i, s := range n.sockets {
		if got := fds[i+1].Revents; got != 0 {
			n.take(s, got)
			if s.waiting != nil {
				// The others keep what they have in the kernel until Poll is called again.
				return false, nil
			}
		}
	}
	return false, nil
}

func (s *socket) interest() int16 {
	switch {
	case s.connecting:
		return unix.POLLOUT
	case len(s.out) > 0:
		return unix.POLLIN | unix.POLLOUT
	}
	return unix.POLLIN
}

// take reads what poll saw on s into s.waiting or its reassembly.
func (n *Network) take(s *socket, got int16) {
	switch {
	case s.connecting:
		s.connected()
	case got&unix.POLLIN != 0 && s.tcp:
		n.read(s)
	case got&unix.POLLIN != 0:
		n.receive(s)
	case got&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
		n.broken(s)
	}
	if got&unix.POLLOUT != 0 && s.tcp && !s.connecting && !s.over {
		if err := s.flush(); err != nil {
			s.fail(err)
		}
	}
}

// connected ends a TCP handshake, well or badly.
func (s *socket) connected() {
	errno, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	if err != nil {
		s.fail(err)
		return
	}
	s.connecting = false
	s.waiting = &resolver.Event{Kind: resolver.EventConnected, At: time.Now(), From: s.server}
}

func (n *Network) read(s *socket) {
	got, err := unix.Read(s.fd, n.buf)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
	case err != nil:
		s.fail(err)
	case got == 0:
		s.over = true
		s.waiting = &resolver.Event{Kind: resolver.EventClosed, At: time.Now(), From: s.server}
	default:
		s.in.add(n.buf[:got])
	}
}

func (n *Network) receive(s *socket) {
	got, oobn, _, from, err := unix.Recvmsg(s.fd, n.buf, n.oob, 0)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return
	case err != nil:
		drainErrors(s.fd, n.buf, n.oob)
		s.waiting = &resolver.Event{Kind: resolver.EventError, At: time.Now(), Err: mapErr(err)}
		return
	}
	at := time.Now()
	if stamp, ok := kernelStamp(n.oob[:oobn]); ok {
		at = onOurClock(stamp, at, s.opened)
	}
	s.waiting = &resolver.Event{
		Kind: resolver.EventReply, At: at, From: n.from(s, addrPort(from)), Reply: Decode(n.buf[:got]),
	}
}

// from names a sender as the resolver would: zones the way the server's was written.
func (n *Network) from(s *socket, sender netip.AddrPort) netip.AddrPort {
	sender = n.opts.inward(sender)
	if sender.Port() == s.server.Port() && sender.Addr().WithZone("") == s.server.Addr().WithZone("") {
		return s.server
	}
	return sender
}

// broken tells the error that a socket has without having data.
func (n *Network) broken(s *socket) {
	errno, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if s.tcp {
		switch {
		case err != nil:
			s.fail(err)
		case errno != 0:
			s.fail(unix.Errno(errno))
		default:
			s.over = true
			s.waiting = &resolver.Event{Kind: resolver.EventClosed, At: time.Now(), From: s.server}
		}
		return
	}
	drainErrors(s.fd, n.buf, n.oob)
	if err == nil && errno != 0 {
		s.waiting = &resolver.Event{Kind: resolver.EventError, At: time.Now(), Err: mapErr(unix.Errno(errno))}
	}
}

// drainErrors empties the error queue of IP_RECVERR: while it holds something, poll returns at once.
func drainErrors(fd int, buf, oob []byte) {
	for range 64 {
		if _, _, _, _, err := unix.Recvmsg(fd, buf, oob, unix.MSG_ERRQUEUE); err != nil {
			return
		}
	}
}

// kernelStamp finds the receive timestamp of SO_TIMESTAMPNS, which is on the wall clock.
func kernelStamp(oob []byte) (time.Time, bool) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, false
	}
	for _, m := range msgs {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			ts := *(*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(ts.Unix()), true
		}
	}
	return time.Time{}, false
}

// onOurClock turns a wall clock stamp into a time with a monotonic reading. now is when the datagram was read and oldest
// when its socket was opened: a stamp outside of the two means that the wall clock was set in between.
func onOurClock(stamp, now, oldest time.Time) time.Time {
	age := now.Round(0).Sub(stamp)
	if age < 0 || age > now.Sub(oldest) {
		return now
	}
	return now.Add(-age)
}
