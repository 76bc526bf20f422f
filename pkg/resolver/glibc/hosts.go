package glibc

import (
	"net/netip"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Sizes of nss_files' parser (nss/nss_files/files-hosts.c, nss_readline.c): the space before the line, and what readline wants
// beyond the line itself.
const (
	hostsEntryBytes = 32
	readlineSpare   = 2
)

// hostsEntry is a line of /etc/hosts that counts.
type hostsEntry struct {
	addr  netip.Addr
	names []string
}

// hostsEntries returns the lines whose address is of the family wanted; unspec takes both. As IPv4 address glibc also takes
// an IPv4-mapped one, and 127.0.0.1 for ::1.
func hostsEntries(lines []resolver.HostsLine, want resolver.Family) []hostsEntry {
	var out []hostsEntry
	for _, line := range lines {
		addr, err := netip.ParseAddr(line.Address)
		if err != nil || addr.Zone() != "" {
			continue
		}
		switch {
		case want == resolver.Unspec || addr.Is4() == (want == resolver.Inet):
		case want == resolver.Inet && addr.Is4In6():
			addr = addr.Unmap()
		case want == resolver.Inet && addr == netip.IPv6Loopback():
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		default:
			continue
		}
		names := line.Names
		if len(names) == 0 {
			// A line with an address only has the empty name.
			names = []string{""}
		}
		out = append(out, hostsEntry{addr, names})
	}
	return out
}

func (e hostsEntry) has(name string) bool {
	for _, n := range e.names {
		if resolver.EqualFoldASCII(n, name) {
			return true
		}
	}
	return false
}

// files follows nss_files: the addresses of all lines that have the name, or of the first one without `multi on`.
func (c *call) files(name string, want resolver.Family) (addressList, status) {
	lines := resolver.ParseHosts(c.r.sys.Hosts)
	var out addressList
	multi := multiOn(c.r.sys.HostConf)
	for _, e := range hostsEntries(lines, want) {
		if !e.has(name) {
			continue
		}
		if len(out.addrs) == 0 {
			out.canon = e.names[0]
		}
		out.addrs = append(out.addrs, e.addr)
		if !multi {
			break
		}
	}
	if len(out.addrs) > 0 {
		return out, c.fail(hostOK, success)
	}
	// Every line goes through the scratch buffer; what makes it grow here spares DNS a round later.
	for need := hostsBuffer(lines); c.buffer < need; {
		c.grow()
	}
	return out, c.fail(hostNotFound, notFound)
}

// hostsBuffer is the buffer that the longest line takes: the line, and a pointer for each alias behind it.
func hostsBuffer(lines []resolver.HostsLine) int {
	need := 0
	for _, line := range lines {
		need = max(need, hostsEntryBytes+line.Bytes+readlineSpare)
		if _, err := netip.ParseAddr(line.Address); err != nil {
			continue
		}
		list := (hostsEntryBytes + line.Stripped + pointerBytes) / pointerBytes * pointerBytes
		aliases := max(len(line.Names)-1, 0)
		need = max(need, list+(aliases+2)*pointerBytes)
	}
	return need
}

// multiOn reads /etc/host.conf (resolv/res_hconf.c). An unknown file is taken to say `multi on`.
func multiOn(text *string) bool {
	if text == nil {
		return true
	}
	on := false
	for line := range strings.SplitSeq(*text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.EqualFold(fields[0], "multi") {
			continue
		}
		switch value := strings.ToLower(fields[1]); {
		case strings.HasPrefix(value, "on"):
			on = true
		case strings.HasPrefix(value, "off"):
			on = false
		}
	}
	return on
}

// hostAlias follows __res_context_hostalias: the file that HOSTALIASES names, whose reading ends at a line without white space
// in it. Names are compared as domain names.
func (c *call) hostAlias(name string) (string, bool) {
	if _, set := c.r.sys.Env["HOSTALIASES"]; !set {
		return "", false
	}
	for line := range strings.SplitAfterSeq(c.r.sys.HostAliases, "\n") {
		line, _, _ = strings.Cut(line, "\x00")
		end := strings.IndexAny(line, cSpace)
		if end < 0 {
			return "", false
		}
		if !resolver.SameName(line[:end], name) {
			continue
		}
		rest := strings.TrimLeft(line[end:], cSpace)
		if rest == "" {
			return "", false
		}
		alias := rest
		if i := strings.IndexAny(rest, cSpace); i >= 0 {
			alias = rest[:i]
		}
		return alias[:min(len(alias), maxDName-1)], true
	}
	return "", false
}

// cSpace is what isspace(3) accepts in the C locale.
const cSpace = " \t\n\v\f\r"
