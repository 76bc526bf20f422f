package golang

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
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

// hostEntry is what the file says of a name (byName).
type hostEntry struct {
	addrs []netip.Addr
	// canonical is the first name of the first line that has the name.
	canonical string
}

// parseHosts returns the entries by name. Fields are those of getFields: unlike C, Go takes no vertical tab for white space.
func parseHosts(text string) map[string]hostEntry {
	if len(text) > maxHostsBytes {
		text = text[:maxHostsBytes]
	}
	table := map[string]hostEntry{}
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
			e, known := table[key]
			if !known {
				e.canonical = hostKey(fields[1])
			}
			e.addrs = append(e.addrs, addr.Unmap())
			table[key] = e
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
	if !strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// files follows goLookupIPFiles. A canonical name that does not fit a message's name is an error, although nobody asked for it.
func (c *call) files() bool {
	c.r.loadHosts(c.n.Now())
	found, ok := c.r.hosts[hostKey(c.req.Host)]
	if !ok {
		return false
	}
	c.failure, c.decided, c.answeredBy = nil, 0, resolver.ByHosts
	if len(found.canonical) > resolver.MaxNameBytes && c.r.feat.canonicalHosts {
		c.failure = &failure{outcome: probe.Fail, text: textCalcLen}
		return true
	}
	c.addresses = slices.Clone(found.addrs)
	c.sort()
	return true
}
