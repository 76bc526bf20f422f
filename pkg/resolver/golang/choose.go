package golang

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// LeftToLibc returns why a Go program of this version that can use both resolvers, and was told to use neither, leaves the
// lookup of host to libc; empty when it uses its own. The program decides anew for every lookup, so this has to be asked again
// whenever the settings changed. The empty host asks for any name that is special to no source of nsswitch.conf.
//
// A resolv.conf that exists but cannot be read for another reason than its permissions also leaves lookups to libc; a System
// knows no such file.
//
// Source: Go src/net/conf.go, initConfVal and lookupOrder (hostLookupOrder before 1.21).
func LeftToLibc(version string, sys resolver.System, host string) string {
	if _, set := sys.Env["LOCALDOMAIN"]; set {
		return "LOCALDOMAIN is set"
	}
	for _, name := range []string{"RES_OPTIONS", "HOSTALIASES"} {
		if sys.Env[name] != "" {
			return name + " is set"
		}
	}
	if strings.ContainsAny(host, `\%`) {
		return "the name has a backslash or a percent sign"
	}
	if !sys.NoResolvConf {
		if word := resolvconf.UnknownToGo(sys.ResolvConf, version); word != "" {
			return "Go does not know " + word + " in resolv.conf"
		}
	}
	if !featuresOf(version).localIsGo && endsFold(strings.TrimSuffix(host, "."), ".local") {
		return "the name ends in .local"
	}
	if host == "" {
		// No name that a source could know.
		host = "x"
	}
	_, why := parseNSS(sys.NSSwitch).lookupOrder(host, sys.Hostname, true)
	return why
}

// Decide returns the resolver that a program which chooses uses for host with these files and environment. Ask it again
// whenever one of them changed.
func Decide(c *probe.CgoProgram, sys resolver.System, host string) probe.Resolver {
	r := probe.Resolver{Libc: probe.Go, Version: c.GoVersion, Source: probe.SourceDetected}
	r.Why = fmt.Sprintf("%s is a Go program with cgo, which uses Go's own resolver with these settings", c.Program)
	if why := LeftToLibc(c.GoVersion, sys, host); why != "" {
		r = c.Libc
		r.Why = fmt.Sprintf("a Go program with cgo, which leaves resolving to libc because %s; %s", why, r.Why)
	}
	r.Cgo = c
	return r
}

func endsFold(s, suffix string) bool {
	return len(s) >= len(suffix) && resolver.EqualFoldASCII(s[len(s)-len(suffix):], suffix)
}
