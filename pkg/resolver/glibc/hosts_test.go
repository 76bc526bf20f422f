package glibc

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestHosts(t *testing.T) {
	hosts := "10.0.0.300 bad\n10.1 bad\n::1 six\n::ffff:1.2.3.4 mapped\nfe80::1%eth0 bad\n\t 10.0.0.7\tback # front\n10.0.0.8\r\n" +
		"10.0.0.9 A two\n10.0.0.10 a\nfd00::1 a\n#10.0.0.11 a\n1.2.3.4 dot.\n10.0.0.12 Web.Example web\n"
	for _, c := range []struct {
		host, unspec, inet, inet6 string
	}{
		{"a", "10.0.0.9 10.0.0.10 fd00::1", "10.0.0.9 10.0.0.10", "fd00::1"},
		{"two", "10.0.0.9", "10.0.0.9", ""},
		{"six", "::1", "127.0.0.1", "::1"},
		{"mapped", "::ffff:1.2.3.4", "1.2.3.4", "::ffff:1.2.3.4"},
		{"back", "10.0.0.7", "10.0.0.7", ""},
		{"front", "", "", ""},
		{"bad", "", "", ""},
		{"", "10.0.0.8", "10.0.0.8", ""},
		{"dot", "", "", ""},
		{"dot.", "1.2.3.4", "1.2.3.4", ""},
		{"WEB.EXAMPLE", "10.0.0.12", "10.0.0.12", ""},
	} {
		for family, want := range map[resolver.Family]string{resolver.Unspec: c.unspec, resolver.Inet: c.inet, resolver.Inet6: c.inet6} {
			sys := settings("nameserver 127.0.0.2\n")
			files := "hosts: files\n"
			sys.Hosts, sys.NSSwitch = hosts, &files
			if want != "" {
				want = "ok " + want
			} else {
				want = "EAI_NONAME"
			}
			m := newModel(t, observedBuild, sys)
			m.Want(resolver.Request{Host: c.host, Family: family}, want)
			if ended := m.Events[len(m.Events)-1].Ended; ended.Outcome == "ok" && (ended.AnsweredBy != resolver.ByHosts || ended.DecidedBy != 0) {
				t.Errorf("%q: %+v", c.host, ended)
			}
		}
	}
}

func TestMulti(t *testing.T) {
	sys := settings("nameserver 127.0.0.2\n")
	sys.Hosts = "10.0.0.1 a\n10.0.0.2 a\n"
	for text, want := range map[string]string{
		"multi on\n": "ok 10.0.0.1 10.0.0.2", "multi off\n": "ok 10.0.0.1", "": "ok 10.0.0.1", "# multi on\n": "ok 10.0.0.1",
		"order hosts,bind\n MULTI ON # x\n": "ok 10.0.0.1 10.0.0.2", "multi on\nmulti off\n": "ok 10.0.0.1", "multi\n": "ok 10.0.0.1",
	} {
		sys.HostConf = &text
		newModel(t, observedBuild, sys).Want(host("a"), want)
	}
	sys.HostConf = nil
	newModel(t, observedBuild, sys).Want(host("a"), "ok 10.0.0.1 10.0.0.2")
}

func TestHostsFamilies(t *testing.T) {
	sys := settings("nameserver 127.0.0.2\n")
	sys.Hosts = "10.0.0.1 web\n"
	m := newModel(t, observedBuild, sys, "web AAAA - - - aaaa:2001:db8::5")
	m.Want(host("web"), "ok 10.0.0.1")
	m.Want(resolver.Request{Host: "web", Family: "inet6"}, "AAAA web. 2; ok 2001:db8::5")
	m.Want(resolver.Request{Host: "web", Family: "inet6", V4Mapped: true}, "ok ::ffff:10.0.0.1")
	m.Want(resolver.Request{Host: "web", CanonName: true}, "ok 10.0.0.1 (web)")
}

// TestHostsBuffer: the numbers at which the real library's buffer grew.
func TestHostsBuffer(t *testing.T) {
	for line, want := range map[string]int{
		"#" + strings.Repeat("a", 988) + "\n":          1024,
		"#" + strings.Repeat("a", 989) + "\n":          1025,
		"10.0.0.1 " + strings.Repeat("a ", 94) + "\n":  992,
		"10.0.0.1 " + strings.Repeat("a ", 95) + "\n":  1008,
		"10.0.0.1 " + strings.Repeat("a ", 97) + "\n":  1024,
		"10.0.0.1 " + strings.Repeat("a ", 98) + "\n":  1032,
		"10.0.0.x " + strings.Repeat("a ", 200) + "\n": 444,
	} {
		if got := hostsBuffer(resolver.ParseHosts(line)); got != want {
			t.Errorf("%.20q of %d bytes: %d, want %d", line, len(line), got, want)
		}
	}
	sys := settings("nameserver 127.0.0.2\n")
	big := "A x. 2; AAAA x. 2; "
	rule := "x A - - - pad:30"
	newModel(t, observedBuild, sys, rule, "x - - - - nodata").Want(host("x."), big+big+"ok"+addresses(30))
	sys.Hosts = "10.0.0.1 " + strings.Repeat("a ", 98) + "\n"
	newModel(t, observedBuild, sys, rule, "x - - - - nodata").Want(host("x."), big+"ok"+addresses(30))
}

func TestHostAliases(t *testing.T) {
	const k8 = "nameserver 127.0.0.2\nsearch s.test\n"
	for _, c := range []struct{ file, host, want string }{
		{"x alias.example\n", "x", "A alias.example. 2; AAAA alias.example. 2; A alias.example.s.test. 2; AAAA alias.example.s.test. 2; EAI_NONAME"},
		{"X. \t alias.example. rest\n", "x", "A alias.example. 2; AAAA alias.example. 2; EAI_NONAME"},
		{"x alias.example\n", "x.", "A x. 2; AAAA x. 2; EAI_NONAME"},
		{"x y\ny z\nz w\n", "x", "A z. 2; AAAA z. 2; EAI_NONAME"},
		{"x y\n", "x", "A y.s.test. 2; AAAA y.s.test. 2; A y. 2; AAAA y. 2; EAI_NONAME"},
		// A line without white space ends the file, also the last one without a newline.
		{"stop", "x", "A x.s.test. 2; AAAA x.s.test. 2; A x. 2; AAAA x. 2; EAI_NONAME"},
		{"a b\nx \n", "x", "A x.s.test. 2; AAAA x.s.test. 2; A x. 2; AAAA x. 2; EAI_NONAME"},
		{"x alias.example", "x", "A alias.example. 2; AAAA alias.example. 2; A alias.example.s.test. 2; AAAA alias.example.s.test. 2; EAI_NONAME"},
	} {
		sys := settings(k8)
		sys.Env, sys.HostAliases = map[string]string{"HOSTALIASES": "/etc/aliases"}, c.file
		newModel(t, observedBuild, sys).Want(host(c.host), c.want)
	}
	sys := settings(k8)
	sys.HostAliases = "x y\n"
	newModel(t, observedBuild, sys).Want(host("x"), "A x.s.test. 2; AAAA x.s.test. 2; A x. 2; AAAA x. 2; EAI_NONAME")
}
