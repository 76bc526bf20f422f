package musl

import (
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// policy is a row of the table of RFC 6724 section 2.1, as far as musl has it.
type policy struct {
	prefix            netip.Prefix
	precedence, label int
}

var policies = []policy{
	{netip.MustParsePrefix("::1/128"), 50, 0},
	{netip.MustParsePrefix("::ffff:0:0/96"), 35, 4},
	{netip.MustParsePrefix("2002::/16"), 30, 2},
	{netip.MustParsePrefix("2001::/32"), 5, 5},
	{netip.MustParsePrefix("fc00::/7"), 3, 13},
	{netip.MustParsePrefix("::/0"), 40, 1},
}

func policyOf(a netip.Addr) policy {
	for _, p := range policies {
		if resolver.CommonBits(a, p.prefix.Addr()) >= p.prefix.Bits() {
			return p
		}
	}
	return policies[len(policies)-1]
}

// scope follows scopeof; an IPv4 address is looked at as an IPv4-mapped one, whose scope is always global.
func scope(a netip.Addr) int {
	b := a.As16()
	switch {
	case b[0] == 0xff:
		return int(b[1] & 15)
	case b[0] == 0xfe && b[1]&0xc0 == 0x80, b == netip.IPv6Loopback().As16():
		return 2
	case b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return 5
	}
	return 14
}

// sortAddresses orders addresses as __lookup_name does, by one key each; without sys.SourceFor the order stays. Addresses of
// IPv4 alone keep their order.
func sortAddresses(addrs []netip.Addr, family resolver.Family, sys *resolver.System) []netip.Addr {
	if len(addrs) < 2 || family == resolver.Inet || sys.SourceFor == nil || !slices.ContainsFunc(addrs, netip.Addr.Is6) {
		return addrs
	}
	type entry struct {
		addr netip.Addr
		key  int
	}
	list := make([]entry, len(addrs))
	for i, a := range addrs {
		list[i] = entry{a, sortKey(a, sys.SourceFor(a.Unmap())) | (maxAddresses - i)}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return b.key - a.key })
	sorted := make([]netip.Addr, len(list))
	for i, e := range list {
		sorted[i] = e.addr
	}
	return sorted
}

// The bits of a key (lookup_name.c, DAS_*).
const (
	usable        = 0x40000000
	matchingScope = 0x20000000
	matchingLabel = 0x10000000
)

func sortKey(a, source netip.Addr) int {
	p := policyOf(a)
	s := scope(a)
	key := p.precedence<<20 | (15-s)<<16
	if !source.IsValid() {
		return key
	}
	key |= usable | resolver.CommonBits(source, a)<<8
	if scope(source) == s {
		key |= matchingScope
	}
	if policyOf(source).label == p.label {
		key |= matchingLabel
	}
	return key
}
