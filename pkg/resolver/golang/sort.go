package golang

import (
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// destination is an address with what its place in the order depends on (byRFC6724Info).
type destination struct {
	addr, source       netip.Addr
	policy, sourceWith policy
	scope, sourceScope int
}

// policy is an entry of the table of RFC 6724 section 2.1.
type policy struct {
	prefix            netip.Prefix
	precedence, label int
}

var policies = []policy{
	{netip.MustParsePrefix("::1/128"), 50, 0},
	{netip.MustParsePrefix("::ffff:0:0/96"), 35, 4},
	{netip.MustParsePrefix("::/96"), 1, 3},
	{netip.MustParsePrefix("2001::/32"), 5, 5},
	{netip.MustParsePrefix("2002::/16"), 30, 2},
	{netip.MustParsePrefix("3ffe::/16"), 1, 12},
	{netip.MustParsePrefix("fec0::/10"), 1, 11},
	{netip.MustParsePrefix("fc00::/7"), 3, 13},
	{netip.MustParsePrefix("::/0"), 40, 1},
}

// policyOf returns the first entry that an address is in. A prefix of netip never contains an IPv4-mapped address, hence the
// entry for IPv4 by hand.
func policyOf(a netip.Addr) policy {
	if a = a.WithZone(""); a.Is4() {
		return policies[1]
	}
	for _, p := range policies {
		if p.prefix.Contains(a) {
			return p
		}
	}
	return policy{}
}

// Scopes of RFC 6724 section 3.1.
const (
	scopeLink   = 0x2
	scopeSite   = 0x5
	scopeGlobal = 0xe
)

// scopeOf follows classifyScope. Its test for site-local addresses takes in fec0::/10, as it should.
func scopeOf(a netip.Addr) int {
	if a.IsLoopback() || a.IsLinkLocalUnicast() {
		return scopeLink
	}
	if b := a.As16(); a.Is6() && a.IsMulticast() {
		return int(b[1] & 0xf)
	} else if a.Is6() && b[0] == 0xfe && b[1]&0xc0 == 0xc0 {
		return scopeSite
	}
	return scopeGlobal
}

// sort follows sortByRFC6724; without System.SourceFor the order stays.
func (c *call) sort() {
	if len(c.addresses) < 2 || c.r.sys.SourceFor == nil {
		return
	}
	list := make([]destination, len(c.addresses))
	for i, a := range c.addresses {
		d := destination{addr: a, policy: policyOf(a), scope: scopeOf(a)}
		if d.source = c.r.sys.SourceFor(a); d.source.IsValid() {
			d.source = d.source.Unmap()
			d.sourceWith, d.sourceScope = policyOf(d.source), scopeOf(d.source)
		}
		list[i] = d
	}
	slices.SortStableFunc(list, compareDestinations)
	for i, d := range list {
		c.addresses[i] = d.addr
	}
}

// compareDestinations follows compareByRFC6724: rules 1, 2, 5, 6, 8, and 9 for IPv6. Negative means that a comes first.
func compareDestinations(a, b destination) int {
	switch x, y := a.source.IsValid(), b.source.IsValid(); {
	case !x && !y:
		return 0
	case x != y:
		return prefer(x)
	}
	if x, y := a.scope == a.sourceScope, b.scope == b.sourceScope; x != y {
		return prefer(x)
	}
	if x, y := a.policy.label == a.sourceWith.label, b.policy.label == b.sourceWith.label; x != y {
		return prefer(x)
	}
	if a.policy.precedence != b.policy.precedence {
		return prefer(a.policy.precedence > b.policy.precedence)
	}
	if a.scope != b.scope {
		return prefer(a.scope < b.scope)
	}
	if a.addr.Is6() && b.addr.Is6() {
		if x, y := commonBits(a), commonBits(b); x != y {
			return prefer(x > y)
		}
	}
	return 0
}

func prefer(a bool) int {
	if a {
		return -1
	}
	return 1
}

// commonBits is the length of the common prefix in the first 64 bits; 0 for a source of the other family.
func commonBits(d destination) int {
	if !d.source.Is6() {
		return 0
	}
	return min(resolver.CommonBits(d.addr, d.source), 64)
}
