package glibc

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// destination is an address with what its place in the order depends on (struct sort_result).
type destination struct {
	addr, source netip.Addr
	hasSource    bool
	// prefix is the length of the source's network, 0 when unknown.
	prefix int
	order  int
}

// sortAddresses orders addresses as RFC 3484 section 6 wants it, with the tables of gai.conf; without sys.SourceFor the order
// stays. Rules 3, 4 and 7 need flags of interfaces that are not known here; pods have none that differ.
func sortAddresses(addrs []netip.Addr, sys *resolver.System) []netip.Addr {
	if len(addrs) < 2 || sys.SourceFor == nil {
		return addrs
	}
	tables := parseGaiConf(sys.GaiConf)
	has6 := false
	for _, a := range sys.Addresses {
		has6 = has6 || a.Is6() && a.WithZone("") != netip.IPv6Loopback()
	}
	list := make([]destination, len(addrs))
	for i, a := range addrs {
		d := destination{addr: a, order: i}
		if src := sys.SourceFor(a); src.IsValid() {
			d.source, d.hasSource = src, true
			if has6 {
				// __check_pf hands out prefix lengths only where there is an IPv6 address.
				d.prefix = prefixOf(src, sys.Prefixes)
			}
		}
		list[i] = d
	}
	list = mergeSort(list, func(a, b *destination) bool { return tables.before(a, b) })
	sorted := make([]netip.Addr, len(list))
	for i, d := range list {
		sorted[i] = d.addr
	}
	return sorted
}

func prefixOf(src netip.Addr, prefixes []netip.Prefix) int {
	if src.Is4() && src.IsLoopback() {
		src = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	for _, p := range prefixes {
		if p.Addr() == src.WithZone("") {
			return p.Bits()
		}
	}
	return 0
}

// mergeSort is glibc's qsort (stdlib/msort.c): the order of RFC 3484 is not transitive, so the algorithm matters.
func mergeSort(list []destination, before func(a, b *destination) bool) []destination {
	if len(list) < 2 {
		return list
	}
	half := len(list) / 2
	a, b := mergeSort(list[:half], before), mergeSort(list[half:], before)
	out := make([]destination, 0, len(list))
	for len(a) > 0 && len(b) > 0 {
		if before(&a[0], &b[0]) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// before follows rfc3484_sort.
func (t *gaiTables) before(a, b *destination) bool {
	if a.hasSource != b.hasSource {
		return a.hasSource
	}
	scopeA, scopeB := t.scope(a.addr), t.scope(b.addr)
	if a.hasSource {
		if x, y := scopeA == t.scope(a.source), scopeB == t.scope(b.source); x != y {
			return x
		}
		labelA, labelB := lookUp(t.labels, a.addr), lookUp(t.labels, b.addr)
		if x, y := labelA == lookUp(t.labels, a.source), labelB == lookUp(t.labels, b.source); x != y {
			return x
		}
	}
	if x, y := lookUp(t.precedence, a.addr), lookUp(t.precedence, b.addr); x != y {
		return x > y
	}
	if scopeA != scopeB {
		return scopeA < scopeB
	}
	if a.hasSource && a.addr.Is4() == b.addr.Is4() {
		if x, y := commonBits(a, b); x != y {
			return x > y
		}
	}
	return a.order < b.order
}

// commonBits is rule 9. IPv4 addresses have a common prefix only inside of one network; IPv6 addresses are compared in the
// first 32-bit word in which either differs from its source.
func commonBits(a, b *destination) (x, y int) {
	if a.addr.Is4() {
		return common4(a), common4(b)
	}
	for i := 0; i < 16; i += 4 {
		dx, dy := xor32(a, i), xor32(b, i)
		if dx != 0 || dy != 0 {
			return bits.LeadingZeros32(dx), bits.LeadingZeros32(dy)
		}
	}
	return 0, 0
}

func xor32(d *destination, i int) uint32 {
	dst, src := d.addr.As16(), d.source.As16()
	return binary.BigEndian.Uint32(dst[i:]) ^ binary.BigEndian.Uint32(src[i:])
}

func common4(d *destination) int {
	diff := xor32(d, 12)
	// A shift by 32 for an unknown prefix is a shift by 0 on the machines that glibc runs on.
	mask := uint32(0xffffffff) << ((32 - d.prefix) & 31)
	if diff&mask != 0 {
		return 0
	}
	return bits.LeadingZeros32(diff)
}

// scope follows get_scope.
func (t *gaiTables) scope(a netip.Addr) int {
	if a.Is4() {
		v := a.As4()
		word := binary.BigEndian.Uint32(v[:])
		for _, s := range t.scopes {
			if word&s.mask == s.addr {
				return s.scope
			}
		}
		return defaultScope
	}
	// By bytes, as the macros of C: netip looks through IPv4-mapped addresses.
	b := a.As16()
	switch {
	case b[0] == 0xff:
		return int(b[1] & 0xf)
	case b[0] == 0xfe && b[1]&0xc0 == 0x80 || a.WithZone("") == netip.IPv6Loopback():
		return linkScope
	case b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return siteScope
	}
	return defaultScope
}

// Scopes of RFC 4007.
const (
	linkScope    = 2
	siteScope    = 5
	defaultScope = 14
)

// lookUp follows match_prefix: the value of the first entry whose prefix an address has.
func lookUp(table []prefixEntry, a netip.Addr) int {
	v6 := netip.AddrFrom16(a.As16())
	for _, e := range table {
		if e.prefix.Contains(v6) {
			return e.value
		}
	}
	return 0
}
