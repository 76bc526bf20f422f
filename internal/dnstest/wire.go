package dnstest

import (
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// decodeQuery reads a query. What no resolver of ours would build on purpose comes back as Query.Wire, which a World drops.
func decodeQuery(wire []byte) resolver.Query {
	raw := resolver.Query{Wire: append([]byte{}, wire...)}
	if len(wire) >= 2 {
		raw.ID = binary.BigEndian.Uint16(wire)
	}
	var m dns.Msg
	if err := m.Unpack(wire); err != nil || m.Response || m.Opcode != dns.OpcodeQuery || len(m.Question) != 1 {
		return raw
	}
	q := resolver.Query{ID: m.Id, Name: m.Question[0].Name, AD: m.AuthenticatedData}
	switch m.Question[0].Qtype {
	case dns.TypeA:
		q.Type = probe.TypeA
	case dns.TypeAAAA:
		q.Type = probe.TypeAAAA
	case dns.TypeSRV:
		q.Type = probe.TypeSRV
	case dns.TypeTXT:
		q.Type = probe.TypeTXT
	default:
		return raw
	}
	if opt := m.IsEdns0(); opt != nil {
		q.EDNSSize = opt.UDPSize()
	}
	return q
}

// encodeReply returns the bytes of what a World replies.
func encodeReply(r resolver.Reply, edns bool) ([]byte, error) {
	m := dns.Msg{
		MsgHdr: dns.MsgHdr{
			Id: r.ID, Response: r.Response, Authoritative: r.AA, Truncated: r.TC, RecursionDesired: r.RD, RecursionAvailable: r.RA,
			AuthenticatedData: r.AD, Rcode: r.Rcode,
		},
		Compress: true,
	}
	for _, q := range r.Questions {
		m.Question = append(m.Question, dns.Question{Name: q.Name, Qtype: q.Type, Qclass: q.Class})
	}
	for _, rec := range r.Answers {
		rr, err := record(rec)
		if err != nil {
			return nil, err
		}
		m.Answer = append(m.Answer, rr)
	}
	if r.SOAMinimum != nil {
		m.Ns = append(m.Ns, &dns.SOA{
			Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: *r.SOAMinimum},
			Ns:  "ns.simnet.", Mbox: "hostmaster.simnet.", Serial: 1, Refresh: 7200, Retry: 900, Expire: 86400, Minttl: *r.SOAMinimum,
		})
	}
	if edns {
		opt := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		opt.SetUDPSize(simnet.ServerEDNSSize)
		m.Extra = append(m.Extra, opt)
	}
	wire, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("encode the reply to %v: %w", r.Questions, err)
	}
	return wire, nil
}

func record(rec resolver.Record) (dns.RR, error) {
	h := dns.RR_Header{Name: rec.Name, Rrtype: rec.Type, Class: rec.Class, Ttl: rec.TTL}
	switch rec.Type {
	case resolver.TypeA:
		return &dns.A{Hdr: h, A: rec.Addr.AsSlice()}, nil
	case resolver.TypeAAAA:
		return &dns.AAAA{Hdr: h, AAAA: rec.Addr.AsSlice()}, nil
	case resolver.TypeCNAME:
		return &dns.CNAME{Hdr: h, Target: rec.Target}, nil
	}
	return nil, fmt.Errorf("encode a record of %s: type %d is not one that a World makes", rec.Name, rec.Type)
}
