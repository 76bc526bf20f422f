package dnsnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Bounds on what is kept of a hostile message. The largest honest answer section, 65,535 bytes of A records, stays below.
const (
	maxRecords  = 4096
	maxData     = 512
	headerBytes = 12
	// fixedBytes are type, class, TTL and data length behind a record's name (RFC 1035 section 3.2.1).
	fixedBytes = 10
)

// Decode turns a message into a Reply. It never fails: what cannot be decoded is told by Reply.Short and Reply.Malformed.
func Decode(msg []byte) resolver.Reply {
	r := resolver.Reply{Size: len(msg)}
	if len(msg) < headerBytes {
		r.Short = true
		return r
	}
	word := func(i int) int { return int(binary.BigEndian.Uint16(msg[i:])) }
	bits := word(2)
	r.ID = uint16(word(0))
	r.Response = bits&(1<<15) != 0
	r.AA, r.TC, r.RD, r.RA = bits&(1<<10) != 0, bits&(1<<9) != 0, bits&(1<<8) != 0, bits&(1<<7) != 0
	r.AD = bits&(1<<5) != 0
	r.Rcode = bits & 0xf
	r.QDCount, r.ANCount, r.NSCount, r.ARCount = word(4), word(6), word(8), word(10)
	r.Malformed = decodeSections(msg, &r)
	return r
}

// decodeSections fills in questions, answers and the SOA minimum, and returns the first thing that was wrong. Records with
// bad data are kept without it, since libcs skip them and read on.
func decodeSections(msg []byte, r *resolver.Reply) error {
	off := headerBytes
	for i := range r.QDCount {
		q, next, err := decodeQuestion(msg, off)
		if err != nil {
			return fmt.Errorf("question %d of %d: %w", i+1, r.QDCount, err)
		}
		if i < maxRecords {
			r.Questions = append(r.Questions, q)
		}
		off = next
	}
	var firstErr error
	for i := range r.ANCount {
		if i == maxRecords {
			return errors.Join(firstErr, fmt.Errorf("only %d of %d answers are kept", maxRecords, r.ANCount))
		}
		rec, next, err := decodeRecord(msg, off)
		if next == 0 {
			return fmt.Errorf("answer %d of %d: %w", i+1, r.ANCount, err)
		}
		if err != nil && firstErr == nil {
			firstErr = fmt.Errorf("answer %d of %d: %w", i+1, r.ANCount, err)
		}
		r.Answers = append(r.Answers, rec)
		off = next
	}
	off, err := decodeAuthority(msg, off, r)
	if err == nil {
		decodeAdditional(msg, off, r)
	}
	if firstErr == nil {
		firstErr = err
	}
	return firstErr
}

// decodeAdditional looks for an OPT record, and for a cookie in it. Most libcs never look at this section: a broken one does
// not make a message malformed.
func decodeAdditional(msg []byte, off int, r *resolver.Reply) {
	for range min(r.ARCount, maxRecords) {
		h, data, next, err := decodeHeader(msg, off)
		if err != nil {
			return
		}
		if off = next; h.Rrtype == dns.TypeOPT {
			r.EDNS, r.RcodeHigh, r.Cookie = true, uint8(h.Ttl>>24), cookie(msg[data:next])
			return
		}
	}
}

// cookie returns the data of the COOKIE option among options (RFC 6891 section 6.1.2), nil when there is none.
func cookie(options []byte) []byte {
	const header = 4
	for len(options) >= header {
		code, size := binary.BigEndian.Uint16(options), int(binary.BigEndian.Uint16(options[2:]))
		if options = options[header:]; size > len(options) {
			return nil
		}
		if code == dns.EDNS0COOKIE {
			return append([]byte{}, options[:size]...)
		}
		options = options[size:]
	}
	return nil
}

// decodeAuthority looks for an SOA record, and returns where the section ends.
func decodeAuthority(msg []byte, off int, r *resolver.Reply) (int, error) {
	for i := range min(r.NSCount, maxRecords) {
		h, data, next, err := decodeHeader(msg, off)
		if err != nil {
			return off, fmt.Errorf("authority record %d of %d: %w", i+1, r.NSCount, err)
		}
		off = next
		if h.Rrtype != resolver.TypeSOA || r.SOAMinimum != nil {
			continue
		}
		rr, _, err := dns.UnpackRRWithHeader(h, msg[:next], data)
		if err != nil {
			return off, fmt.Errorf("authority record %d of %d: %w", i+1, r.NSCount, err)
		}
		if soa, ok := rr.(*dns.SOA); ok && h.Rdlength > 0 {
			r.SOAMinimum = &soa.Minttl
		}
	}
	return off, nil
}

func decodeQuestion(msg []byte, off int) (resolver.Question, int, error) {
	name, off, err := dns.UnpackDomainName(msg, off)
	if err != nil {
		return resolver.Question{}, 0, err
	}
	if off+4 > len(msg) {
		return resolver.Question{}, 0, errCut
	}
	return resolver.Question{
		Name: name, Type: binary.BigEndian.Uint16(msg[off:]), Class: binary.BigEndian.Uint16(msg[off+2:]),
	}, off + 4, nil
}

var errCut = errors.New("the message ends before it")

// decodeRecord reads one record. next is 0 when its end is not known; a record with bad data has its header and an error.
func decodeRecord(msg []byte, off int) (rec resolver.Record, next int, err error) {
	h, data, next, err := decodeHeader(msg, off)
	if err != nil {
		return resolver.Record{}, 0, err
	}
	rec = resolver.Record{Name: h.Name, Type: h.Rrtype, Class: h.Class, TTL: h.Ttl, End: next}
	// Data may point back into the message for compressed names, but never past its own end.
	rr, _, err := dns.UnpackRRWithHeader(h, msg[:next], data)
	if err != nil {
		return rec, next, err
	}
	switch rr := rr.(type) {
	case *dns.A:
		if a, ok := netip.AddrFromSlice(rr.A.To4()); ok {
			rec.Addr = a
			rec.Data = a.String()
		}
	case *dns.AAAA:
		if a, ok := netip.AddrFromSlice(rr.AAAA); ok {
			rec.Addr = a
			rec.Data = a.String()
		}
	case *dns.CNAME:
		rec.Target, rec.Data = rr.Target, cut(rr.Target)
	default:
		rec.Data = cut(strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return rec, next, nil
}

// decodeHeader reads a record's name and fixed part; data and next are where its data begins and ends.
func decodeHeader(msg []byte, off int) (h dns.RR_Header, data, next int, err error) {
	name, off, err := dns.UnpackDomainName(msg, off)
	if err != nil {
		return h, 0, 0, err
	}
	if off+fixedBytes > len(msg) {
		return h, 0, 0, errCut
	}
	h = dns.RR_Header{
		Name: name, Rrtype: binary.BigEndian.Uint16(msg[off:]), Class: binary.BigEndian.Uint16(msg[off+2:]),
		Ttl: binary.BigEndian.Uint32(msg[off+4:]), Rdlength: binary.BigEndian.Uint16(msg[off+8:]),
	}
	data = off + fixedBytes
	next = data + int(h.Rdlength)
	if next > len(msg) {
		return h, 0, 0, errCut
	}
	return h, data, next, nil
}

func cut(s string) string {
	if len(s) > maxData {
		return s[:maxData]
	}
	return s
}
