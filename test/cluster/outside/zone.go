package main

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// maxChain bounds how many CNAME records one answer follows, so that a loop in the zone ends.
const maxChain = 8

// world holds every record by its lower-case owner name.
type world struct {
	records map[string][]dns.RR
	// parents are names without records of their own that have names below them: they exist
	// (RFC 8020), so asking for them is "no data" and not "no such name".
	parents map[string]bool
}

// parseWorld reads the zone text; an error names the line.
func parseWorld(text string) (world, error) {
	w := world{records: map[string][]dns.RR{}, parents: map[string]bool{}}
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "world.zone")
	for record, ok := parser.Next(); ok; record, ok = parser.Next() {
		name := strings.ToLower(record.Header().Name)
		w.records[name] = append(w.records[name], record)
		for off, end := dns.NextLabel(name, 0); !end; off, end = dns.NextLabel(name, off) {
			w.parents[name[off:]] = true
		}
	}
	if err := parser.Err(); err != nil {
		return world{}, fmt.Errorf("read the zone: %w", err)
	}
	if len(w.records["."]) == 0 {
		return world{}, fmt.Errorf("read the zone: no SOA for the root, so nothing could be denied")
	}
	return w, nil
}

// answer is the reply to a request with exactly one question, not yet cut to the size of a datagram.
func (w world) answer(request *dns.Msg) *dns.Msg {
	reply := new(dns.Msg)
	reply.SetReply(request)
	reply.Authoritative = true
	reply.RecursionAvailable = true
	question := request.Question[0]
	name := strings.ToLower(question.Name)
	for range maxChain {
		next := ""
		for _, record := range w.at(name) {
			switch {
			case record.Header().Rrtype == question.Qtype:
				reply.Answer = append(reply.Answer, record)
			case record.Header().Rrtype == dns.TypeCNAME:
				reply.Answer = append(reply.Answer, record)
				next = strings.ToLower(record.(*dns.CNAME).Target)
			}
		}
		if next == "" {
			break
		}
		name = next
	}
	// Resolvers compare the answer's first owner with the question byte by byte (0x20 mixing).
	if len(reply.Answer) > 0 && strings.EqualFold(reply.Answer[0].Header().Name, question.Name) {
		for _, record := range reply.Answer {
			if strings.EqualFold(record.Header().Name, question.Name) {
				record.Header().Name = question.Name
			}
		}
	}
	if !hasType(reply.Answer, question.Qtype) {
		reply.Ns = append(reply.Ns, dns.Copy(w.soa(name)))
		if len(w.at(name)) == 0 && !w.parents[name] {
			reply.Rcode = dns.RcodeNameError
		}
	}
	return reply
}

// at returns copies of the records of a name: its own, or where it does not exist those of the wildcard below the closest name
// that does, with the name in the place of the asterisk (RFC 4592 section 3.3.1).
func (w world) at(name string) []dns.RR {
	source := name
	if !w.exists(name) {
		source = "*." + w.encloser(name)
	}
	var records []dns.RR
	for _, record := range w.records[source] {
		record = dns.Copy(record)
		record.Header().Name = name
		records = append(records, record)
	}
	return records
}

func (w world) exists(name string) bool { return len(w.records[name]) > 0 || w.parents[name] }

// encloser is the closest name above that exists; the root does always.
func (w world) encloser(name string) string {
	for off, end := dns.NextLabel(name, 0); !end; off, end = dns.NextLabel(name, off) {
		if w.exists(name[off:]) {
			return name[off:]
		}
	}
	return "."
}

func hasType(records []dns.RR, rrtype uint16) bool {
	for _, record := range records {
		if record.Header().Rrtype == rrtype {
			return true
		}
	}
	return false
}

// soa is the SOA record of the closest zone above the name; the root's exists always.
func (w world) soa(name string) dns.RR {
	for off, end := 0, false; !end; off, end = dns.NextLabel(name, off) {
		for _, record := range w.records[name[off:]] {
			if record.Header().Rrtype == dns.TypeSOA {
				return record
			}
		}
	}
	for _, record := range w.records["."] {
		if record.Header().Rrtype == dns.TypeSOA {
			return record
		}
	}
	return &dns.SOA{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET}, Ns: ".", Mbox: "."}
}
