package golang

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func TestLeftToLibc(t *testing.T) {
	nss := func(text string) *string { return &text }
	env := func(name, value string) resolver.System {
		return resolver.System{Env: map[string]string{name: value}}
	}
	for _, c := range []struct {
		version, host string
		sys           resolver.System
		// why is part of the reason, empty for none.
		why string
	}{
		{"", "x", resolver.System{ResolvConf: "nameserver 127.0.0.2\noptions ndots:5\n"}, ""},
		{"", "x", env("LOCALDOMAIN", ""), "LOCALDOMAIN is set"},
		{"", "x", env("RES_OPTIONS", ""), ""},
		{"", "x", env("RES_OPTIONS", "ndots:1"), "RES_OPTIONS is set"},
		{"", "x", env("HOSTALIASES", "/x"), "HOSTALIASES is set"},
		{"", `a\b`, resolver.System{}, "backslash"},
		{"", "100%", resolver.System{}, "percent"},
		{"", "x", resolver.System{ResolvConf: "options no-aaaa\n"}, `the option "no-aaaa"`},
		{"", "x", resolver.System{ResolvConf: "options no-aaaa\n", NoResolvConf: true}, ""},
		{"1.19.8", "x", resolver.System{ResolvConf: "options edns0 trust-ad\n"}, `the option "edns0"`},
		{"1.20", "x", resolver.System{ResolvConf: "options edns0 trust-ad\n"}, ""},
		{"1.22.12", "printer.LOCAL.", resolver.System{}, "ends in .local"},
		{"1.23", "printer.local", resolver.System{}, ""},
		{"1.23", "printer.local.", resolver.System{NSSwitch: nss("hosts: files mdns4_minimal [NOTFOUND=return] dns\n")}, "names in .local"},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files mdns4_minimal [NOTFOUND=return] dns myhostname\n"), Hostname: "pod"}, ""},
		{"", "Pod", resolver.System{NSSwitch: nss("hosts: files dns myhostname\n"), Hostname: "pod"}, "myhostname, which knows this name"},
		{"", "a.localhost", resolver.System{NSSwitch: nss("hosts: files dns myhostname\n")}, "myhostname, which knows this name"},
		{"", "_gateway.", resolver.System{NSSwitch: nss("hosts: files dns myhostname\n")}, "myhostname, which knows this name"},
		{"", "", resolver.System{NSSwitch: nss("hosts: files dns myhostname\n")}, ""},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files resolve dns\n")}, `the source "resolve"`},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files dns [NOTFOUND=return SUCCESS=return]\n")}, "a criterion after dns"},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files dns [SUCCESS=return NOTFOUND=return]\n")}, ""},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files [!notfound=continue] dns\n")}, "a criterion after files"},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files [merge=return] dns\n")}, "a criterion after files"},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files [x] dns\n")}, "a criterion that cannot be read"},
		{"", "x", resolver.System{NSSwitch: nss("hosts: files [ dns\n")}, "a bracket that is not closed"},
		{"", "x", resolver.System{NSSwitch: nss("nonsense\n")}, "a line without a colon"},
		{"", "x", resolver.System{NSSwitch: nss("# only\n\n")}, ""},
		{"", "x", resolver.System{NSSwitch: nss("hosts: myhostname\n")}, "neither files nor dns"},
	} {
		got := LeftToLibc(c.version, c.sys, c.host)
		if c.why == "" && got != "" || !strings.Contains(got, c.why) {
			t.Errorf("%s %q %+v: %q, want %q", c.version, c.host, c.sys, got, c.why)
		}
	}
}

func TestDecide(t *testing.T) {
	p := &probe.CgoProgram{Program: "app (pid 1)", GoVersion: "1.26.8", Libc: probe.Resolver{Libc: probe.Glibc, Version: "2.36", Build: "2.36-9", Why: "read"}}
	own := Decide(p, resolver.System{}, "x")
	if own.Libc != probe.Go || own.Version != "1.26.8" || own.Build != "" || own.Cgo != p || own.Source != probe.SourceDetected || !strings.Contains(own.Why, "app (pid 1)") {
		t.Errorf("%+v", own)
	}
	left := Decide(p, resolver.System{ResolvConf: "options no-aaaa\n"}, "x")
	if left.Libc != probe.Glibc || left.Build != "2.36-9" || left.Cgo != p || !strings.Contains(left.Why, "no-aaaa") || !strings.HasSuffix(left.Why, "; read") {
		t.Errorf("%+v", left)
	}
	if p.Libc.Why != "read" {
		t.Error("the program was changed")
	}
}
