package resolver

import (
	"math/bits"
	"net/netip"
)

// CommonBits is how many bits two addresses begin with alike, 128 for the same: CommonPrefixLen of RFC 6724 section 2.2, which libcs
// bound in their own ways. An IPv4 address counts as an IPv4-mapped one, a zone does not count.
func CommonBits(a, b netip.Addr) int {
	x, y := a.As16(), b.As16()
	for i := range x {
		if diff := x[i] ^ y[i]; diff != 0 {
			return 8*i + bits.LeadingZeros8(diff)
		}
	}
	return 8 * len(x)
}
