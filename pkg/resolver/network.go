// Package resolver holds what the resolvers of the libcs share: the Network they run over, the messages they exchange, the
// request they answer and the inputs they read from the target. The resolvers themselves are in packages below it, one a
// libc, and know nothing of real sockets.
package resolver

import (
	"errors"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Network is all that a resolver sees of the world outside: sockets, time, and waiting.
//
// Implementations: dnsnet (real sockets) and simnet (modelled servers in virtual time). A Network serves one resolver and is
// not safe for concurrent use. Every wait of an implementation on real sockets ends when the context that it was made
// with ends.
type Network interface {
	// Now returns the current time: monotonic, real or virtual.
	Now() time.Time
	// Open returns a socket towards server. A UDP socket is connected or not as o says. A TCP socket starts to connect and
	// returns at once; Poll then reports EventConnected or EventError.
	Open(t probe.Transport, server netip.AddrPort, o OpenOptions) (Socket, error)
	// Send hands over queries in order: on UDP one datagram each, on TCP all in one write. An error is that of the system call.
	Send(s Socket, to netip.AddrPort, queries ...Query) error
	// Poll waits for the next event on any open socket, or until deadline; a zero deadline means no deadline, as libcs
	// have it for TCP. It returns ErrNothingComes when a modelled world has no event left and there is no deadline, and the
	// context's error when that ended.
	Poll(deadline time.Time) (Event, error)
	// LocalPort returns the source port of a socket, 0 when there is none.
	LocalPort(s Socket) uint16
	// Close closes a socket; what still arrives on it is dropped.
	Close(s Socket)
	// Random16 returns a random number for a message id.
	Random16() uint16
}

// ErrNothingComes is returned by Poll when it would wait for ever.
var ErrNothingComes = errors.New("nothing will ever arrive and the libc has no timeout here")

// Socket identifies a socket of a Network, counted from 1 in the order of Open. It is never reused.
type Socket int

// OpenOptions are the ways in which libcs open their sockets differently.
type OpenOptions struct {
	// Connected asks for connect() on a UDP socket, so that ICMP errors are seen and only the server's replies arrive.
	Connected bool
	// HardErrorsOnly leaves out IP_RECVERR, which glibc asks for: a connected UDP socket then reports a refused port, but no ICMP
	// error that may pass (Linux net/ipv4/udp.c, __udp4_lib_err), such as a host that is unreachable for now.
	HardErrorsOnly bool
}

// EventKind tells what Poll saw.
type EventKind int

// What Poll can see.
const (
	// EventDeadline: nothing came until the deadline.
	EventDeadline EventKind = iota
	// EventReply: a whole message came (on TCP: the length prefix is taken off).
	EventReply
	// EventConnected: a TCP connection stands.
	EventConnected
	// EventClosed: the server closed a TCP connection in good order.
	EventClosed
	// EventError: the socket failed; Event.Err is one of the errors below or a system call's.
	EventError
)

// Errors of sockets that resolvers tell apart.
var (
	// ErrRefused is ECONNREFUSED: an ICMP port unreachable on UDP, a reset of the handshake on TCP.
	ErrRefused = errors.New("connection refused")
	// ErrReset is ECONNRESET on an established TCP connection.
	ErrReset = errors.New("connection reset")
	// ErrUnreachable is EHOSTUNREACH or ENETUNREACH.
	ErrUnreachable = errors.New("host or network unreachable")
	// ErrConnectTimedOut is ETIMEDOUT: the kernel gave up its SYN retries.
	ErrConnectTimedOut = errors.New("connect timed out")
)

// Event is what Poll returns.
type Event struct {
	Kind   EventKind
	Socket Socket
	// At is when it happened: for a datagram the kernel's receive timestamp, on the clock of Now.
	At time.Time
	// From is the sender of a reply.
	From  netip.AddrPort
	Reply Reply
	Err   error
}
