package golang

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

const k8s = "nameserver 127.0.0.2\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\n"

// TestLookup: the rows of the table of scenarios that were not recorded, and which attempt decides.
func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name, version, conf, host string
		rules                     []string
		outcomes, result          string
	}{
		{
			"row 1", "", k8s + "options ndots:5\n", "api.stripe.com",
			[]string{"api.stripe.com - - - - " + both},
			"api.stripe.com.shop.svc.cluster.local. nxdomain, api.stripe.com.svc.cluster.local. nxdomain, api.stripe.com.cluster.local. nxdomain, api.stripe.com. ok!",
			"ok 192.0.2.1 2001:db8::1",
		},
		{
			"row 6", "", k8s + "options ndots:5\n", "db-0.db.shop.svc.cluster.local",
			[]string{"db-0.db.shop.svc.cluster.local - - - - a:10.0.0.1"},
			"db-0.db.shop.svc.cluster.local. ok!", "ok 10.0.0.1",
		},
		{"row 7", "", k8s + "options ndots:5\n", "payments", []string{"payments.shop.* - - - - " + both}, "payments.shop.svc.cluster.local. ok!", "ok 192.0.2.1 2001:db8::1"},
		{
			"the error for the name as it is", "", "nameserver 127.0.0.2\nsearch s\noptions attempts:1\n", "x",
			[]string{"x.s - - - - servfail"},
			"x.s. servfail, x. nxdomain!", "nxdomain (no such host)",
		},
		{
			"also when it comes first", "", "nameserver 127.0.0.2\nsearch s\noptions ndots:0 attempts:1\n", "x",
			[]string{"x.s - - - - servfail"},
			"x. nxdomain!, x.s. servfail", "nxdomain (no such host)",
		},
		{
			"of other names the first", "", "nameserver 127.0.0.2\nsearch s t\noptions attempts:1\n", "x.onion",
			[]string{"x.onion.s - - - - servfail", "x.onion.t - - - - refused"},
			"x.onion.s. servfail!, x.onion.t. refused", "again (server misbehaving)",
		},
		{
			"a failure says more than no data", "", "nameserver 127.0.0.2\noptions attempts:1\n", "x.",
			[]string{"x A - - - servfail delay:10", "x AAAA - - - nodata"},
			"x. servfail!", "nodata (no such host) in 10ms",
		},
		{
			"a domain that cannot be sent", "", "nameserver 127.0.0.2\nsearch .a.test b\n", "x", nil,
			"x..a.test. unsent, x.b. nxdomain, x. nxdomain!", "nxdomain (no such host)",
		},
		{"a root domain", "", "nameserver 127.0.0.2\nsearch .\n", "x", nil, "x. nxdomain!", "nxdomain (no such host)"},
		{"a root domain before 1.20", "1.19.8", "nameserver 127.0.0.2\nsearch .\n", "x", nil, "x. nxdomain!, x.. unsent", "nxdomain (no such host)"},
		{"a backslash means nothing", "", "nameserver 127.0.0.2\nsearch a\\046b\n", "x", nil, `x.a\\046b. nxdomain, x. nxdomain!`, "nxdomain (no such host)"},
		{"onion as it is", "", "nameserver 127.0.0.2\nsearch s\n", "x.onion.", nil, "", "nodata"},
		{"onion before 1.22", "1.21.13", "nameserver 127.0.0.2\nsearch s\n", "x.onion", nil, "", "nodata"},
		{"onion from the search list", "", "nameserver 127.0.0.2\nsearch b.ONION s\n", "x", nil, "x.s. nxdomain, x. nxdomain!", "nxdomain (no such host)"},
		{"empty", "", k8s, "", nil, "", "nxdomain (no such host)"},
		{"not a domain name", "", k8s, "fo o.bar", nil, "", "nxdomain (no such host)"},
		{"numbers only", "", k8s, "123.456", nil, "", "nxdomain (no such host)"},
		{"a literal", "", k8s, "fe80::1%eth0", nil, "", "ok fe80::1%eth0"},
		{"an empty zone", "", k8s, "::1%", nil, "", "nxdomain (no such host)"},
		{"an empty zone before 1.21", "1.20", k8s, "::1%", nil, "", "ok ::1"},
		{"a mapped literal", "", k8s, "::ffff:192.0.2.1", nil, "", "ok 192.0.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newModel(t, c.version, settings(c.conf), c.rules...)
			// The domains of a root domain before 1.20 come after a name without dots only with ndots:0.
			if c.version == "1.19.8" {
				m.r.sys.ResolvConf += "options ndots:0\n"
			}
			got := m.ask(c.host, resolver.Unspec)
			if result := got[strings.LastIndex("; "+got, "; "):]; result != c.result {
				t.Errorf("%s: %s, want %s", c.host, result, c.result)
			}
			if outcomes := m.Outcomes(); outcomes != c.outcomes {
				t.Errorf("%s:\n got %s\nwant %s", c.host, outcomes, c.outcomes)
			}
		})
	}
}

func TestLookupOneFamily(t *testing.T) {
	for _, c := range []struct {
		host   string
		family resolver.Family
		want   string
	}{
		{"x.", resolver.Inet, "A x. 2; ok 192.0.2.1"},
		{"x.", resolver.Inet6, "AAAA x. 2; ok 2001:db8::1"},
		{"y.", resolver.Inet6, "AAAA y. 2; nodata (no such host)"},
		{"192.0.2.9", resolver.Inet6, "fail (no suitable address found)"},
		{"192.0.2.9", resolver.Inet, "ok 192.0.2.9"},
		{"::", resolver.Inet, "ok 0.0.0.0"},
		{"::", resolver.Inet6, "ok ::"},
		// Unlike glibc, Go does not go on to DNS for a name that the file has with the other family.
		{"web", resolver.Inet6, "fail (no suitable address found)"},
		{"web", resolver.Inet, "ok 10.1.1.1"},
		{"a.onion.", resolver.Inet, "fail (no suitable address found)"},
	} {
		sys := settings("nameserver 127.0.0.2\n")
		sys.Hosts = "10.1.1.1 web\n"
		m := newModel(t, "", sys, "x - - - - "+both, "y - - - - a:192.0.2.2", "web - - - - "+both)
		if got := m.ask(c.host, c.family); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.host, c.family, got, c.want)
		}
	}
}

func TestHosts(t *testing.T) {
	sys := settings("nameserver 127.0.0.2\n")
	sys.Hosts = "10.0.0.1 Web.Example web # note\r\n\t10.0.0.2\tweb.example.\n::ffff:10.0.0.3 web\n10.0.1 short\n010.0.0.1 zero\n10.0.0.5\nfe80::1%eth0 zone\n" +
		"10.0.0.6\vtab\n#10.0.0.7 off\n10.0.0.8 dot.\n"
	for host, want := range map[string]string{
		"web.example": "ok 10.0.0.1 10.0.0.2", "WEB.example.": "ok 10.0.0.1 10.0.0.2", "web": "ok 10.0.0.1 10.0.0.3", "zone": "ok fe80::1%eth0",
		"dot": "A dot. 2; AAAA dot. 2; nxdomain (no such host)", "dot.": "ok 10.0.0.8", "web.": "A web. 2; AAAA web. 2; nxdomain (no such host)",
		"short": "A short. 2; AAAA short. 2; nxdomain (no such host)", "zero": "A zero. 2; AAAA zero. 2; nxdomain (no such host)",
		"off": "A off. 2; AAAA off. 2; nxdomain (no such host)", "tab": "A tab. 2; AAAA tab. 2; nxdomain (no such host)",
	} {
		newModel(t, "", sys).want(host, want)
	}
}

// TestHostsWithALongName: what the file has is found before anybody checks the name, and its first name has to fit.
func TestHostsWithALongName(t *testing.T) {
	long := strings.Repeat("b", 300)
	sys := settings("nameserver 127.0.0.2\n")
	sys.Hosts = "10.0.0.1 " + long + " alias\n10.0.0.2 short " + strings.Repeat("c", 255) + "\n10.0.0.3 short " + long + "\n"
	for host, want := range map[string]string{
		long: "fail (" + textCalcLen + ")", "alias": "fail (" + textCalcLen + ")", "short": "ok 10.0.0.2 10.0.0.3", strings.Repeat("c", 255): "ok 10.0.0.2",
	} {
		newModel(t, "", sys).want(host, want)
	}
	newModel(t, "1.19.8", sys).want("alias", "ok 10.0.0.1")
	dnsFirst := "hosts: dns files\n"
	sys.NSSwitch = &dnsFirst
	newModel(t, "", sys).want("alias", "A alias. 2; AAAA alias. 2; fail ("+textCalcLen+")")
}

func TestOrderOfSources(t *testing.T) {
	for nsswitch, want := range map[string]string{
		"hosts: files dns\n": "ok 10.0.0.1",
		"hosts: dns files\n": "A web. 2; AAAA web. 2; ok 192.0.2.1",
		"hosts: dns\n":       "A web. 2; AAAA web. 2; ok 192.0.2.1",
		"hosts: files\n":     "ok 10.0.0.1",
		"hosts: mymachines resolve [!UNAVAIL=return] files\n": "A web. 2; AAAA web. 2; ok 192.0.2.1",
		"hosts: files mdns4\n":                                "ok 10.0.0.1",
		"passwd: files\n":                                     "ok 10.0.0.1",
		"broken\nhosts: dns\n":                                "ok 10.0.0.1",
		// Only spaces end a source.
		"hosts: dns\tfiles\n": "A web. 2; AAAA web. 2; ok 192.0.2.1",
	} {
		sys := settings("nameserver 127.0.0.2\n")
		sys.NSSwitch, sys.Hosts = &nsswitch, "10.0.0.1 web\n"
		m := newModel(t, "", sys, "web A - - - a:192.0.2.1", "web - - - - nodata")
		m.want("web", want)
	}
	for nsswitch, want := range map[string]string{
		"hosts: dns files\n":                    "A only. 2; AAAA only. 2; ok 10.0.0.1",
		"hosts: dns\n":                          "A only. 2; AAAA only. 2; nxdomain (no such host)",
		"hosts: files\n":                        "ok 10.0.0.1",
		"hosts: dns [NOTFOUND=return] files\n":  "A only. 2; AAAA only. 2; ok 10.0.0.1",
		"hosts: dns [!UNAVAIL=return] files \n": "A only. 2; AAAA only. 2; ok 10.0.0.1",
	} {
		sys := settings("nameserver 127.0.0.2\n")
		sys.NSSwitch, sys.Hosts = &nsswitch, "10.0.0.1 only\n"
		newModel(t, "", sys).want("only", want)
	}
	// Before 1.20 a name that is not in the only source was no error.
	onlyFiles := "hosts: files\n"
	without := settings("nameserver 127.0.0.2\n")
	without.NSSwitch = &onlyFiles
	newModel(t, "", without).want("x", "nxdomain (no such host)")
	newModel(t, "1.19.8", without).want("x", "nodata")
	// Before 1.21 what would have been libc's business was looked for in files, then in DNS.
	nsswitch := "hosts: dns [!UNAVAIL=return] files\n"
	sys := settings("nameserver 127.0.0.2\n")
	sys.NSSwitch, sys.Hosts = &nsswitch, "10.0.0.1 web\n"
	newModel(t, "1.20.14", sys, "web - - - - "+both).want("web", "ok 10.0.0.1")
	// A program with cgo that uses Go's resolver nevertheless leaves mdns out.
	nsswitch = "hosts: files mdns4_minimal\n"
	m := newModel(t, "", sys, "only - - - - "+both)
	m.r.cgo = true
	m.want("only", "nxdomain (no such host)")
	newModel(t, "", sys, "only - - - - "+both).want("only", "A only. 2; AAAA only. 2; ok 192.0.2.1 2001:db8::1")
}

// TestReload: files are looked at again after five seconds, unless resolv.conf says no-reload.
func TestReload(t *testing.T) {
	for _, c := range []struct {
		extra   string
		version string
		wait    int
		want    string
	}{
		{"", "", 4, "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1"},
		{"", "", 5, "A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
		{"options no-reload\n", "", 60, "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1"},
		{"options no-reload\n", "1.19.8", 60, "A x. 3; AAAA x. 3; ok 192.0.2.1 2001:db8::1"},
	} {
		sys := settings("nameserver 127.0.0.2\n" + c.extra)
		sys.Hosts = "10.0.0.1 old\n"
		m := newModel(t, c.version, sys, "x - - - - "+both)
		m.want("x.", "A x. 2; AAAA x. 2; ok 192.0.2.1 2001:db8::1")
		m.want("old", "ok 10.0.0.1")
		sys.ResolvConf, sys.Hosts = "nameserver 127.0.0.3\n", "10.0.0.2 old\n"
		m.r.SetSystem(sys)
		if err := m.Net.Sleep(seconds(c.wait)); err != nil {
			t.Fatal(err)
		}
		m.want("x.", c.want)
		hosts := "ok 10.0.0.1"
		if c.wait >= 5 {
			hosts = "ok 10.0.0.2"
		}
		m.want("old", hosts)
	}
}

func TestIsDomainName(t *testing.T) {
	l63 := strings.Repeat("a", 63)
	for name, want := range map[string]bool{
		".": true, "a": true, "a.": true, "_x._tcp.a": true, "a-b.c": true, "a--b": true, "0x7f.1": true, "1a": true, "1-1": true,
		"": false, "..": false, "a..": false, ".a": false, "a..b": false, "-a": false, "a-": false, "a.-b": false, "a-.b": false, "1.2.3.4.": false,
		"1": false, "a b": false, "a/b": false, "*.a": false, "bücher": false, "a\x00": false, l63: true, l63 + "a": false, "a." + l63 + "a.b": false,
		strings.Repeat(l63+".", 3) + l63[:61]: true, strings.Repeat(l63+".", 3) + l63[:61] + ".": true, strings.Repeat(l63+".", 3) + l63[:62]: false,
	} {
		if got := isDomainName(name); got != want {
			t.Errorf("%.80q: %v, want %v", name, got, want)
		}
	}
}

func TestSort(t *testing.T) {
	sources := map[string]string{
		"192.0.2.1": "10.0.0.1", "10.9.0.1": "10.0.0.1", "2001:db8::1": "2001:db8::9", "2002:c000:204::1": "2001:db8::9", "fe80::1": "fe80::9",
		"fd00::1": "fd00::9", "2001:db8:0:1::1": "2001:db8::9", "127.0.0.1": "127.0.0.1", "fd00:0:0:1::1": "fd00::9",
	}
	for in, want := range map[string]string{
		"192.0.2.1 2001:db8::1":             "2001:db8::1 192.0.2.1",
		"203.0.113.1 192.0.2.1":             "192.0.2.1 203.0.113.1",
		"203.0.113.1 203.0.113.2":           "203.0.113.1 203.0.113.2",
		"192.0.2.1 10.9.0.1":                "192.0.2.1 10.9.0.1",
		"2002:c000:204::1 192.0.2.1":        "192.0.2.1 2002:c000:204::1",
		"fd00::1 192.0.2.1":                 "192.0.2.1 fd00::1",
		"2001:db8:0:1::1 2001:db8::1":       "2001:db8::1 2001:db8:0:1::1",
		"2001:db8::1 fe80::1":               "fe80::1 2001:db8::1",
		"192.0.2.1 127.0.0.1":               "127.0.0.1 192.0.2.1",
		"fd00:0:0:1::1 fd00::1 203.0.113.1": "fd00::1 fd00:0:0:1::1 203.0.113.1",
	} {
		c := call{r: New("", resolver.System{SourceFor: func(dst netip.Addr) netip.Addr {
			a, _ := netip.ParseAddr(sources[dst.String()]) // Without a source it is the zero Addr.
			return a
		}})}
		for _, word := range strings.Fields(in) {
			c.addresses = append(c.addresses, netip.MustParseAddr(word))
		}
		c.sort()
		var got []string
		for _, a := range c.addresses {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", in, strings.Join(got, " "), want)
		}
	}
}
