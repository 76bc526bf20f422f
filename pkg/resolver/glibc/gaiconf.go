package glibc

import (
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// prefixEntry is a line of the label or precedence table.
type prefixEntry struct {
	prefix netip.Prefix
	value  int
}

// scopeEntry is a line of the IPv4 scope table.
type scopeEntry struct {
	addr, mask uint32
	scope      int
}

// gaiTables are the tables of gai.conf(5).
type gaiTables struct {
	labels, precedence []prefixEntry
	scopes             []scopeEntry
}

func entry(prefix string, value int) prefixEntry {
	return prefixEntry{netip.MustParsePrefix(prefix), value}
}

// The built-in tables (default_labels, default_precedence, default_scopes in getaddrinfo.c).
var (
	defaultLabels = []prefixEntry{
		entry("::1/128", 0), entry("2002::/16", 2), entry("::/96", 3), entry("::ffff:0:0/96", 4),
		entry("fec0::/10", 5), entry("fc00::/7", 6), entry("2001::/32", 7), entry("::/0", 1),
	}
	defaultPrecedence = []prefixEntry{
		entry("::1/128", 50), entry("2002::/16", 30), entry("::/96", 20), entry("::ffff:0:0/96", 10), entry("::/0", 40),
	}
	defaultScopes = []scopeEntry{
		{0xa9fe0000, 0xffff0000, linkScope}, {0x7f000000, 0xff000000, linkScope}, {0, 0, defaultScope},
	}
)

// maxGaiLines bounds what is read of a gai.conf.
const maxGaiLines = 1 << 12

// parseGaiConf follows gaiconf_init: a table that the file mentions replaces the built-in one, the longest prefixes come
// first, and what is missing at the end of it is filled in.
func parseGaiConf(text string) *gaiTables {
	t := &gaiTables{}
	for n, line := range strings.Split(text, "\n") {
		if n >= maxGaiLines {
			break
		}
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		switch f[0] {
		case "label":
			t.labels = appendPrefix(t.labels, f[1], f[2])
		case "precedence":
			t.precedence = appendPrefix(t.precedence, f[1], f[2])
		case "scopev4":
			t.scopes = appendScope(t.scopes, f[1], f[2])
		}
	}
	t.labels = complete(t.labels, defaultLabels, 1)
	t.precedence = complete(t.precedence, defaultPrecedence, 40)
	if t.scopes == nil {
		t.scopes = defaultScopes
		return t
	}
	slices.SortStableFunc(t.scopes, func(a, b scopeEntry) int {
		switch {
		case a.mask > b.mask:
			return -1
		case a.mask < b.mask:
			return 1
		}
		return 0
	})
	if t.scopes[len(t.scopes)-1].mask != 0 {
		t.scopes = append(t.scopes, scopeEntry{0, 0, defaultScope})
	}
	return t
}

// cutBits reads `address` or `address/bits` with at most most bits.
func cutBits(text string, most int) (netip.Addr, int, bool) {
	host, length, hasLength := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return addr, 0, false
	}
	if !hasLength {
		return addr, most, true
	}
	n, err := strconv.Atoi(length)
	return addr, n, err == nil && n >= 0 && n <= most
}

func tableValue(text string) (int, bool) {
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 0 && v <= math.MaxInt32
}

func appendPrefix(table []prefixEntry, prefix, value string) []prefixEntry {
	addr, length, ok := cutBits(prefix, 128)
	v, okValue := tableValue(value)
	if !ok || !okValue || !addr.Is6() {
		return table
	}
	// netip.Prefix never contains an IPv4-mapped address in an IPv6 prefix unless it is written so; As16 keeps the form.
	return append(table, prefixEntry{netip.PrefixFrom(netip.AddrFrom16(addr.As16()), length), v})
}

func appendScope(table []scopeEntry, prefix, value string) []scopeEntry {
	addr, length, ok := cutBits(prefix, 128)
	v, okValue := tableValue(value)
	if !ok || !okValue {
		return table
	}
	if addr.Is4() {
		if length == 128 {
			length = 32
		}
	} else if addr.Is4In6() && length >= 96 {
		addr, length = addr.Unmap(), length-96
	} else {
		return table
	}
	if length > 32 {
		return table
	}
	mask := uint32(uint64(0xffffffff) << (32 - length))
	b := addr.As4()
	return append(table, scopeEntry{binary.BigEndian.Uint32(b[:]) & mask, mask, v})
}

func complete(table, builtIn []prefixEntry, fallback int) []prefixEntry {
	if table == nil {
		return builtIn
	}
	slices.SortStableFunc(table, func(a, b prefixEntry) int { return b.prefix.Bits() - a.prefix.Bits() })
	if table[len(table)-1].prefix.Bits() != 0 {
		table = append(table, entry("::/0", fallback))
	}
	return table
}
