package musl

import (
	"net/netip"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxAddresses is MAXADDRS: the addresses of one lookup.
const maxAddresses = 48

// hostsLineBytes is the buffer for a line of /etc/hosts; longer lines come in pieces, each read as a line.
const hostsLineBytes = 512

// fromHosts follows name_from_hosts: lines that have the name between two white spaces, case and all. A name that is only there
// with an address of the other family ends the lookup.
func (c *call) fromHosts(name string, family resolver.Family) (addrs []netip.Addr, code eai) {
	haveName := false
	text := c.r.sys.Hosts
	if len(text) > resolver.MaxHostsBytes {
		text = text[:resolver.MaxHostsBytes]
	}
	for text != "" && len(addrs) < maxAddresses {
		var line string
		line, text = cutLine(text)
		if !matchesHosts(line, name) {
			continue
		}
		end := strings.IndexFunc(line, isSpace)
		addr, bad, ok := c.r.literal(line[:end], family)
		switch {
		case !ok:
			continue
		case bad != eaiOK:
			if code = c.r.noAddress(); !c.r.feat.firstHostsName {
				continue
			}
		default:
			addrs = append(addrs, addr)
		}
		if haveName && c.r.feat.firstHostsName {
			continue
		}
		if first := strings.FieldsFunc(line[end:], isSpace)[0]; isValidHostname(first) {
			haveName = true
			c.canon.put(0, first)
		}
	}
	if len(addrs) > 0 {
		return addrs, eaiOK
	}
	return nil, code
}

// cutLine cuts off what one fgets reads, and of that what C sees of it: up to a NUL, a comment replaced by a newline.
func cutLine(text string) (line, rest string) {
	n := strings.IndexByte(text, '\n') + 1
	if n == 0 {
		n = len(text)
	}
	n = min(n, hostsLineBytes-1)
	line, rest = text[:n], text[n:]
	line, _, _ = strings.Cut(line, "\x00")
	if body, _, found := strings.Cut(line, "#"); found {
		line = body + "\n"
	}
	return line, rest
}

// matchesHosts reports whether name stands behind the first byte of line, with white space on both sides. The last word of a
// file without a final newline has none behind it.
func matchesHosts(line, name string) bool {
	for at := 1; at < len(line); at++ {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if isSpace(rune(line[at-1])) && end < len(line) && isSpace(rune(line[end])) {
			return true
		}
	}
	return false
}

// isSpace is isspace(3) in the C locale.
func isSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// isValidHostname follows is_valid_hostname in the C locale, in which every byte is a character.
func isValidHostname(s string) bool {
	if s == "" || len(s) >= 255 {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 0x80, b == '.', b == '-', b >= '0' && b <= '9', b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z':
		default:
			return false
		}
	}
	return true
}
