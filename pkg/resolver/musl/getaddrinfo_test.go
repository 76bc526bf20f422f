package musl

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestLiterals(t *testing.T) {
	sys := settings(ns1)
	for name, want := range map[string]string{
		"10.0.0.1": "ok 10.0.0.1", "10.1": "ok 10.0.0.1", "0x7f.1": "ok 127.0.0.1", "123.456": "ok 123.0.1.200", "::1": "ok ::1",
		"fe80::1%lo": "ok fe80::1%lo", "fe80::1%7": "ok fe80::1%7", "fe80::1%0": "ok fe80::1", "fd00::1%3": "ok fd00::1%3",
		"::ffff:1.2.3.4": "ok ::ffff:1.2.3.4", "fd00::1%lo": "EAI_NONAME", "fe80::1%": "EAI_NONAME", "fe80::1%99999999999": "EAI_NONAME",
		"1.2.3.4.": "A 1.2.3.4. 2; AAAA 1.2.3.4. 2; EAI_NONAME", "[::1]": `A [::1]. 2; AAAA [::1]. 2; EAI_NONAME`,
	} {
		newModel(t, latest, sys).Want(host(name), want)
	}
	four, six := resolver.Request{Host: "1.2.3.4", Family: resolver.Inet6}, resolver.Request{Host: "::1", Family: resolver.Inet}
	for version, code := range map[string]string{latest: "EAI_NODATA", middle: "EAI_NONAME"} {
		newModel(t, version, sys).Want(four, code)
		newModel(t, version, sys).Want(six, code)
	}
	four.V4Mapped = true
	newModel(t, latest, sys).Want(four, "ok ::ffff:1.2.3.4")
	sys.Links = []string{"eth0"}
	newModel(t, latest, sys).Want(host("fe80::1%lo"), "EAI_NONAME")
	newModel(t, latest, sys).Want(host("fe80::1%eth0"), "ok fe80::1%eth0")
}

func TestHosts(t *testing.T) {
	sys := settings(ns1)
	sys.Hosts = "10.1.1.1 web.example web\n10.1.1.2\tWeb.Example # db\nfd00::1 six\n 10.1.1.3 indented\n10.1.1.4 a_b real second\n10.1.1.5 second\n" +
		"fd00::6 third\n10.1.1.6 fourth third\n10.1.1.7x bad\n10.1.1.8 # hidden\n10.1.1.9 nul\x00 after\n10.1.1.10 last"
	canon := func(name string) resolver.Request { return resolver.Request{Host: name, CanonName: true} }
	for name, want := range map[string]string{
		"web": "ok 10.1.1.1 (web.example)", "Web.Example": "ok 10.1.1.2 (Web.Example)", "six": "ok fd00::1 (six)",
		"real": "ok 10.1.1.4 (real)", "second": "ok 10.1.1.4 10.1.1.5 (second)", "third": "ok fd00::6 10.1.1.6 (third)",
		"WEB": "A WEB. 2; AAAA WEB. 2; EAI_NONAME", "eb": "A eb. 2; AAAA eb. 2; EAI_NONAME", "indented": "A indented. 2; AAAA indented. 2; EAI_NONAME",
		"bad": "A bad. 2; AAAA bad. 2; EAI_NONAME", "hidden": "A hidden. 2; AAAA hidden. 2; EAI_NONAME", "nul": "A nul. 2; AAAA nul. 2; EAI_NONAME",
		"after": "A after. 2; AAAA after. 2; EAI_NONAME", "web.example.": "A web.example. 2; AAAA web.example. 2; EAI_NONAME",
		// There is no white space behind the last word of the file.
		"last": "A last. 2; AAAA last. 2; EAI_NONAME",
	} {
		newModel(t, latest, sys).Want(canon(name), want)
	}
}

func TestHostsOfTheOtherFamily(t *testing.T) {
	sys := settings(ns1)
	sys.Hosts = "10.1.1.1 web\nfd00::1 first both\n10.1.1.2 second both\n"
	for version, code := range map[string]string{latest: "EAI_NODATA", middle: "EAI_NONAME"} {
		m := newModel(t, version, sys, "* - - - - aaaa:2001:db8::1")
		m.Want(resolver.Request{Host: "web", Family: resolver.Inet6}, code)
		if !strings.Contains(m.Notes(), "asks no server") || m.Trace().AnsweredBy != resolver.ByHosts {
			t.Errorf("notes %s, answered by %s", m.Notes(), m.Trace().AnsweredBy)
		}
	}
	both := resolver.Request{Host: "both", Family: resolver.Inet, CanonName: true}
	newModel(t, "1.2.2", sys).Want(both, "ok 10.1.1.2 (first)")
	newModel(t, "1.2.1", sys).Want(both, "ok 10.1.1.2 (second)")
}

func TestHostsAreBounded(t *testing.T) {
	sys := settings(ns1)
	sys.Hosts = strings.Repeat("10.1.1.1 many\n", 100)
	m := newModel(t, latest, sys)
	m.Ask(host("many"))
	if n := len(m.Trace().Addresses); n != maxAddresses {
		t.Errorf("%d addresses", n)
	}
	// A long line comes in pieces of 511 bytes, each read as a line of its own.
	sys.Hosts = "10.1.1.1 " + strings.Repeat("x", 502) + "10.2.2.2 rest\n"
	newModel(t, latest, sys).Want(host("rest"), "ok 10.2.2.2")
}

func TestAddrConfig(t *testing.T) {
	addrs := func(list ...string) resolver.System {
		sys := settings(ns1)
		sys.Addresses = []netip.Addr{}
		for _, a := range list {
			sys.Addresses = append(sys.Addresses, netip.MustParseAddr(a))
		}
		return sys
	}
	rule := "* - - - - a:192.0.2.1 aaaa:2001:db8::1"
	ask := resolver.Request{Host: "x.", AddrConfig: true}
	six := resolver.Request{Host: "x.", AddrConfig: true, Family: resolver.Inet6}
	newModel(t, latest, addrs("127.0.0.1", "::1"), rule).Want(ask, "A x. 2; AAAA x. 2; ok 2001:db8::1 192.0.2.1")
	newModel(t, latest, addrs("127.0.0.1", "10.1.1.1"), rule).Want(ask, "A x. 2; ok 192.0.2.1")
	newModel(t, latest, addrs("::1"), rule).Want(ask, "AAAA x. 2; ok 2001:db8::1")
	newModel(t, latest, addrs("127.0.0.1", "fd00::9"), rule).Want(six, "A x. 2; EAI_NODATA")
	newModel(t, middle, addrs("127.0.0.1", "fd00::9"), rule).Want(six, "EAI_NONAME")
	newModel(t, latest, addrs(), rule).Want(ask, "A x. 2; EAI_NODATA")
	newModel(t, latest, settings(ns1), rule).Want(six, "AAAA x. 2; ok 2001:db8::1")
	newModel(t, latest, settings(ns1)).Want(resolver.Request{Host: "x.", Family: "bogus"}, "EAI_FAMILY")
}

func TestMappedAddresses(t *testing.T) {
	six := resolver.Request{Host: "x.", Family: resolver.Inet6, V4Mapped: true}
	newModel(t, latest, settings(ns1), "* - - - - a:192.0.2.1 aaaa:2001:db8::1").Want(six, "A x. 2; AAAA x. 2; ok 2001:db8::1")
	newModel(t, latest, settings(ns1), "* - - - - a:192.0.2.1").Want(six, "A x. 2; AAAA x. 2; ok ::ffff:192.0.2.1")
	four := resolver.Request{Host: "x.", Family: resolver.Inet, V4Mapped: true}
	newModel(t, latest, settings(ns1), "* - - - - a:192.0.2.1").Want(four, "A x. 2; ok 192.0.2.1")
}

func TestCanonicalNames(t *testing.T) {
	canon := resolver.Request{Host: "x.y.", CanonName: true, Family: resolver.Inet}
	newModel(t, latest, settings(ns1), "* - - - - a:192.0.2.1").Want(canon, "A x.y. 2; ok 192.0.2.1 (x.y)")
	newModel(t, latest, settings(ns1), "* - - - - cname:a.test cname:b.test a:192.0.2.1").Want(canon, "A x.y. 2; ok 192.0.2.1 (b.test)")
	// An underscore is in no host name; the name before it stays.
	newModel(t, latest, settings(ns1), "* - - - - cname:a.test cname:_b.test a:192.0.2.1").Want(canon, "A x.y. 2; ok 192.0.2.1 (a.test)")
}

func TestSortKeys(t *testing.T) {
	sys := settings(ns1)
	source := map[string]string{"192.0.2.1": "192.0.2.9", "2001:db8::1": "", "fd00::1": "fd00::9", "2002:101::1": "2002:101::9", "fe80::1": "fe80::9"}
	sys.SourceFor = func(a netip.Addr) netip.Addr {
		addr, _ := netip.ParseAddr(source[a.String()])
		return addr
	}
	rule := "* - - - - a:192.0.2.1 aaaa:2001:db8::1 aaaa:fd00::1 aaaa:2002:101::1 aaaa:fe80::1"
	// Usable first, then by precedence: 40, 35, 30, 3; the link-local one has label 1 and a nearer scope.
	newModel(t, latest, sys, rule).Want(host("x."), "A x. 2; AAAA x. 2; ok fe80::1 192.0.2.1 2002:101::1 fd00::1 2001:db8::1")
	newModel(t, latest, sys, "* - - - - a:192.0.2.7 a:192.0.2.1").Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.7 192.0.2.1")
	newModel(t, latest, sys, "* - - - - a:192.0.2.1 aaaa:2001:db8::1").Want(host("x."), "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1")
	for a, want := range map[string]int{"ff02::1": 2, "ff0e::1": 14, "fe80::1": 2, "::1": 2, "fec0::1": 5, "2001:db8::1": 14, "127.0.0.1": 14} {
		if got := scope(netip.MustParseAddr(a)); got != want {
			t.Errorf("scope of %s: %d, want %d", a, got, want)
		}
	}
	for a, want := range map[string]int{"::1": 0, "10.0.0.1": 4, "2002::1": 2, "2001::1": 5, "2001:1::1": 1, "fc00::1": 13, "fd00::1": 13, "fe00::1": 1} {
		if got := policyOf(netip.MustParseAddr(a)).label; got != want {
			t.Errorf("label of %s: %d, want %d", a, got, want)
		}
	}
}

func TestTypesOfRecords(t *testing.T) {
	reply := func(types ...uint16) resolver.Reply {
		r := resolver.Reply{QDCount: 1, ANCount: len(types)}
		for i, typ := range types {
			rec := resolver.Record{Type: typ}
			switch typ {
			case resolver.TypeA:
				rec.Addr = netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
			case resolver.TypeAAAA:
				rec.Addr = netip.AddrFrom16([16]byte{15: byte(i + 2)})
			}
			r.Answers = append(r.Answers, rec)
		}
		return r
	}
	const caa = 257
	for _, c := range []struct {
		version string
		types   []uint16
		want    string
	}{
		{latest, []uint16{resolver.TypeAAAA, 16, resolver.TypeA}, "[192.0.2.2]"},
		{middle, []uint16{resolver.TypeAAAA, 16, resolver.TypeA}, "[::2 192.0.2.2]"},
		// Only the lower byte of a type is looked at: CAA looks like an A record with too much data, and ends the reading.
		{latest, []uint16{resolver.TypeA, caa, resolver.TypeA}, "[192.0.2.0]"},
	} {
		x := &exchange{call: &call{r: New(c.version, resolver.System{})}}
		x.queries = []asked{{ref: probe.Ref{Type: probe.TypeA}, state: answered, reply: reply(c.types...)}}
		x.queries[0].Type = probe.TypeA
		x.read()
		if got := fmtAddrs(x.addresses); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.version, c.types, got, c.want)
		}
	}
}

func TestNamesOutsideOfASCII(t *testing.T) {
	rule := "* - - - - a:192.0.2.1"
	for _, c := range []struct{ version, name, want string }{
		{latest, "b\u00fc.test.", "EAI_NODATA"},
		{middle, "b\u00fc.test.", "EAI_NONAME"},
		{latest, "b\u00fccher.example.", "EAI_NODATA"},
		// Six bytes on from the first strange one the record begins, by luck.
		{latest, "x.\u00fc.", "ok 192.0.2.1"},
		{middle, "x.\u00fc.", "EAI_NONAME"},
		{middle, "\x80.", "ok 192.0.2.1"},
		{latest, "x-_y.test.", "ok 192.0.2.1"},
	} {
		m := newModel(t, c.version, settings(ns1), rule)
		got := m.Ask(resolver.Request{Host: c.name, Family: resolver.Inet})
		if !strings.HasSuffix(got, "; "+c.want) {
			t.Errorf("musl %s, %q: %s, want %s", c.version, c.name, got, c.want)
		}
	}
}

func fmtAddrs(addrs []netip.Addr) string {
	var words []string
	for _, a := range addrs {
		words = append(words, a.String())
	}
	return "[" + strings.Join(words, " ") + "]"
}
