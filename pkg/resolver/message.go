package resolver

import (
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Query is a query message as a libc would build it. Flags that it does not name are 0; RD is always 1.
type Query struct {
	ID uint16
	// Name is fully qualified, in presentation format; its case is kept.
	Name string
	// Overlong allows Name to take two octets more than RFC 1035 does: c-ares counts otherwise, and sends such names.
	Overlong bool
	Type     probe.QueryType
	// AD asks for the AD bit (RFC 6840 section 5.7; glibc's trust-ad).
	AD bool
	// EDNSSize is the payload size of the OPT record (RFC 6891); 0 sends none.
	EDNSSize uint16
	// Cookie is the data of a COOKIE option in the OPT record (RFC 7873), 8 to 40 bytes; empty sends none.
	Cookie []byte
	// Wire, when set, is sent as it is: some libc versions send messages that no encoder would build.
	Wire []byte
}

// Reply is a message that arrived, decoded as far as it could be. Everything in it is hostile.
type Reply struct {
	// Size is the size of the message in bytes.
	Size int
	// Short is set when the message has not even a whole header (12 bytes); nothing else is set then.
	Short bool
	ID    uint16
	// Response is the QR bit.
	Response           bool
	AA, TC, RD, RA, AD bool
	Rcode              int
	Questions          []Question
	Answers            []Record
	// QDCount, ANCount, NSCount, ARCount are the header's counts, whether or not the sections could be decoded.
	QDCount, ANCount, NSCount, ARCount int
	// SOAMinimum is the MINIMUM field of an SOA record in the authority section; nil without one.
	SOAMinimum *uint32
	// EDNS tells that an OPT record is there (RFC 6891). Cookie is the data of its COOKIE option, nil without one; RcodeHigh are
	// the bits above the header's four that it adds to the rcode.
	EDNS      bool
	Cookie    []byte
	RcodeHigh uint8
	// Malformed tells why the sections could not be decoded, nil when they could. The header is valid all the same.
	Malformed error
}

// Question is an entry of a reply's question section.
type Question struct {
	Name string
	// Type and Class are numbers since anything can arrive.
	Type, Class uint16
}

// Record is a record of a reply's answer section.
type Record struct {
	Name        string
	Type, Class uint16
	TTL         uint32
	// Addr is the address of an A or AAAA record.
	Addr netip.Addr
	// Target is the target of a CNAME record.
	Target string
	// Data is the record's data in presentation format, at most 512 bytes.
	Data string
	// End is where the record ends in the message, in bytes; 0 when unknown. Libcs with small buffers read up to there only.
	End int
}

// Numbers of types and rcodes that resolvers tell apart (IANA registry of DNS parameters).
const (
	TypeA     uint16 = 1
	TypeCNAME uint16 = 5
	TypeSOA   uint16 = 6
	TypeDNAME uint16 = 39
	TypeAAAA  uint16 = 28
	TypeTXT   uint16 = 16
	TypeSRV   uint16 = 33
	ClassIN   uint16 = 1

	RcodeNoError  = 0
	RcodeFormErr  = 1
	RcodeServFail = 2
	RcodeNXDomain = 3
	RcodeNotImp   = 4
	RcodeRefused  = 5
)

// TypeNumber returns the number of a query type.
func TypeNumber(t probe.QueryType) uint16 {
	switch t {
	case probe.TypeAAAA:
		return TypeAAAA
	case probe.TypeSRV:
		return TypeSRV
	case probe.TypeTXT:
		return TypeTXT
	}
	return TypeA
}
