package conformance

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// dice draws what a random case is made of.
type dice struct{ *rand.Rand }

// chance is true in percent of a hundred throws.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// Generate returns the random case number n of a seed. It is a function of the two.
func Generate(seed uint64, n int) Case {
	d := dice{rand.New(rand.NewPCG(seed, uint64(n)))}
	c := Case{Name: fmt.Sprintf("seed%d-%d", seed, n), Hostname: pick(d, "pod", "pod", "pod.ns.example.test", "pod.", ".odd.test")}
	d.surroundings(&c)
	domains := d.domains()
	servers := d.servers(&c)
	c.ResolvConf = d.resolvConf(domains, servers)
	if d.chance(2) {
		c.ResolvConf, c.NoResolvConf = "", true
	}
	for range pick(d, 1, 1, 2) {
		c.Calls = append(c.Calls, d.call())
	}
	if len(c.Calls) == 2 && d.chance(25) {
		c.Calls[1].Host = c.Calls[0].Host
	}
	c.PauseMillis = pick(d, 0, 0, 100)
	var hosts []string
	for _, call := range c.Calls {
		hosts = append(hosts, call.Host)
	}
	d.environment(&c, domains)
	c.Hosts = d.hosts(hosts)
	if c.NSSwitch = d.nsswitch(); c.NSSwitch != nil && strings.Contains(*c.NSSwitch, "module") {
		// What dlopen leaves in errno and h_errno would reach from one call into the next.
		c.Calls = c.Calls[:1]
	}
	if d.chance(10) {
		text := pick(d, "multi off\n", "", "order hosts,bind\n", "multi on # note\n", "MULTI OFF\n", "reorder on\nmulti off\n", "trim .s1.test\n", "multi\n")
		c.HostConf = &text
	}
	c.Rules = d.rules(hosts, domains, servers)
	return c
}

// surroundings draws addresses of the machine: they decide AI_ADDRCONFIG and the order of what is returned.
func (d dice) surroundings(c *Case) {
	c.NoIPv6 = d.chance(12)
	for _, text := range []string{"10.9.9.9/24", "fe80::9/64", "2001:db8:1::5/64", "fd00:1::5/48"} {
		p := netip.MustParsePrefix(text)
		if d.chance(20) && (p.Addr().Is4() || !c.NoIPv6) {
			c.Addresses = append(c.Addresses, p)
		}
	}
}

// domains draws a search list.
func (d dice) domains() []string {
	var out []string
	for range pick(d, 0, 1, 1, 2, 2, 3, 3, 4, 6, 8) {
		out = append(out, d.domain())
	}
	if len(out) > 1 && d.chance(10) {
		out = append(out, out[0])
	}
	return out
}

func (d dice) domain() string {
	if d.chance(75) {
		return pick(d, "shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "s1.test", "s2.test", "ec2.internal", "test")
	}
	return pick(d, ".", ".a.test", "a.test.", "A.Test", "under_score.test", "b\u00fc.test", "a..b", "..", "sp\\ace.test", "-x.test", "1.2.3.4",
		strings.Repeat("d", 63)+".test", strings.Repeat("d", 64)+".test",
		strings.Repeat("long.", 40)+"test", "a\\.b.test", "a\\046b.test", "x.test\\", "\\000.test", "\x01.test", "#", "a;b.test")
}

// servers draws the servers and the addresses by which resolv.conf names them.
func (d dice) servers(c *Case) []string {
	var named []string
	for i := range pick(d, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4) {
		addr := netip.AddrFrom4([4]byte{127, 0, 0, byte(2 + i)})
		if !c.NoIPv6 && i == 0 && d.chance(8) {
			addr = netip.IPv6Loopback()
		}
		name := addr.String()
		switch {
		case d.chance(8):
			// Dead: nothing listens.
			named = append(named, name)
			continue
		case d.chance(3):
			// No route leads there.
			named = append(named, pick(d, "192.0.2.53", "2001:db8:53::1"))
			continue
		case addr.Is4() && d.chance(4):
			name = fmt.Sprintf(pick(d, "127.%d", "127.0.0.0%d", "0x7f.%d", "127.0.%d"), 2+i)
		}
		named = append(named, name)
		c.Servers = append(c.Servers, Server{
			Addr: addr, Silent: d.chance(7), NoTCP: d.chance(6), SilentTCP: d.chance(2), DelayMillis: pick(d, 0, 0, 0, 0, 40),
		})
	}
	if len(named) == 0 || d.chance(5) {
		// Where there is no name server, or the lines are broken, it is this one.
		c.Servers = append(c.Servers, Server{Addr: netip.MustParseAddr("127.0.0.1")})
	}
	c.Truncate = d.chance(35)
	if d.chance(15) {
		c.Zones = []string{pick(d, "test", "cluster.local", ".")}
	}
	return named
}

// options draws option words.
func (d dice) options() []string {
	var out []string
	add := func(percent int, words ...string) {
		if d.chance(percent) {
			out = append(out, pick(d, words...))
		}
	}
	add(60, "ndots:0", "ndots:1", "ndots:2", "ndots:3", "ndots:5", "ndots:5", "ndots:5", "ndots:15", "ndots:16", "ndots:99", "ndots:-1", "ndots:x", "ndots:", "ndots:2x", "ndots: 3", "ndots")
	add(90, "timeout:1", "timeout:1", "timeout:1", "timeout:1", "timeout:1", "timeout:1", "timeout:0", "timeout:-1", "timeout:2", "timeout:x")
	add(70, "attempts:1", "attempts:1", "attempts:2", "attempts:2", "attempts:2", "attempts:3", "attempts:0", "attempts:-1", "attempts:9", "attempts:x")
	add(12, "rotate", "rotatexyz")
	add(12, "single-request")
	add(10, "single-request-reopen")
	add(10, "use-vc")
	add(15, "edns0")
	add(8, "trust-ad")
	add(6, "no-aaaa")
	add(8, "no-tld-query", "no_tld_query")
	add(4, "no-reload")
	add(4, "strict-error", "-edns0", "-rotate", "-single-request")
	add(8, "inet6", "debug", "ip6-dotint", "no-check-names", "EDNS0", "edns0,trust-ad", "ndots=3", "#", ";")
	if d.chance(10) {
		d.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// resolvConf draws the text of a resolv.conf.
func (d dice) resolvConf(domains, servers []string) string {
	var lines []string
	for _, s := range servers {
		lines = append(lines, pick(d, "nameserver ", "nameserver ", "nameserver ", "nameserver\t", "nameserver  ")+s)
	}
	if len(domains) > 0 {
		keyword := "search"
		if d.chance(6) {
			keyword = "domain"
		}
		lines = append(lines, keyword+pick(d, " ", " ", " ", "\t", "  ")+strings.Join(domains, pick(d, " ", " ", " ", "\t", "  ")))
	}
	if options := d.options(); len(options) > 0 {
		if len(options) > 1 && d.chance(15) {
			lines = append(lines, "options "+options[0], "options "+strings.Join(options[1:], " "))
		} else {
			lines = append(lines, "options "+strings.Join(options, pick(d, " ", " ", "\t", "  ")))
		}
	}
	if d.chance(15) {
		odd := pick(d,
			"# comment", "; comment", " nameserver 127.0.0.9", "\tsearch indented.test", "nameserver", "nameserver dns.example", "nameserver 127.0.0.2#53",
			"search", "domain", "search ", "options", "sortlist 10.9.9.0/255.255.255.0", "sortlist 192.0.2.0", "lookup file bind", "SEARCH upper.test",
			"search tail.test # note", "options ndots:4 # note", "nameserver 127.0.0.2 127.0.0.3", "searchx y.test", "options\tndots:3 timeout:1", "", "\x00",
			"domain first.test second.test", "nameserver 127.0.0.2 # note", "nameserver ::1%lo", "nameserver fe80::1%lo", "nameserver [::1]",
			"search "+manyDomains(40))
		lines = slices.Insert(lines, d.IntN(len(lines)+1), odd)
	}
	if d.chance(8) {
		d.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	end := "\n"
	if d.chance(4) {
		end = "\r\n"
	}
	text := strings.Join(lines, end)
	if !d.chance(5) {
		text += end
	}
	return text
}

func manyDomains(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("wide%d.test", i))
	}
	return strings.Join(out, " ")
}

// host draws a name to look up.
func (d dice) host() string {
	if d.chance(70) {
		labels := []string{"x", "y", "web", "db-0", "api", "Foo", "example", "svc"}
		name := pick(d, labels...)
		for range pick(d, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6) {
			name += "." + pick(d, labels...)
		}
		if d.chance(15) {
			name += "."
		}
		return name
	}
	return pick(d, "_srv._tcp.x", "-x.y", "x-.y", "sp ace.y", "sl/ash.y", "b\u00fccher.test", "x..y", "*.y", "x\\.y", "x\\046y.z", "", ".", "..", "x..", ".x",
		"x_y", "under_score.test", "@.y", "x\x01.y", "x\n.y", "x:y", "x%y", "localhost", "foo.localhost", "localhost.", "LOCALHOST", "printer.local",
		"1.2.3.4", "10.1", "0x7f.1", "127.000.000.001", "123.456", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "4294967296", "08.1", "::1", "::ffff:1.2.3.4",
		"fe80::1%lo", "fe80::1%9", "fe80::1%nosuch", "2001:db8::1%lo", "[::1]", "::1%", "1.2.3.4%lo", "::g", "1::2::3",
		strings.Repeat("a", 63)+".test", strings.Repeat("a", 64)+".test", strings.Repeat("abcdefghi.", 24)+"x", strings.Repeat("abcdefghi.", 25)+"xyz",
		strings.Repeat("abcdefghi.", 25)+"wxyz", strings.Repeat("b", 300), strings.Repeat("abcdefghi.", 120)+"x", strings.Repeat("a.", 126)+"b")
}

func (d dice) call() Call {
	c := Call{
		Host: d.host(), Family: pick(d, resolver.Unspec, resolver.Unspec, resolver.Unspec, resolver.Unspec, resolver.Inet, resolver.Inet6),
		AddrConfig: d.chance(20), CanonName: d.chance(15), V4Mapped: d.chance(12),
	}
	if d.chance(5) {
		c = Call{Host: c.Host, Family: resolver.Unspec, NullHints: true}
	}
	return c
}

func (d dice) environment(c *Case, domains []string) {
	c.Env = map[string]string{}
	if d.chance(8) {
		c.Env["RES_OPTIONS"] = strings.Join(d.options(), " ")
	}
	if d.chance(7) {
		c.Env["LOCALDOMAIN"] = pick(d, "", "l1.test", "l1.test l2.test", "l1.test\tl2.test", " l1.test", "l1.test\nl2.test", ".", strings.Join(domains, " "))
	}
	if d.chance(7) {
		c.Env["HOSTALIASES"] = aliasesPath
		c.HostAliases = pick(d, "x alias.example\n", "x y.z\nweb alias.example.\n", "# x y\nX upper.example\n", "x\n", "x\talias.example trailing\n",
			"web  db-0\nx  api", "x sp ace\n", "xx a\nx b\n")
		if d.chance(10) {
			c.Env["HOSTALIASES"], c.HostAliases = "/etc/nosuchfile", ""
		}
	}
}

// hosts draws the text of /etc/hosts.
func (d dice) hosts(hosts []string) string {
	text := "127.0.0.1 localhost\n::1 localhost\n"
	if d.chance(10) {
		text = ""
	}
	for range pick(d, 0, 0, 0, 0, 0, 1, 2, 3) {
		name := strings.TrimSuffix(pick(d, hosts...), ".")
		if d.chance(20) || strings.ContainsAny(name, " \t\n#\x00") || name == "" {
			name = "web"
		}
		if d.chance(15) {
			name = strings.ToUpper(name)
		}
		addr := pick(d, "10.1.1.1", "10.1.1.2", "2001:db8::7", "fe80::7", "::ffff:10.1.1.3", "127.0.1.1", "10.1", "fe80::7%lo", "not-an-address", "10.1.1.1.1", "::1")
		line := pick(d, "%s %s", "%s\t%s", "%s alias.example %s", "%s %s alias.example", " %s %s", "%s %s # note", "# %s %s", "%s %s#note", "%s %s.", "%s\t\t%s\r")
		text += fmt.Sprintf(line, addr, name) + "\n"
	}
	return text
}

// nsswitch draws an nsswitch.conf. Modules that this machine might have are left out.
func (d dice) nsswitch() *string {
	text := "hosts: files dns\n"
	if d.chance(30) {
		if d.chance(20) {
			return nil
		}
		text = pick(d, "hosts: dns files\n", "hosts: dns\n", "hosts: files\n", "hosts: files [NOTFOUND=return] dns\n", "hosts: dns [!UNAVAIL=return] files\n",
			"hosts: files nosuchmodule dns\n", "hosts: nosuchmodule [NOTFOUND=return] files dns\n", "hosts: files nosuchmodule [UNAVAIL=return] dns\n", "", "passwd: files\n",
			"hosts:files dns\n", "hosts: files dns # note\n", "HOSTS: files\n", "hosts:\n", "  hosts: dns\n", "hosts:\tfiles\tdns\n", "hosts: files dns\nhosts: files\n",
			"hosts: files [SUCCESS=continue] dns\n", "hosts: dns [TRYAGAIN=return] files\n", "hosts: dns [TRYAGAIN=continue NOTFOUND=return] files\n",
			"hosts: files [notfound=continue] dns\n", "hosts: dns [UNAVAIL=return] files", "hosts files dns\n", "hosts: dns dns\n", "hosts: [NOTFOUND=return] dns\n",
			"hosts: files [bogus=return] dns\n", "# hosts: files\npasswd: files\nhosts: dns\n")
	}
	return &text
}

// rules draws what the servers do about the candidate names.
func (d dice) rules(hosts, domains, servers []string) []Rule {
	var out []Rule
	for range pick(d, 0, 1, 2, 2, 3, 3, 4, 6) {
		out = append(out, d.rule(hosts, domains, servers))
	}
	if d.chance(20) {
		out = append(out, Rule{Name: "*", Do: d.actions()})
	}
	return out
}

func (d dice) rule(hosts, domains, servers []string) Rule {
	name := strings.TrimSuffix(pick(d, hosts...), ".")
	switch {
	case d.chance(15):
		name = "*"
	case len(domains) > 0 && d.chance(50):
		name += "." + strings.Trim(pick(d, domains...), ".")
	case d.chance(10):
		name += ".*"
	}
	if len(name) > 1000 {
		name = "*"
	}
	r := Rule{Name: name, Type: pick(d, "", "", "", probe.TypeA, probe.TypeAAAA), Do: d.actions()}
	if len(servers) > 1 && d.chance(30) {
		if addr, err := netip.ParseAddr(pick(d, servers...)); err == nil {
			r.Server = &addr
		}
	}
	if d.chance(15) {
		r.Transport = pick(d, probe.UDP, probe.UDP, probe.TCP)
	}
	if d.chance(15) {
		r.Nth = pick(d, []int{1}, []int{1}, []int{1, 2}, []int{2}, []int{1, 3})
		// Which of two transports a query comes over first is a race.
		r.Transport = pick(d, probe.UDP, probe.UDP, probe.UDP, probe.TCP)
	}
	return r
}

// actions draws what a server does. Delays are far enough from each other, and from whole seconds, that no race decides.
func (d dice) actions() []string {
	out := d.answer()
	if d.chance(6) {
		out = append(out, pick(d, "badid", "badquestion", "tc", "tc", "nosoa", "header", "close"))
	}
	switch {
	case d.chance(12):
		out = append(out, pick(d, "delay:40", "delay:90", "delay:150", "delay:220"))
	case d.chance(4):
		out = append(out, pick(d, "delay:1300", "delay:1450"))
	}
	return out
}

func (d dice) answer() []string {
	switch n := d.IntN(100); {
	case n < 30:
		return d.addresses()
	case n < 36:
		return append([]string{"cname:" + pick(d, "t.example", "T.Example", "alias.test", strings.Repeat("long.", 45)+"t", "under_score.t", "sp\\032ace.t")}, d.addresses()...)
	case n < 39:
		return []string{"cname:t.example"}
	case n < 41:
		return []string{"cname:t.example", "cname:u.example", "a:192.0.2.8"}
	case n < 43:
		return []string{"a:192.0.2.8", "cname:t.example"}
	case n < 50:
		return []string{"nodata"}
	case n < 57:
		return []string{"nx"}
	case n < 59:
		return []string{"nx", pick(d, "cname:t.example", "a:192.0.2.1")}
	case n < 66:
		return []string{"servfail"}
	case n < 70:
		return []string{"refused"}
	case n < 73:
		return []string{pick(d, "notimp", "formerr")}
	case n < 75:
		return []string{pick(d, "rcode:6", "rcode:9", "rcode:15")}
	case n < 77:
		return []string{"servfail", "a:192.0.2.1"}
	case n < 79:
		return []string{"lame"}
	case n < 82:
		return []string{pick(d, "servfail", "refused", "notimp", "formerr", "nx", "nodata"), "header"}
	case n < 86:
		return append([]string{"tc"}, pick(d, []string{}, []string{"a:192.0.2.77"}, []string{"nx"}, []string{"servfail"})...)
	case n < 88:
		return []string{"reset"}
	case n < 90:
		return []string{"drop", "close"}
	}
	return []string{"drop"}
}

// addresses draws the records of a good answer; their kinds exercise the sorting of what getaddrinfo returns.
func (d dice) addresses() []string {
	switch n := d.IntN(100); {
	case n < 35:
		return []string{"a:192.0.2.1", "aaaa:2001:db8::1"}
	case n < 50:
		return []string{"a:192.0.2.1"}
	case n < 57:
		return []string{"aaaa:2001:db8::1"}
	case n < 67:
		return []string{fmt.Sprintf("pad:%d", pick(d, 2, 10, 20, 23, 24, 25, 26, 27, 40, 49, 50, 51, 52, 60, 100, 120))}
	case n < 74:
		k := pick(d, 5, 11, 12, 13, 14, 22, 24, 25, 26, 50)
		return []string{fmt.Sprintf("pad:%d", k), fmt.Sprintf("pad6:%d", k)}
	}
	var out []string
	for range pick(d, 2, 3, 5) {
		out = append(out, pick(d, "a:10.9.9.1", "a:10.9.9.200", "a:127.0.0.1", "a:169.254.1.1", "a:192.0.2.1", "a:192.0.2.2", "a:10.0.0.1", "a:0.0.0.0",
			"aaaa:2001:db8:1::1", "aaaa:2001:db8:2::1", "aaaa:::1", "aaaa:fe80::1", "aaaa:fd00:1::1", "aaaa:fd00:2::1", "aaaa:2002:c000:201::1",
			"aaaa:2001:0:1::1", "aaaa:::ffff:192.0.2.3", "aaaa:::", "aaaa:ff02::1"))
	}
	return out
}
