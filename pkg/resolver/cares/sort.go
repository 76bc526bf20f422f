package cares

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// destination is an address with its source.
type destination struct {
	addr, source netip.Addr
}

// sortAddresses orders addresses as RFC 6724 section 6 wants it; without sys.SourceFor the order stays.
//
// Source: c-ares src/lib/ares_sortaddrinfo.c, rfc6724_compare, the same in 1.18 and 1.34.
func sortAddresses(addrs []netip.Addr, sys *resolver.System) []netip.Addr {
	if len(addrs) < 2 || sys.SourceFor == nil {
		return addrs
	}
	list := make([]destination, len(addrs))
	for i, a := range addrs {
		list[i] = destination{a, sys.SourceFor(a)}
	}
	slices.SortStableFunc(list, compare)
	sorted := make([]netip.Addr, len(list))
	for i, d := range list {
		sorted[i] = d.addr
	}
	return sorted
}

func compare(a, b destination) int {
	if x, y := a.source.IsValid(), b.source.IsValid(); x != y {
		return preferTrue(x)
	}
	scopeA, scopeB := scope(a.addr), scope(b.addr)
	if x, y := scopeA == sourceScope(a), scopeB == sourceScope(b); x != y {
		return preferTrue(x)
	}
	if x, y := label(a.addr) == sourceLabel(a), label(b.addr) == sourceLabel(b); x != y {
		return preferTrue(x)
	}
	if order := cmp.Or(cmp.Compare(precedence(b.addr), precedence(a.addr)), cmp.Compare(scopeA, scopeB)); order != 0 {
		return order
	}
	if a.source.Is6() && b.source.Is6() && a.addr.Is6() && b.addr.Is6() {
		return cmp.Compare(resolver.CommonBits(b.addr, b.source), resolver.CommonBits(a.addr, a.source))
	}
	return 0
}

func preferTrue(first bool) int {
	if first {
		return -1
	}
	return 1
}

// Scopes of RFC 4007.
const (
	nodeScope   = 1
	linkScope   = 2
	siteScope   = 5
	globalScope = 14
)

func scope(a netip.Addr) int {
	switch {
	case a.Is4() && (a.IsLoopback() || a.IsLinkLocalUnicast()):
		return linkScope
	case a.Is4():
		return globalScope
	case a.IsMulticast():
		return int(a.As16()[1] & 0xf)
	case a.WithZone("") == netip.IPv6Loopback() || a.IsLinkLocalUnicast():
		return linkScope
	case siteLocal.Contains(a):
		return siteScope
	}
	return globalScope
}

func sourceScope(d destination) int {
	if !d.source.IsValid() {
		return nodeScope
	}
	return scope(d.source)
}

func sourceLabel(d destination) int {
	if !d.source.IsValid() {
		return 1
	}
	return label(d.source)
}

var siteLocal = netip.MustParsePrefix("fec0::/10")

// policy is the table of RFC 6724 section 2.1, as c-ares has it.
var policy = []struct {
	prefix            netip.Prefix
	label, precedence int
}{
	{netip.MustParsePrefix("::1/128"), 0, 50},
	// IN6_IS_ADDR_V4COMPAT leaves it out.
	{netip.MustParsePrefix("::/128"), 1, 40},
	{netip.MustParsePrefix("::ffff:0:0/96"), 4, 35},
	{netip.MustParsePrefix("2002::/16"), 2, 30},
	{netip.MustParsePrefix("2001::/32"), 5, 5},
	{netip.MustParsePrefix("fc00::/7"), 13, 3},
	{netip.MustParsePrefix("::/96"), 3, 1},
	{siteLocal, 11, 1},
	{netip.MustParsePrefix("3ffe::/16"), 12, 1},
	{netip.MustParsePrefix("::/0"), 1, 40},
}

func label(a netip.Addr) int      { l, _ := lookUp(a); return l }
func precedence(a netip.Addr) int { _, p := lookUp(a); return p }

func lookUp(a netip.Addr) (label, precedence int) {
	v6 := netip.AddrFrom16(a.As16())
	for _, p := range policy {
		if p.prefix.Contains(v6) {
			return p.label, p.precedence
		}
	}
	return 1, 1
}
