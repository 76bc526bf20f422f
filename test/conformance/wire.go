package conformance

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Frame is one outgoing IP packet as the packet socket saw it.
type Frame struct {
	At time.Time
	IP []byte
}

// sent is a query or a SYN before its socket and id become classes.
type sent struct {
	at        time.Time
	transport probe.Transport
	from, to  netip.AddrPort
	msg       []byte
}

const dnsPort = 53

// IP protocol numbers.
const (
	protoTCP = 6
	protoUDP = 17
)

// queriesOf returns what the frames carry towards port 53, in order: UDP queries, SYNs, and the messages of TCP streams at the
// time at which they were whole.
func queriesOf(frames []Frame) []sent {
	var out []sent
	streams := map[[2]netip.AddrPort]*stream{}
	for _, f := range frames {
		src, dst, proto, payload, ok := parseIP(f.IP)
		if !ok {
			continue
		}
		switch {
		case proto == protoUDP && len(payload) >= 8:
			from, to := ports(src, dst, payload)
			if to.Port() == dnsPort {
				out = append(out, sent{f.At, probe.UDP, from, to, payload[8:]})
			}
		case proto == protoTCP && len(payload) >= 20:
			from, to := ports(src, dst, payload)
			if to.Port() != dnsPort {
				continue
			}
			key := [2]netip.AddrPort{from, to}
			if flags := payload[13]; flags&tcpSYN != 0 {
				out = append(out, sent{f.At, scenario.SYN, from, to, nil})
				streams[key] = &stream{next: binary.BigEndian.Uint32(payload[4:]) + 1}
				continue
			}
			s := streams[key]
			if s == nil {
				continue
			}
			for _, msg := range s.take(payload) {
				out = append(out, sent{f.At, probe.TCP, from, to, msg})
			}
		}
	}
	return out
}

const tcpSYN = 2

// stream puts the segments of one direction of a connection together. On a loopback they come in order; what was sent again is
// left out.
type stream struct {
	next uint32
	buf  []byte
}

// take adds a segment and returns the messages that are now whole.
func (s *stream) take(segment []byte) (messages [][]byte) {
	header := int(segment[12]>>4) * 4
	if header < 20 || header > len(segment) {
		return nil
	}
	data := segment[header:]
	already := int32(s.next - binary.BigEndian.Uint32(segment[4:]))
	if already < 0 || int(already) >= len(data) {
		return nil
	}
	data = data[already:]
	s.next += uint32(len(data))
	s.buf = append(s.buf, data...)
	for len(s.buf) >= 2 {
		end := 2 + int(binary.BigEndian.Uint16(s.buf))
		if len(s.buf) < end {
			break
		}
		messages = append(messages, s.buf[2:end:end])
		s.buf = s.buf[end:]
	}
	return messages
}

// parseIP reads an IPv4 or IPv6 packet without extension headers. Fragments are none of ours.
func parseIP(p []byte) (src, dst netip.Addr, proto byte, payload []byte, ok bool) {
	if len(p) < 20 {
		return
	}
	switch p[0] >> 4 {
	case 4:
		header, total := int(p[0]&15)*4, int(binary.BigEndian.Uint16(p[2:]))
		if header < 20 || total < header || total > len(p) || binary.BigEndian.Uint16(p[6:])&0x3fff != 0 {
			return
		}
		return netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20])), p[9], p[header:total], true
	case 6:
		if len(p) < 40 || 40+int(binary.BigEndian.Uint16(p[4:])) > len(p) {
			return
		}
		end := 40 + int(binary.BigEndian.Uint16(p[4:]))
		return netip.AddrFrom16([16]byte(p[8:24])), netip.AddrFrom16([16]byte(p[24:40])), p[6], p[40:end], true
	}
	return
}

func ports(src, dst netip.Addr, payload []byte) (from, to netip.AddrPort) {
	return netip.AddrPortFrom(src, binary.BigEndian.Uint16(payload)), netip.AddrPortFrom(dst, binary.BigEndian.Uint16(payload[2:]))
}

// parsed is what a query says, read by hand: whatever is not exactly as resolvers here send it makes it raw.
type parsed struct {
	id       uint16
	name     string
	kind     probe.QueryType
	ad       bool
	edns     uint16
	options  []uint16
	wellMade bool
}

// header bits of a query.
const (
	bitRD = 1 << 8
	bitAD = 1 << 5
)

func parseQuery(msg []byte) (q parsed) {
	if len(msg) < 2 {
		return q
	}
	q.id = binary.BigEndian.Uint16(msg)
	if len(msg) < 12 {
		return q
	}
	bits := binary.BigEndian.Uint16(msg[2:])
	counts := [4]uint16{}
	for i := range counts {
		counts[i] = binary.BigEndian.Uint16(msg[4+2*i:])
	}
	if bits&^bitAD != bitRD || counts[0] != 1 || counts[1] != 0 || counts[2] != 0 || counts[3] > 1 {
		return q
	}
	q.ad = bits&bitAD != 0
	rest, ok := q.question(msg[12:])
	if !ok {
		return q
	}
	if counts[3] == 1 {
		if rest, ok = q.opt(rest); !ok {
			return q
		}
	}
	q.wellMade = len(rest) == 0
	return q
}

// question reads an uncompressed question of class IN and returns what is behind it.
func (q *parsed) question(p []byte) ([]byte, bool) {
	var name strings.Builder
	for {
		if len(p) == 0 || p[0] > 63 || len(p) < 1+int(p[0]) {
			return nil, false
		}
		n := int(p[0])
		if n == 0 {
			p = p[1:]
			break
		}
		for _, c := range p[1 : 1+n] {
			name.WriteRune(rune(c))
		}
		name.WriteByte('.')
		p = p[1+n:]
	}
	if q.name = name.String(); q.name == "" {
		q.name = "."
	}
	if len(p) < 4 || binary.BigEndian.Uint16(p[2:]) != 1 {
		return nil, false
	}
	switch binary.BigEndian.Uint16(p) {
	case 1:
		q.kind = probe.TypeA
	case 28:
		q.kind = probe.TypeAAAA
	default:
		return nil, false
	}
	return p[4:], true
}

// opt reads an OPT record of version 0 without flags (RFC 6891 section 6.1.2).
func (q *parsed) opt(p []byte) ([]byte, bool) {
	if len(p) < 11 || p[0] != 0 || binary.BigEndian.Uint16(p[1:]) != 41 || binary.BigEndian.Uint32(p[5:]) != 0 {
		return nil, false
	}
	q.edns = binary.BigEndian.Uint16(p[3:])
	end := 11 + int(binary.BigEndian.Uint16(p[9:]))
	if len(p) < end {
		return nil, false
	}
	for data := p[11:end]; len(data) > 0; {
		if len(data) < 4 || len(data) < 4+int(binary.BigEndian.Uint16(data[2:])) {
			return nil, false
		}
		q.options = append(q.options, binary.BigEndian.Uint16(data))
		data = data[4+int(binary.BigEndian.Uint16(data[2:])):]
	}
	return p[end:], true
}

// packetsOf turns queries into packets with times since start. Sockets and ids become classes.
//
// A port or an id can be drawn twice by chance, about once in 65,536 pairs, which over a whole run is bound to happen. So the
// class of a UDP socket and of an id counts within the packets about one name; shared tells how often packets about different
// names shared a socket, which no libc here does on purpose. oneSocket is for a libc that asks all servers from one socket.
func packetsOf(queries []sent, start time.Time, oneSocket bool) (packets []scenario.Packet, shared int) {
	type socketKey struct {
		transport probe.Transport
		from, to  netip.AddrPort
		name      string
	}
	type idKey struct {
		id   uint16
		name string
		kind probe.QueryType
	}
	sockets, ids := map[socketKey]int{}, map[idKey]int{}
	names := map[socketKey]string{}
	for _, s := range queries {
		p := scenario.Packet{At: s.at.Sub(start), Transport: s.transport, Server: s.to.Addr().Unmap()}
		socket := socketKey{transport: s.transport, from: s.from, to: s.to}
		if oneSocket && s.transport == probe.UDP {
			// Without the server, and without the source address, which differs by family.
			socket.from, socket.to = netip.AddrPortFrom(netip.Addr{}, s.from.Port()), netip.AddrPort{}
		}
		if s.transport == scenario.SYN {
			socket.transport = probe.TCP
			p.Socket = classOf(sockets, socket)
			packets = append(packets, p)
			continue
		}
		q := parseQuery(s.msg)
		p.Size = len(s.msg)
		if q.wellMade {
			p.Name, p.Type, p.AD, p.EDNSSize, p.EDNSOptions = q.name, q.kind, q.ad, q.edns, q.options
		} else {
			p.Raw = string(s.msg[min(2, len(s.msg)):])
		}
		if s.transport == probe.UDP {
			if before, known := names[socket]; known && before != p.Name {
				shared++
			}
			names[socket] = p.Name
			socket.name = p.Name
		}
		p.Socket = classOf(sockets, socket)
		p.ID = classOf(ids, idKey{q.id, p.Name, p.Type})
		packets = append(packets, p)
	}
	return packets, shared
}

func classOf[K comparable](classes map[K]int, k K) int {
	if _, ok := classes[k]; !ok {
		classes[k] = len(classes) + 1
	}
	return classes[k]
}
