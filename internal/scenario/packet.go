package scenario

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// SYN is the transport of a packet that opens a TCP connection.
const SYN probe.Transport = "syn"

// Packet is one query on the wire, or the SYN of a TCP connection, as a sniffer beside the libc sees it.
type Packet struct {
	// At is the time since the start of the process.
	At        time.Duration
	Transport probe.Transport
	Server    netip.Addr
	// Socket and ID are classes, counted from 1 in order of appearance: equal numbers mean the same socket, the same id. A
	// SYN has no ID.
	Socket, ID int
	Type       probe.QueryType
	// Name is fully qualified; each rune stands for one byte of the name on the wire.
	Name string
	// Size is the size of the message in bytes, 0 when unknown.
	Size int
	AD   bool
	// EDNSSize is the payload size of the OPT record, 0 without one.
	EDNSSize uint16
	// EDNSOptions are the codes of the options in the OPT record.
	EDNSOptions []uint16
	// Raw is a message that is no well-formed query, without its id; Name and Type are then empty.
	Raw string
}

// optionCookie is the code of the COOKIE option (RFC 7873).
const optionCookie = 10

// classes numbers values in order of appearance, from 1.
type classes[T comparable] map[T]int

func (c classes[T]) of(v T) int {
	if _, ok := c[v]; !ok {
		c[v] = len(c) + 1
	}
	return c[v]
}

// Recorder is a Network that notes down what is sent through another one.
type Recorder struct {
	resolver.Network
	start   time.Time
	servers map[resolver.Socket]netip.Addr
	tcp     map[resolver.Socket]bool
	sockets classes[resolver.Socket]
	ids     classes[uint16]
	packets []Packet
}

// Record returns a Recorder in front of n. Times count from now.
func Record(n resolver.Network) *Recorder {
	return &Recorder{
		Network: n, start: n.Now(), servers: map[resolver.Socket]netip.Addr{}, tcp: map[resolver.Socket]bool{},
		sockets: classes[resolver.Socket]{}, ids: classes[uint16]{},
	}
}

// Packets returns what was sent so far.
func (r *Recorder) Packets() []Packet { return r.packets }

// Open opens a socket, and notes down a SYN.
func (r *Recorder) Open(t probe.Transport, server netip.AddrPort, o resolver.OpenOptions) (resolver.Socket, error) {
	s, err := r.Network.Open(t, server, o)
	if err != nil {
		return s, err
	}
	r.servers[s], r.tcp[s] = server.Addr().Unmap(), t == probe.TCP
	if t == probe.TCP {
		r.packets = append(r.packets, Packet{
			At: r.Now().Sub(r.start), Transport: SYN, Server: server.Addr().Unmap(), Socket: r.sockets.of(s),
		})
	}
	return s, nil
}

// Send sends queries and notes them down.
func (r *Recorder) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	t, server := probe.UDP, to.Addr().Unmap()
	if r.tcp[s] {
		t = probe.TCP
	}
	if !server.IsValid() {
		server = r.servers[s]
	}
	for _, q := range queries {
		p := Packet{
			At: r.Now().Sub(r.start), Transport: t, Server: server, Socket: r.sockets.of(s), ID: r.ids.of(q.ID),
			Size: simnet.QuerySize(q), AD: q.AD, EDNSSize: q.EDNSSize,
		}
		if q.EDNSSize != 0 && len(q.Cookie) > 0 {
			p.EDNSOptions = []uint16{optionCookie}
		}
		if len(q.Wire) > 2 {
			p.Raw = string(q.Wire[2:])
		} else {
			p.Type, p.Name = q.Type, Wire(q.Name)
		}
		r.packets = append(r.packets, p)
	}
	return r.Network.Send(s, to, queries...)
}

// FromEvents returns the packets that the events of resolutions tell of. It knows neither SYNs nor sizes; Compare then leaves
// them out of account. starts has, by resolution id, the time of its start since the start of the process; nil is fine for one.
func FromEvents(events []probe.Event, starts map[string]time.Duration) []Packet {
	type socket struct {
		resolution string
		n          int
	}
	names := map[string]map[int]string{}
	sockets, ids := classes[socket]{}, classes[uint16]{}
	var packets []Packet
	for _, ev := range events {
		switch {
		case ev.Kind == probe.KindAttempt && ev.Attempt != nil:
			if names[ev.Resolution] == nil {
				names[ev.Resolution] = map[int]string{}
			}
			names[ev.Resolution][ev.Attempt.N] = Wire(ev.Attempt.Name)
		case ev.Kind == probe.KindSent && ev.Sent != nil:
			addr := serverAddr(ev.Sent.Server)
			packets = append(packets, Packet{
				At: starts[ev.Resolution] + ev.At.Duration(), Transport: ev.Sent.Transport, Server: addr,
				Socket: sockets.of(socket{ev.Resolution, ev.Sent.Socket}), ID: ids.of(ev.Sent.ID),
				Type: ev.Sent.Type, Name: names[ev.Resolution][ev.Sent.Attempt],
			})
		}
	}
	return packets
}

// serverAddr reads a server as events have it, with or without a port.
func serverAddr(text string) netip.Addr {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap()
	}
	addr, _ := netip.ParseAddr(text)
	return addr.Unmap()
}

// Wire turns a name in presentation format (RFC 1035 section 5.1) into one rune a byte of the wire, the dots between labels
// included.
func Wire(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '\\' && i+1 < len(name) {
			if i+3 < len(name) {
				if n, err := strconv.ParseUint(name[i+1:i+4], 10, 8); err == nil {
					b.WriteRune(rune(n))
					i += 3
					continue
				}
			}
			i++
			c = name[i]
		}
		b.WriteRune(rune(c))
	}
	return b.String()
}

// withoutSYN returns packets without SYNs, classes counted anew.
func withoutSYN(packets []Packet) []Packet {
	sockets, ids := classes[int]{}, classes[int]{}
	var out []Packet
	for _, p := range packets {
		if p.Transport == SYN {
			continue
		}
		p.Socket, p.ID = sockets.of(p.Socket), ids.of(p.ID)
		p.EDNSOptions = slices.Clone(p.EDNSOptions)
		out = append(out, p)
	}
	return out
}

func hasSYN(packets []Packet) bool {
	return slices.ContainsFunc(packets, func(p Packet) bool { return p.Transport == SYN })
}
