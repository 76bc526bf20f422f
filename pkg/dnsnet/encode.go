package dnsnet

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxNameOctets bounds a name on the wire (RFC 1035 section 3.1).
const maxNameOctets = 255

// overlong is by how many octets a name may be longer where the query says so.
const overlong = 2

// Encode returns the message of q as it goes into a datagram. Names that no message can hold (an empty or too long label,
// more than 255 octets, no final dot) are an error. Query.Wire is returned as it is.
func Encode(q resolver.Query) ([]byte, error) {
	if q.Wire != nil {
		return q.Wire, nil
	}
	var name [maxNameOctets + overlong + 1]byte
	end, err := dns.PackDomainName(q.Name, name[:], 0, nil, false)
	if err == nil && end > maxNameOctets && end <= maxNameOctets+overlong && q.Overlong {
		return encodeLong(q, name[:end])
	}
	if err == nil && (end == 0 || end > maxNameOctets) {
		err = fmt.Errorf("it takes %d octets, of 1 to %d", end, maxNameOctets)
	}
	if err != nil {
		return nil, fmt.Errorf("encode a query for %q: the name does not fit into a message: %w", q.Name, err)
	}
	m := messageOf(q)
	wire, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("encode a query for %q: %w", q.Name, err)
	}
	return wire, nil
}

// encodeLong puts a name into a message that is longer than names may be.
func encodeLong(q resolver.Query, name []byte) ([]byte, error) {
	const nameStart, rootOctets = 12, 1
	q.Name = "."
	m := messageOf(q)
	wire, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("encode a query for a name of %d octets: %w", len(name), err)
	}
	return slices.Concat(wire[:nameStart], name, wire[nameStart+rootOctets:]), nil
}

func messageOf(q resolver.Query) dns.Msg {
	m := dns.Msg{
		MsgHdr:   dns.MsgHdr{Id: q.ID, RecursionDesired: true, AuthenticatedData: q.AD},
		Question: []dns.Question{{Name: q.Name, Qtype: resolver.TypeNumber(q.Type), Qclass: dns.ClassINET}},
	}
	if q.EDNSSize != 0 {
		opt := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		opt.SetUDPSize(q.EDNSSize)
		if len(q.Cookie) > 0 {
			opt.Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: hex.EncodeToString(q.Cookie)}}
		}
		m.Extra = []dns.RR{opt}
	}
	return m
}
