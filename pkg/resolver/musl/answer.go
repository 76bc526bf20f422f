package musl

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// judge follows the end of name_from_dns: what the replies mean. next tells that the search goes on.
func (x *exchange) judge() (code eai, next bool, outcome probe.Outcome) {
	if !x.r.feat.bothHalves {
		return x.judgeOld()
	}
	for i := range x.queries {
		q := &x.queries[i]
		switch {
		case q.state != answered:
			return eaiAgain, false, x.failure(q)
		case q.reply.Rcode == resolver.RcodeNXDomain:
			return "", true, probe.NXDomain
		}
	}
	x.read()
	if len(x.addresses) > 0 {
		return eaiOK, false, probe.OK
	}
	return x.r.noAddress(), false, probe.NoData
}

// judgeOld is judge before 1.2.1: any address will do, and without one the first query's reply decides.
func (x *exchange) judgeOld() (code eai, next bool, outcome probe.Outcome) {
	x.read()
	first := &x.queries[0]
	switch {
	case len(x.addresses) > 0:
		return eaiOK, false, probe.OK
	case first.state != answered:
		return eaiAgain, false, x.failure(first)
	case first.reply.Rcode == resolver.RcodeNXDomain:
		return "", true, probe.NXDomain
	}
	return eaiNoName, false, probe.NoData
}

// failure says why a query has no reply that counts.
func (x *exchange) failure(q *asked) probe.Outcome {
	switch {
	case q.rejected != "":
		return q.rejected
	case x.silent:
		return probe.Timeout
	case x.Tries(q.ref) == 0:
		return probe.Unsent
	}
	for _, other := range x.queries {
		if other.rejected != "" {
			// The other query's connection ended the attempt.
			return other.rejected
		}
	}
	return probe.Timeout
}

// read gathers the addresses of the replies.
func (x *exchange) read() {
	for i := range x.queries {
		q := &x.queries[i]
		if x.r.feat.ownType {
			q = &x.queries[len(x.queries)-1-i]
		}
		if q.state == answered && q.reply.Rcode == resolver.RcodeNoError {
			x.parse(q)
		}
	}
}

// parse follows __dns_parse and dns_parse_callback. Owner names and classes are not looked at, and of a type only the lower byte.
func (x *exchange) parse(q *asked) {
	const mostRecords = 64
	reply := &q.reply
	if x.r.feat.oldParser && reply.QDCount+reply.ANCount > mostRecords {
		x.Note("the %s reply has %d records: this musl reads none of a reply with more than %d", q.Type, reply.ANCount, mostRecords)
		return
	}
	if !x.r.inStep(reply) {
		x.Note("the %s reply is about a name with bytes outside of ASCII: musl loses its way in it and finds no record", q.Type)
		return
	}
	for _, rr := range reply.Answers {
		if rr.End > x.r.feat.buffer {
			x.cutRecord(q, rr)
			return
		}
		if len(x.addresses) >= maxAddresses && !x.r.feat.ownType {
			return
		}
		switch t := rr.Type & 0xff; {
		case t == resolver.TypeCNAME:
			x.alias(rr)
		case t != resolver.TypeA && t != resolver.TypeAAAA:
		case x.r.feat.ownType && (len(x.addresses) >= maxAddresses || t != resolver.TypeNumber(q.Type)):
		case !rr.Addr.IsValid():
			// Data of the wrong length ends the reading.
			return
		default:
			x.addresses = append(x.addresses, rr.Addr)
		}
	}
}

// CutNote is in the note about a record that was cut. What musl makes of it depends on what was in its memory.
const CutNote = "takes an address from a record that is cut"

// cutRecord follows what versions before 1.2.4 do with the record at the end of their buffer: they only look whether as many bytes
// are left behind its name as its data has, so up to ten bytes at the end of the address may be none of the message. Here they
// are zero. Its owner name is taken to be a pointer.
func (x *exchange) cutRecord(q *asked, rr resolver.Record) {
	const pointerBytes, fixedBytes = 2, 10
	if x.r.feat.ownType || !rr.Addr.IsValid() || len(x.addresses) >= maxAddresses {
		return
	}
	data := rr.Addr.AsSlice()
	begin := rr.End - len(data) - fixedBytes
	known := x.r.feat.buffer - begin - fixedBytes
	if known < 0 || begin+len(data) > x.r.feat.buffer || begin < pointerBytes {
		return
	}
	clear(data[known:])
	addr, _ := netip.AddrFromSlice(data)
	x.addresses = append(x.addresses, addr)
	x.Note("musl before 1.2.4 %s off after %d of its %d bytes, and fills it with what is in its memory: the last %s address is none of the server's",
		CutNote, known, len(data), q.Type)
}

// inStep follows the way that __dns_parse takes over the questions to the first record. It does not go from label to label, but
// on to the first byte that is 0 or at least 128, which it takes for the end of the name or for a pointer; a name with such a byte
// in a label throws it off, unless that byte is near enough to the end. Owner names are taken to be pointers, but the first one
// where no question has it.
func (r *Resolver) inStep(reply *resolver.Reply) bool {
	var wire []byte
	for _, q := range reply.Questions {
		name, ok := wireName(q.Name)
		if !ok {
			return false
		}
		wire = append(append(wire, name...), byte(q.Type>>8), byte(q.Type), byte(q.Class>>8), byte(q.Class))
	}
	owner, ok := firstOwner(reply)
	if !ok {
		return false
	}
	wire = append(wire, owner...)
	at := 0
	for range reply.Questions {
		if at = nameEnd(wire, at); r.offName(wire, at) {
			return false
		}
		if at += 5; wire[at-5] != 0 {
			at++
		}
	}
	if at = nameEnd(wire, at); r.offName(wire, at) {
		return false
	}
	if at++; wire[at-1] != 0 {
		at++
	}
	return at == len(wire)
}

// offName reports whether musl gives up at what it takes for the end of a name. Until 1.2.4 only pointers to the beginning of the
// message are taken.
func (r *Resolver) offName(wire []byte, at int) bool {
	return at >= len(wire) || r.feat.oldParser && wire[at] > 193
}

// firstOwner returns the first record's name as it is in the message.
func firstOwner(reply *resolver.Reply) (name []byte, ok bool) {
	if len(reply.Answers) > 0 && !slices.ContainsFunc(reply.Questions, func(q resolver.Question) bool {
		return resolver.SameName(q.Name, reply.Answers[0].Name)
	}) {
		return wireName(reply.Answers[0].Name)
	}
	return []byte{0xc0, 12}, true
}

// wireName returns a name as it is in a message, without compression.
func wireName(name string) (wire []byte, ok bool) {
	labels, err := resolver.Labels(name)
	if err != nil {
		return nil, false
	}
	for _, label := range labels {
		wire = append(append(wire, byte(len(label))), label...)
	}
	return append(wire, 0), true
}

// nameEnd returns where a name ends to musl.
func nameEnd(wire []byte, at int) int {
	for at < len(wire) && wire[at] != 0 && wire[at] < 128 {
		at++
	}
	return at
}

// alias takes a CNAME's target for the canonical name, where it looks like a host name.
func (x *exchange) alias(rr resolver.Record) {
	labels, err := resolver.Labels(rr.Target)
	if err != nil || rr.Target == "" {
		return
	}
	if name := strings.Join(labels, "."); isValidHostname(name) {
		x.canon.put(0, name)
	}
}
