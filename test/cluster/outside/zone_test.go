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
		{"below a wildcard", "codehost.example.lab.example.org.", dns.TypeA, dns.RcodeSuccess, 1, ""},
		{"below a wildcard without that type", "codehost.lab.example.org.", dns.TypeAAAA, dns.RcodeSuccess, 0, "example.org."},
		{"above a wildcard", "lab.example.org.", dns.TypeA, dns.RcodeSuccess, 0, "example.org."},
		{"beside a wildcard", "labs.example.org.", dns.TypeA, dns.RcodeNameError, 0, "example.org."},
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
	for _, c := range []struct {
		name string
		edns uint16
		cut  bool
	}{
		{"big.example.com.", 0, true},
		{"big.example.com.", 4096, false},
		{"huge.example.com.", 1232, true},
		{"huge.example.com.", 4096, false},
	} {
		request := new(dns.Msg)
		request.SetQuestion(c.name, dns.TypeA)
		if c.edns > 0 {
			request.SetEdns0(c.edns, false)
		}
		reply := w.answer(request)
		whole := len(reply.Answer)
		reply.Truncate(datagramSize(request))
		if reply.Truncated != c.cut || (len(reply.Answer) < whole) != c.cut {
			t.Errorf("%s with EDNS %d: truncated=%v with %d of %d answers, want a cut: %v", c.name, c.edns, reply.Truncated, len(reply.Answer), whole, c.cut)
		}
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
