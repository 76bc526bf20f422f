package glibc

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestLiteral(t *testing.T) {
	type req = resolver.Request
	for _, c := range []struct {
		req  req
		want string
	}{
		{req{Host: "10.0.0.1"}, "ok 10.0.0.1"},
		{req{Host: "10.1"}, "ok 10.0.0.1"},
		{req{Host: "0x7f.1"}, "ok 127.0.0.1"},
		{req{Host: "127.000.000.001"}, "ok 127.0.0.1"},
		{req{Host: "123.456"}, "ok 123.0.1.200"},
		{req{Host: "::1"}, "ok ::1"},
		{req{Host: "::ffff:1.2.3.4"}, "ok ::ffff:1.2.3.4"},
		{req{Host: "fe80::1%eth0"}, "ok fe80::1%eth0"},
		{req{Host: "fe80::1%3"}, "ok fe80::1%3"},
		{req{Host: "::1%5"}, "ok ::1%5"},
		{req{Host: "::1%eth0"}, "EAI_NONAME"},
		{req{Host: "fe80::1%"}, "EAI_NONAME"},
		{req{Host: "fe80::1%4294967296"}, "ok fe80::1%4294967296"},
		{req{Host: "fd00::1%4294967296"}, "EAI_NONAME"},
		{req{Host: "[::1]"}, "EAI_NONAME"},
		{req{Host: "1.2.3.4."}, "A 1.2.3.4. 2; AAAA 1.2.3.4. 2; EAI_NONAME"},
		{req{Host: "1.2.3.4.5."}, "A 1.2.3.4.5. 2; AAAA 1.2.3.4.5. 2; EAI_NONAME"},
		{req{Host: "10.1", Family: "inet6"}, "EAI_ADDRFAMILY"},
		{req{Host: "10.1", Family: "inet6", V4Mapped: true}, "ok ::ffff:10.0.0.1"},
		{req{Host: "::1", Family: "inet"}, "EAI_ADDRFAMILY"},
		{req{Host: "::ffff:1.2.3.4", Family: "inet"}, "ok 1.2.3.4"},
		{req{Host: "10.1", CanonName: true}, "ok 10.0.0.1 (10.1)"},
		// gethostbyname2 asks for nothing that looks like an address.
		{req{Host: "1.2.3.4.5", Family: "inet"}, "EAI_NONAME"},
		{req{Host: "1.2.3.4.5.", Family: "inet"}, "A 1.2.3.4.5. 2; EAI_NONAME"},
		{req{Host: "dead:beef", Family: "inet"}, "EAI_NONAME"},
		{req{Host: "256.1.", Family: "inet6"}, "AAAA 256.1. 2; EAI_NONAME"},
		// No names.
		{req{Host: ""}, "EAI_NONAME"},
		{req{Host: "*"}, "EAI_NONAME"},
		{req{Host: "."}, "A . 2; AAAA . 2; EAI_NONAME"},
		{req{Host: "x.\x00y"}, "A x. 2; AAAA x. 2; EAI_NONAME"},
		{req{Host: "bücher.", IDN: true}, "EAI_IDN_ENCODE"},
		{req{Host: "bücher."}, "EAI_NONAME"},
		{req{Host: "x", Family: "ipx"}, "EAI_FAMILY"},
		// gethostbyname3, behind AI_CANONNAME, does not check the name.
		{req{Host: "-x.", Family: "inet", CanonName: true}, "A -x. 2; EAI_NONAME"},
	} {
		m := newModel(t, observedBuild, settings("nameserver 127.0.0.2\n"))
		m.Want(c.req, c.want)
		if answered := m.Events[len(m.Events)-1].Ended.AnsweredBy; len(m.Events) == 1 && c.want[:2] == "ok" && answered != resolver.ByLiteral {
			t.Errorf("%+v: answered by %q", c.req, answered)
		}
	}
}

func TestIsDigitsAndDots(t *testing.T) {
	for name, want := range map[string]bool{
		"1.2.3.4.5": true, "256.256": true, "1": true, "1.": false, ".1": false, "1a.2": false, "dead:beef": true, "de:ad.x": true,
		":x": true, "g:1": false, "": false, "x.y": false,
	} {
		if got := isDigitsAndDots(name, inet); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if isDigitsAndDots("de:ad.x", inet6) || !isDigitsAndDots("dead:beef", inet6) {
		t.Error("IPv6 calls refuse what consists of address characters only")
	}
}
