package cares

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// fileLookup follows file_lookup: the hosts file, and localhost in any case.
func (c *call) fileLookup() bool {
	name := c.lookup.name
	if isOnion(name) {
		return false
	}
	var all []netip.Addr
	var canon string
	if c.r.feat.old {
		all, canon = oldHosts(resolver.ParseHosts(c.r.sys.Hosts), name)
	} else {
		all, canon = hosts(c.r.sys.Hosts, name)
	}
	var found []netip.Addr
	for _, a := range all {
		if c.wants(a) {
			found = append(found, a)
		}
	}
	if c.isLocalhost(name) && (len(found) == 0 || !c.r.feat.old) {
		for _, a := range []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})} {
			if c.wants(a) && !slices.ContainsFunc(found, func(b netip.Addr) bool { return b.Is4() == a.Is4() }) {
				found = append(found, a)
			}
		}
		canon = name
	}
	if len(found) == 0 {
		return false
	}
	c.lookup.addrs, c.lookup.canon = append(c.lookup.addrs, found...), canon
	return true
}

// wants reports whether an address is of the family asked for.
func (c *call) wants(a netip.Addr) bool {
	switch c.req.Family {
	case resolver.Inet:
		return a.Is4()
	case resolver.Inet6:
		return a.Is6()
	}
	return true
}

// entry is what belongs together in a hosts file: 1.34 merges lines that share an address or a name.
type entry struct {
	addrs []netip.Addr
	names []string
}

// maxHostName is the longest name of a hosts file that 1.34 takes (ares_hosts_file.c, char hostname[256]).
const maxHostName = 255

// hostsLine follows ares_parse_hosts_hostnames: a "#" begins a comment only where a word begins, elsewhere it spoils the word.
func hostsLine(line string) (addr netip.Addr, names []string) {
	fields := strings.FieldsFunc(line, isSpaceRune)
	if len(fields) == 0 {
		return addr, nil
	}
	addr, ok := resolvconf.CAresAddress(fields[0])
	if !ok {
		return addr, nil
	}
	for _, n := range fields[1:] {
		if n[0] == '#' {
			break
		}
		readable := len(n) <= maxHostName && !strings.ContainsFunc(n, func(r rune) bool { return r < ' ' || r > '~' })
		if !readable && len(names) == 0 {
			break
		}
		if readable && isHostText(n) {
			names = append(names, strings.ToLower(n))
		}
	}
	return addr, names
}

// hosts follows ares_hosts_file_add and ares_hosts_search_host.
func hosts(text, name string) ([]netip.Addr, string) {
	byAddr, byName := map[netip.Addr]*entry{}, map[string]*entry{}
	for line := range strings.SplitSeq(text[:min(len(text), resolver.MaxHostsBytes)], "\n") {
		addr, names := hostsLine(line)
		if len(names) == 0 {
			continue
		}
		e := byAddr[addr]
		for i := 0; e == nil && i < len(names); i++ {
			e = byName[names[i]]
		}
		if e == nil {
			e = &entry{}
		}
		if byAddr[addr] == nil {
			e.addrs, byAddr[addr] = append(e.addrs, addr), e
		}
		for _, n := range names {
			if byName[n] == nil {
				e.names, byName[n] = append(e.names, n), e
			}
		}
	}
	if e := byName[strings.ToLower(name)]; e != nil {
		return e.addrs, e.names[0]
	}
	return nil, ""
}

// oldHosts follows ares__readaddrinfo of 1.18: all lines with the name.
func oldHosts(lines []resolver.HostsLine, name string) (addrs []netip.Addr, canon string) {
	for _, line := range lines {
		addr, ok := resolvconf.CAresAddress(line.Address)
		if !ok {
			continue
		}
		if slices.ContainsFunc(line.Names, func(n string) bool { return resolver.EqualFoldASCII(n, name) }) {
			addrs, canon = append(addrs, addr), line.Names[0]
		}
	}
	return addrs, canon
}
