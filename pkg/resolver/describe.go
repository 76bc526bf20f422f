package resolver

import (
	"strconv"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Describe returns what an event says of a reply itself; where it came from and what was made of it is for the caller to add.
func Describe(r *Reply) probe.Received {
	return probe.Received{
		ID: r.ID, Rcode: rcodeName(r.Rcode), Flags: flags(r), Size: r.Size, Answers: answers(r.Answers), SOAMinimum: r.SOAMinimum,
	}
}

// RcodeOutcome is the outcome of an attempt that ended with an rcode other than NOERROR.
func RcodeOutcome(rcode int) probe.Outcome {
	switch rcode {
	case RcodeFormErr:
		return probe.FormErr
	case RcodeServFail:
		return probe.ServFail
	case RcodeNXDomain:
		return probe.NXDomain
	case RcodeNotImp:
		return probe.NotImp
	case RcodeRefused:
		return probe.Refused
	}
	return probe.Fail
}

var rcodeNames = []string{
	"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE",
}

func rcodeName(rcode int) string {
	if rcode >= 0 && rcode < len(rcodeNames) {
		return rcodeNames[rcode]
	}
	return "RCODE" + strconv.Itoa(rcode)
}

func flags(r *Reply) []string {
	names := make([]string, 0, 5)
	for _, f := range [...]struct {
		set  bool
		name string
	}{{r.AA, "AA"}, {r.TC, "TC"}, {r.RD, "RD"}, {r.RA, "RA"}, {r.AD, "AD"}} {
		if f.set {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// maxAnswers bounds the records of one reply in an event, so that a line of the stream stays short of probe.MaxLine.
const maxAnswers = 512

// maxAnswerBytes bounds their names and data together.
const maxAnswerBytes = 256 << 10

func answers(records []Record) []probe.Answer {
	out := make([]probe.Answer, 0, min(len(records), maxAnswers))
	bytes := 0
	for _, r := range records[:min(len(records), maxAnswers)] {
		if bytes += len(r.Name) + len(r.Data); bytes > maxAnswerBytes {
			break
		}
		out = append(out, probe.Answer{Name: r.Name, Type: typeName(r.Type), TTL: r.TTL, Data: r.Data})
	}
	return out
}

func typeName(t uint16) string {
	switch t {
	case TypeA:
		return "A"
	case TypeAAAA:
		return "AAAA"
	case TypeCNAME:
		return "CNAME"
	case TypeSOA:
		return "SOA"
	case TypeDNAME:
		return "DNAME"
	case TypeSRV:
		return "SRV"
	case TypeTXT:
		return "TXT"
	}
	return "TYPE" + strconv.Itoa(int(t))
}
