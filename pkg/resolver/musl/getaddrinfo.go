package musl

import (
	"net/netip"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxHostBytes is the longest host that is looked at (lookup_name.c, __lookup_name).
const maxHostBytes = 254

// getaddrinfo follows getaddrinfo. AI_IDN is no flag of musl.
func (c *call) getaddrinfo() (eai, error) {
	name, _, _ := strings.Cut(c.req.Host, "\x00")
	family := c.req.Family
	switch family {
	case resolver.Unspec, resolver.Inet, resolver.Inet6:
	default:
		return eaiFamily, nil
	}
	missing := false
	if c.req.AddrConfig {
		if family, missing = c.narrow(family); missing && !c.r.feat.noData {
			return eaiNoName, nil
		}
	}
	code, err := c.lookup(name, family)
	if err != nil || code != eaiOK {
		return code, err
	}
	if missing {
		return eaiNoData, nil
	}
	return eaiOK, nil
}

// narrow follows AI_ADDRCONFIG: what counts is whether the loopback address of a family can be reached, nothing else. missing
// tells that the family asked for cannot; the lookup then goes on with the other one. Unknown addresses narrow nothing.
func (c *call) narrow(family resolver.Family) (_ resolver.Family, missing bool) {
	if c.r.sys.Addresses == nil {
		return family, false
	}
	var has4, has6 bool
	for _, a := range c.r.sys.Addresses {
		has4 = has4 || a.Is4() && a.IsLoopback()
		has6 = has6 || a.WithZone("") == netip.IPv6Loopback()
	}
	if family != resolver.Inet6 && !has4 {
		missing = family == resolver.Inet
		family = resolver.Inet6
		c.Note("AI_ADDRCONFIG: 127.0.0.1 cannot be reached, so only AAAA is asked for")
	}
	if family != resolver.Inet && !has6 {
		missing = missing || family == resolver.Inet6
		family = resolver.Inet
		c.Note("AI_ADDRCONFIG: ::1 cannot be reached, so only A is asked for")
	}
	return family, missing
}

// lookup follows __lookup_name.
func (c *call) lookup(name string, family resolver.Family) (eai, error) {
	if name == "" || len(name) > maxHostBytes {
		return eaiNoName, nil
	}
	c.canon.put(0, name)
	// A call for IPv6 with AI_V4MAPPED is one for both, filtered afterwards.
	mapped := c.req.V4Mapped && family == resolver.Inet6
	if mapped {
		family = resolver.Unspec
	}
	code, err := c.backends(name, family)
	if err != nil || code != eaiOK {
		return code, err
	}
	if mapped {
		c.addresses = mapAddresses(c.addresses)
	}
	c.addresses = sortAddresses(c.addresses, family, &c.r.sys)
	return eaiOK, nil
}

// backends tries addresses, /etc/hosts and DNS, until there is a result. nsswitch.conf is not read.
func (c *call) backends(name string, family resolver.Family) (eai, error) {
	addr, code, ok := c.r.literal(name, family)
	if ok {
		c.answeredBy = resolver.ByLiteral
		c.addresses = []netip.Addr{addr}
		return code, nil
	}
	addrs, code := c.fromHosts(name, family)
	if addrs != nil || code != eaiOK {
		c.answeredBy = resolver.ByHosts
		c.addresses = addrs
		if code != eaiOK {
			c.Note("/etc/hosts has %.80q with an address of the other family only: musl then asks no server", name)
		}
		return code, nil
	}
	return c.search(name, family)
}

// mapAddresses leaves the IPv6 addresses, or maps the IPv4 ones where there are no others.
func mapAddresses(addrs []netip.Addr) []netip.Addr {
	var real, all []netip.Addr
	for _, a := range addrs {
		if a.Is6() {
			real = append(real, a)
		}
		all = append(all, netip.AddrFrom16(a.As16()))
	}
	if len(real) > 0 {
		return real
	}
	return all
}
