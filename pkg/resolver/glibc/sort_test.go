package glibc

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func addrs(text string) []netip.Addr {
	var out []netip.Addr
	for word := range strings.FieldsSeq(text) {
		out = append(out, netip.MustParseAddr(word))
	}
	return out
}

func TestSortAddresses(t *testing.T) {
	for _, c := range []struct {
		name, in string
		// sources are "destination-prefix source" pairs; the first prefix that has a destination gives its source.
		sources  []string
		own      string
		prefixes []string
		gai      string
		want     string
	}{
		{name: "no route at all: precedence", in: "192.0.2.1 2001:db8::1", want: "2001:db8::1 192.0.2.1"},
		{name: "IPv4 only", in: "2001:db8::1 192.0.2.1", sources: []string{"0.0.0.0/0 10.1.0.5"}, want: "192.0.2.1 2001:db8::1"},
		{name: "both", in: "192.0.2.1 2001:db8::1", sources: []string{"0.0.0.0/0 10.1.0.5", "::/0 2001:db8:5::5"}, want: "2001:db8::1 192.0.2.1"},
		{
			name: "a unique local source is no match for a global destination", in: "2001:db8::1 192.0.2.1",
			sources: []string{"0.0.0.0/0 10.1.0.5", "::/0 fd00::5"}, want: "192.0.2.1 2001:db8::1",
		},
		{
			name: "unique local to unique local: label 6, precedence 40", in: "10.0.0.9 fd00::9",
			sources: []string{"0.0.0.0/0 10.1.0.5", "::/0 fd00::5"}, want: "fd00::9 10.0.0.9",
		},
		{
			name: "gai.conf prefers IPv4", in: "2001:db8::1 192.0.2.1", sources: []string{"0.0.0.0/0 10.1.0.5", "::/0 2001:db8:5::5"},
			gai: "# x\nprecedence ::ffff:0:0/96  100 # y\n", want: "192.0.2.1 2001:db8::1",
		},
		{
			name: "IPv4 stays in order without IPv6 addresses", in: "10.1.0.9 192.0.2.1 10.1.0.4", sources: []string{"0.0.0.0/0 10.1.0.5"},
			own: "127.0.0.1 10.1.0.5", prefixes: []string{"10.1.0.5/24"}, want: "10.1.0.9 192.0.2.1 10.1.0.4",
		},
		{
			name: "rule 9 in one's own network once there is an IPv6 address", in: "192.0.2.1 10.1.0.9 10.1.0.4", sources: []string{"0.0.0.0/0 10.1.0.5"},
			own: "127.0.0.1 10.1.0.5 fe80::5", prefixes: []string{"10.1.0.5/24"}, want: "10.1.0.4 10.1.0.9 192.0.2.1",
		},
		{
			name: "an unknown network is none", in: "10.1.0.9 10.1.0.4", sources: []string{"0.0.0.0/0 10.1.0.5"},
			own: "10.1.0.5 fe80::5", want: "10.1.0.9 10.1.0.4",
		},
		{name: "the longest common IPv6 prefix", in: "2001:db8:1::1 2001:db8:5::1", sources: []string{"::/0 2001:db8:5::5"}, want: "2001:db8:5::1 2001:db8:1::1"},
		{name: "smaller scope", in: "192.0.2.1 169.254.1.1", sources: []string{"169.254.0.0/16 169.254.0.5", "0.0.0.0/0 10.1.0.5"}, want: "169.254.1.1 192.0.2.1"},
		{name: "matching scope", in: "169.254.1.1 192.0.2.1", sources: []string{"0.0.0.0/0 10.1.0.5"}, want: "192.0.2.1 169.254.1.1"},
		{
			name: "scopes of gai.conf", in: "192.0.2.1 10.0.0.1", sources: []string{"0.0.0.0/0 10.1.0.5"},
			gai: "scopev4 ::ffff:10.0.0.0/104 5\nscopev4 ::ffff:169.254.0.0/112 2\n", want: "10.0.0.1 192.0.2.1",
		},
		{name: "the unreachable last", in: "192.0.2.1 198.51.100.1", sources: []string{"198.51.100.0/24 10.1.0.5"}, want: "198.51.100.1 192.0.2.1"},
		{name: "one address", in: "192.0.2.1", want: "192.0.2.1"},
		{name: "loopback before all", in: "2001:db8::1 ::1", sources: []string{"::1/128 ::1", "::/0 2001:db8:5::5"}, want: "::1 2001:db8::1"},
	} {
		sys := &resolver.System{GaiConf: c.gai, Addresses: addrs(c.own), SourceFor: func(dst netip.Addr) netip.Addr {
			for _, s := range c.sources {
				prefix, src, _ := strings.Cut(s, " ")
				if netip.MustParsePrefix(prefix).Contains(dst) {
					return netip.MustParseAddr(src)
				}
			}
			return netip.Addr{}
		}}
		for _, p := range c.prefixes {
			sys.Prefixes = append(sys.Prefixes, netip.MustParsePrefix(p))
		}
		if got := sortAddresses(addrs(c.in), sys); !slices.Equal(got, addrs(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := sortAddresses(addrs("192.0.2.1 2001:db8::1"), &resolver.System{}); !slices.Equal(got, addrs("192.0.2.1 2001:db8::1")) {
		t.Errorf("without knowing sources the order stays: %v", got)
	}
}

func TestParseGaiConf(t *testing.T) {
	d := parseGaiConf("")
	if len(d.labels) != 8 || len(d.precedence) != 5 || len(d.scopes) != 3 {
		t.Errorf("built-in tables: %+v", d)
	}
	// A mentioned table replaces the built-in one; longest prefixes first; the rest is filled in. Broken lines count for nothing.
	g := parseGaiConf("label ::/0 1\nlabel 2001:db8::/32 9\nlabel 10.0.0.0/8 9\nlabel ::/129 1\nlabel ::1 x\nlabel fd00::/8 -1\nlabel ::1\n" +
		"precedence ::1 7\nscopev4 10.0.0.0/8 5\nscopev4 ::1/128 5\nreload yes\n")
	if got := show(g.labels); got != "2001:db8::/32 9, ::/0 1" {
		t.Errorf("labels %s", got)
	}
	if got := show(g.precedence); got != "::1/128 7, ::/0 40" {
		t.Errorf("precedence %s", got)
	}
	if got := fmt.Sprint(g.scopes); got != "[{167772160 4278190080 5} {0 0 14}]" {
		t.Errorf("scopes %s", got)
	}
}

func show(table []prefixEntry) string {
	var words []string
	for _, e := range table {
		words = append(words, fmt.Sprintf("%s %d", e.prefix, e.value))
	}
	return strings.Join(words, ", ")
}

func FuzzParseGaiConf(f *testing.F) {
	f.Add("label ::1/128 0\nprecedence ::/0 40\nscopev4 ::ffff:169.254.0.0/112 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		g := parseGaiConf(text)
		for _, a := range addrs("0.0.0.0 10.0.0.1 ::1 fe80::1 ff02::1 2001:db8::1 ::ffff:1.2.3.4") {
			_ = g.scope(a)
			_, _ = lookUp(g.labels, a), lookUp(g.precedence, a)
		}
		last := len(g.labels) - 1
		if g.labels[last].prefix.Bits() != 0 || g.scopes[len(g.scopes)-1].mask != 0 {
			t.Errorf("%q: a table without an end: %+v", text, g)
		}
	})
}
