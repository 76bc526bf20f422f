package golang

import (
	"net/netip"
	"strings"
	"time"
)

// loadHosts follows readHosts of hosts.go. An empty table is never taken to be up to date.
func (r *Resolver) loadHosts(now time.Time) {
	if len(r.hosts) == 0 {
		r.hostFile.checked = time.Time{}
	}
	if r.hostFile.stale(r.sys.Hosts, now) {
		r.hosts = parseHosts(r.sys.Hosts)
	}
}

// maxHostsBytes bounds how much of a hosts file is read.
const maxHostsBytes = 4 << 20

// parseHosts returns the addresses by name. Fields are those of getFields: unlike C, Go takes no vertical tab for white space.
func parseHosts(text string) map[string][]netip.Addr {
	if len(text) > maxHostsBytes {
		text = text[:maxHostsBytes]
	}
	table := map[string][]netip.Addr{}
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\r' || r == '\t' })
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, name := range fields[1:] {
			key := hostKey(name)
			table[key] = append(table[key], addr.Unmap())
		}
	}
	return table
}

// hostKey follows lowerASCIIBytes and absDomainName: a name with a dot gets a final one.
func hostKey(name string) string {
	if name = lowerASCII(name); strings.Contains(name, ".") && !strings.HasSuffix(name, ".") {
		name += "."
	}
	return name
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// files follows goLookupIPFiles.
func (c *call) files() bool {
	c.r.loadHosts(c.n.Now())
	found := c.r.hosts[hostKey(c.req.Host)]
	if len(found) == 0 {
		return false
	}
	c.addresses = append([]netip.Addr(nil), found...)
	c.sort()
	c.answeredBy = byHosts
	return true
}
