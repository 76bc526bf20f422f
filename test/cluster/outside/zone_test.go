package main

import (
	"testing"

	"github.com/miekg/dns"
)

func TestAnswer(t *testing.T) {
	w, err := parseWorld(worldZone)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name    string
		asked   string
		rrtype  uint16
		rcode   int
		answers int
		soa     string // owner of the SOA in the authority section
	}{
		{"address", "api.stripe.com.", dns.TypeA, dns.RcodeSuccess, 1, ""},
		{"upper case", "API.Stripe.com.", dns.TypeA, dns.RcodeSuccess, 1, ""},
		{"no IPv6", "api.stripe.com.", dns.TypeAAAA, dns.RcodeSuccess, 0, "stripe.com."},
		{"both families", "www.example.com.", dns.TypeAAAA, dns.RcodeSuccess, 1, ""},
		{"alias", "files.stripe.com.", dns.TypeA, dns.RcodeSuccess, 2, ""},
		{"alias without that type", "files.stripe.com.", dns.TypeAAAA, dns.RcodeSuccess, 1, "stripe.com."},
		{"chain", "sqs.us-east-1.amazonaws.com.", dns.TypeA, dns.RcodeSuccess, 4, ""},
		{"name between", "queue.amazonaws.com.", dns.TypeA, dns.RcodeSuccess, 0, "amazonaws.com."},
		{"search domain", "api.stripe.com.ec2.internal.", dns.TypeA, dns.RcodeNameError, 0, "ec2.internal."},
		{"unknown below a zone", "nothing.example.com.", dns.TypeA, dns.RcodeNameError, 0, "example.com."},
		{"unknown everywhere", "nothing.invalid.", dns.TypeA, dns.RcodeNameError, 0, "."},
		{"root", ".", dns.TypeA, dns.RcodeSuccess, 0, "."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := new(dns.Msg)
			request.SetQuestion(c.asked, c.rrtype)
			reply := w.answer(request)
			if reply.Rcode != c.rcode || len(reply.Answer) != c.answers {
				t.Errorf("got rcode %d with %d answers, want %d with %d\n%v", reply.Rcode, len(reply.Answer), c.rcode, c.answers, reply)
			}
			soa := ""
			if len(reply.Ns) > 0 {
				soa = reply.Ns[0].Header().Name
			}
			if soa != c.soa {
				t.Errorf("denied by the SOA of %q, want %q", soa, c.soa)
			}
			if len(reply.Answer) > 0 && reply.Answer[0].Header().Name != c.asked {
				t.Errorf("answered for %q, asked for %q", reply.Answer[0].Header().Name, c.asked)
			}
		})
	}
}

func TestAnswerThatDoesNotFit(t *testing.T) {
	w, err := parseWorld(worldZone)
	if err != nil {
		t.Fatal(err)
	}
	request := new(dns.Msg)
	request.SetQuestion("big.example.com.", dns.TypeA)
	reply := w.answer(request)
	whole := len(reply.Answer)
	reply.Truncate(datagramSize(request))
	if !reply.Truncated || len(reply.Answer) >= whole {
		t.Errorf("truncated=%v with %d of %d answers, want a cut", reply.Truncated, len(reply.Answer), whole)
	}
	request.SetEdns0(4096, false)
	reply = w.answer(request)
	reply.Truncate(datagramSize(request))
	if reply.Truncated || len(reply.Answer) != whole {
		t.Errorf("with EDNS: truncated=%v with %d of %d answers, want all", reply.Truncated, len(reply.Answer), whole)
	}
}

func TestParseWorldNeedsARoot(t *testing.T) {
	if _, err := parseWorld("example.com. 60 IN A 203.0.113.1\n"); err == nil {
		t.Error("a zone without a root SOA was accepted")
	}
	if _, err := parseWorld("example.com. 60 IN A nonsense\n"); err == nil {
		t.Error("a malformed record was accepted")
	}
}
