package engine

import (
	"fmt"
	"maps"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Settings returns the settings that r makes of sys. source says whose files they are (probe.Settings.Source). A libc whose
// dialect is not known is read as glibc reads it, with a warning that says so.
func Settings(sys resolver.System, r probe.Resolver, source string) probe.Settings {
	in := resolvconf.Inputs{Hostname: sys.Hostname, Env: sys.Env, Version: fullVersion(r)}
	config, err := resolvconf.Parse(resolvconf.Libc(r.Libc), sys.ResolvConf, in)
	if err != nil {
		in.Version = ""
		config = resolvconf.ParseGlibc(sys.ResolvConf, in)
		config.Warnings = append(config.Warnings, resolvconf.Warning{
			Effect: fmt.Sprintf("read as glibc reads it: what %.40s makes of it is not known", printableLibc(r.Libc)),
		})
	}
	s := probe.Settings{
		Raw: sys.ResolvConf, Nameservers: []string{}, Search: emptyNotNil(config.Search), Ndots: config.Ndots,
		TimeoutSeconds: config.TimeoutSeconds, Attempts: config.Attempts, Options: emptyNotNil(config.Options),
		Warnings: config.Warnings, Source: source, Hosts: sys.Hosts, NSSwitch: sys.NSSwitch, Env: maps.Clone(sys.Env),
	}
	if s.Warnings == nil {
		s.Warnings = []resolvconf.Warning{}
	}
	for _, a := range config.Nameservers {
		s.Nameservers = append(s.Nameservers, a.String())
	}
	s.Families = families(sys.Addresses)
	return s
}

// families are those of addresses that others can be reached from.
func families(list []netip.Addr) []string {
	var has4, has6 bool
	for _, a := range list {
		a = a.Unmap()
		if a.IsLoopback() || a.IsLinkLocalUnicast() {
			continue
		}
		has4, has6 = has4 || a.Is4(), has6 || a.Is6()
	}
	var out []string
	if has4 {
		out = append(out, "IPv4")
	}
	if has6 {
		out = append(out, "IPv6")
	}
	return out
}

func printableLibc(l probe.Libc) string {
	if l == "" {
		return "an unknown libc"
	}
	return string(l)
}

// emptyNotNil keeps JSON lists lists.
func emptyNotNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
