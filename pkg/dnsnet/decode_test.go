package dnsnet

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// message packs a reply made of records in zone file form.
func message(t *testing.T, edit func(*dns.Msg), answers ...string) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("x.test.", dns.TypeA)
	m.Id, m.Response, m.RecursionAvailable, m.Compress = 0x1234, true, true, true
	for _, text := range answers {
		rr, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	if edit != nil {
		edit(m)
	}
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

func TestEncode(t *testing.T) {
	for _, tc := range []struct {
		name  string
		query resolver.Query
		want  string // in hexadecimal
	}{
		{"plain", resolver.Query{ID: 0x0102, Name: "Ab.c.", Type: probe.TypeA}, "0102 0100 0001 0000 0000 0000 024162 0163 00 0001 0001"},
		{"AAAA with AD", resolver.Query{ID: 1, Name: "a.", Type: probe.TypeAAAA, AD: true}, "0001 0120 0001 0000 0000 0000 0161 00 001c 0001"},
		{"EDNS", resolver.Query{Name: "a.", Type: probe.TypeA, EDNSSize: 1200}, "0000 0100 0001 0000 0000 0001 0161 00 0001 0001 00 0029 04b0 00000000 0000"},
		{
			"EDNS with a cookie",
			resolver.Query{Name: "a.", Type: probe.TypeA, EDNSSize: 1232, Cookie: []byte("8 octets")},
			"0000 0100 0001 0000 0000 0001 0161 00 0001 0001 00 0029 04d0 00000000 000c 000a 0008 38206f6374657473",
		},
		{"root", resolver.Query{Name: ".", Type: probe.TypeA}, "0000 0100 0001 0000 0000 0000 00 0001 0001"},
		{"a CR in a label", resolver.Query{Name: "s.test\\013.", Type: probe.TypeA}, "0000 0100 0001 0000 0000 0000 0173 05746573740d 00 0001 0001"},
		{"a dot in a label", resolver.Query{Name: `a\.b.`, Type: probe.TypeA}, "0000 0100 0001 0000 0000 0000 03612e62 00 0001 0001"},
		{"raw", resolver.Query{ID: 9, Name: "ignored", Wire: []byte{1, 2, 3}}, "010203"},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(tc.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestEncodeRefusesNamesThatDoNotFit(t *testing.T) {
	label := strings.Repeat("a", 63) + "."
	for _, name := range []string{
		"", "no.final.dot", "a..b.", ".a.", strings.Repeat("a", 64) + ".", strings.Repeat(label, 4), strings.Repeat("a.", 128), `a\`,
	} {
		if wire, err := Encode(resolver.Query{Name: name, Type: probe.TypeA}); err == nil {
			t.Errorf("%q was encoded as %x", name, wire)
		}
	}
	if _, err := Encode(resolver.Query{Name: strings.Repeat(label, 3) + strings.Repeat("b", 61) + ".", Type: probe.TypeA}); err != nil {
		t.Errorf("a name of exactly 255 octets: %v", err)
	}
}

func TestDecode(t *testing.T) {
	minimum := uint32(30)
	got := Decode(message(t, func(m *dns.Msg) {
		m.Authoritative, m.Truncated, m.AuthenticatedData, m.Rcode = true, true, true, dns.RcodeNameError
		soa, err := dns.NewRR("test. 900 IN SOA ns. host. 1 2 3 4 30")
		if err != nil {
			t.Fatal(err)
		}
		m.Ns = append(m.Ns, soa)
	}, "x.test. 60 IN CNAME y.test.", "y.test. 5 IN A 192.0.2.1", "y.test. 5 IN AAAA 2001:db8::1", `y.test. 5 IN TXT "a b"`))
	want := resolver.Reply{
		Size: got.Size, ID: 0x1234, Response: true, AA: true, TC: true, RD: true, RA: true, AD: true, Rcode: 3,
		QDCount: 1, ANCount: 4, NSCount: 1, SOAMinimum: &minimum,
		Questions: []resolver.Question{{Name: "x.test.", Type: 1, Class: 1}},
		Answers: []resolver.Record{
			{Name: "x.test.", Type: 5, Class: 1, TTL: 60, Target: "y.test.", Data: "y.test."},
			{Name: "y.test.", Type: 1, Class: 1, TTL: 5, Data: "192.0.2.1"},
			{Name: "y.test.", Type: 28, Class: 1, TTL: 5, Data: "2001:db8::1"},
			{Name: "y.test.", Type: 16, Class: 1, TTL: 5, Data: `"a b"`},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(resolver.Record{}, "Addr", "End")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Header 12, question 12, CNAME 2+10+4, A 2+10+4, AAAA 2+10+16, TXT 2+10+4.
	for i, end := range []int{40, 56, 84, 100} {
		if got.Answers[i].End != end {
			t.Errorf("answer %d ends at %d, want %d", i+1, got.Answers[i].End, end)
		}
	}
	if a, b := got.Answers[1].Addr.String(), got.Answers[2].Addr.String(); a != "192.0.2.1" || b != "2001:db8::1" {
		t.Errorf("addresses %s, %s", a, b)
	}
}

func TestDecodeOPT(t *testing.T) {
	for _, tc := range []struct {
		options, cookie string
	}{
		{"", ""}, {"0003 0002 6162 000a 0008 636f6f6b69653131", "cookie11"}, {"000a 0009 6d697373696e67", ""}, {"000a 00", ""},
	} {
		options, err := hex.DecodeString(strings.ReplaceAll(tc.options, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		wire := append(message(t, nil), 0, 0, 41, 4, 0xd0, 1, 0, 0, 0, 0, byte(len(options)))
		wire[11] = 1 // the number of additional records
		if r := Decode(append(wire, options...)); !r.EDNS || r.RcodeHigh != 1 || string(r.Cookie) != tc.cookie || r.Malformed != nil {
			t.Errorf("%q: %+v", tc.options, r)
		}
	}
	if r := Decode(message(t, nil)); r.EDNS {
		t.Error("an OPT record where there is none")
	}
}

func TestDecodeHeaderOnly(t *testing.T) {
	got := Decode([]byte{0x12, 0x34, 0x80, 0x05, 0, 0, 0, 0, 0, 0, 0, 0})
	want := resolver.Reply{Size: 12, ID: 0x1234, Response: true, Rcode: 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n := range 12 {
		if r := Decode(make([]byte, n)); !r.Short || r.Size != n {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
}

func TestDecodeGarbage(t *testing.T) {
	whole := message(t, nil, "x.test. 60 IN A 192.0.2.1", "x.test. 60 IN A 192.0.2.2")
	for n := 12; n < len(whole); n++ {
		r := Decode(whole[:n])
		if r.Malformed == nil || r.ID != 0x1234 || r.ANCount != 2 {
			t.Errorf("cut to %d bytes: %+v", n, r)
		}
	}
	// The first answer's data is 3 bytes long: the record stays without an address, the next one is read.
	bad := message(t, nil, "x.test. 60 IN TXT \"ab\"", "x.test. 60 IN A 192.0.2.2")
	binary.BigEndian.PutUint16(bad[12+12+2:], dns.TypeA)
	r := Decode(bad)
	if r.Malformed == nil || len(r.Answers) != 2 || r.Answers[0].Addr.IsValid() || r.Answers[1].Addr.String() != "192.0.2.2" {
		t.Errorf("an A record of 3 bytes: %+v", r)
	}
	loop := append(message(t, nil)[:12], 0xc0, 12, 0, 1, 0, 1)
	if r := Decode(loop); r.Malformed == nil {
		t.Errorf("a name that points at itself: %+v", r)
	}
}

func TestDecodeBounds(t *testing.T) {
	many := message(t, nil)
	binary.BigEndian.PutUint16(many[6:], 5000)
	for range 5000 {
		many = append(many, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 0)
	}
	if r := Decode(many); len(r.Answers) != maxRecords || r.Malformed == nil || r.ANCount != 5000 {
		t.Errorf("%d answers kept of %d, malformed: %v", len(r.Answers), r.ANCount, r.Malformed)
	}
	long := message(t, nil, `x.test. 60 IN TXT "`+strings.Repeat("a", 255)+`" "`+strings.Repeat("b", 255)+`" "`+strings.Repeat("c", 255)+`"`)
	if r := Decode(long); len(r.Answers[0].Data) != maxData || r.Malformed != nil {
		t.Errorf("%d bytes of data, malformed: %v", len(r.Answers[0].Data), r.Malformed)
	}
}

func FuzzDecode(f *testing.F) {
	for _, rcode := range []int{0, 2, 3} {
		m := new(dns.Msg)
		m.SetQuestion("x.test.", dns.TypeAAAA)
		m.Rcode = rcode
		wire, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
		f.Add(append(wire, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 1, 2, 3, 4))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := Decode(wire)
		switch {
		case r.Size != len(wire), r.Short != (len(wire) < 12):
			t.Errorf("size %d, short %v of %d bytes", r.Size, r.Short, len(wire))
		case len(r.Answers) > maxRecords, len(r.Questions) > maxRecords:
			t.Errorf("%d answers, %d questions", len(r.Answers), len(r.Questions))
		case !r.Short && r.Malformed == nil && (len(r.Answers) != r.ANCount || len(r.Questions) != r.QDCount):
			t.Errorf("well-formed, but %d of %d answers and %d of %d questions", len(r.Answers), r.ANCount, len(r.Questions), r.QDCount)
		}
		for _, rec := range r.Answers {
			if len(rec.Data) > maxData || len(rec.Name) > 4*maxNameOctets {
				t.Errorf("%d bytes of data, %d of name", len(rec.Data), len(rec.Name))
			}
		}
		if r.Malformed == nil && len(r.Questions) == 1 {
			// A name that was read can be asked for.
			if _, err := Encode(resolver.Query{Name: r.Questions[0].Name, Type: probe.TypeA}); err != nil {
				t.Error(err)
			}
		}
	})
}
