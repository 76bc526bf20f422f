package conformance

import (
	"context"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/glibc"
)

// Reasons for leaving out a case with Node.
const (
	NodeConverts = "Node converts a name outside of ASCII, which our resolvers leave to whoever calls them"
	NodeErrno    = "glibc fails with an errno, which Node reports and our resolver does not know"
)

// nodeProcess is our resolver in the place of a program like testdata/lookup.js.
type nodeProcess struct{ *glibc.Resolver }

// nodeCodes are the numbers of libuv's uv/errno.h.
var nodeCodes = map[string]int{
	"": 0, "EINVAL": -22, "EAI_ADDRFAMILY": -3000, "EAI_AGAIN": -3001, "EAI_BADFLAGS": -3002, "EAI_FAIL": -3004, "EAI_FAMILY": -3005,
	"EAI_MEMORY": -3006, "EAI_NODATA": -3007, "EAI_NONAME": -3008, "EAI_OVERFLOW": -3009, "EAI_SERVICE": -3010, "EAI_SOCKTYPE": -3011,
}

// Resolve looks a host up as dns.lookup does: an address is returned as it is, whatever family is asked for, and a host is
// written in small letters. Zones of addresses are not printed.
func (p nodeProcess) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	if addr, ok := nodeAddress(req.Host); ok {
		return resolver.Result{Outcome: probe.OK, Addresses: []netip.Addr{addr}}, nil
	}
	switch {
	case req.Host == "":
		// Node warns that this is not a name, and returns an empty list.
		return resolver.Result{Outcome: probe.NoData}, nil
	case len(req.Host) > maxNodeHost:
		return resolver.Result{Outcome: probe.Fail, Code: "EINVAL"}, nil
	}
	req.Host = strings.ToLower(req.Host)
	res, err := p.Resolver.Resolve(ctx, n, req, emit)
	res.Addresses = slices.Clone(res.Addresses)
	for i, a := range res.Addresses {
		res.Addresses[i] = a.WithZone("")
	}
	return res, err
}

// maxNodeHost is what fits into the buffer of libuv's uv_getaddrinfo.
const maxNodeHost = 255

// nodeIPv4 is the expression by which Node knows addresses of IPv4 (lib/internal/net.js).
var nodeIPv4 = regexp.MustCompile(`^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.|$)){4}$`)

// nodeAddress reads a host that Node takes for an address.
func nodeAddress(host string) (addr netip.Addr, ok bool) {
	addr, err := netip.ParseAddr(host)
	return addr, err == nil && (addr.Is6() || nodeIPv4.MatchString(host))
}

// lookupByNode makes a case one that dns.lookup can be given: it knows of two hints, and its defaults are no flags.
func lookupByNode(c Case) Case {
	c.Calls = slices.Clone(c.Calls)
	for i, call := range c.Calls {
		c.Calls[i] = Call{Host: call.Host, Family: call.Family, AddrConfig: call.AddrConfig, V4Mapped: call.V4Mapped}
	}
	return c
}

// isASCII reports whether all hosts are.
func (c *Case) isASCII() bool {
	return !slices.ContainsFunc(c.Calls, func(call Call) bool {
		return strings.ContainsFunc(call.Host, func(r rune) bool { return r >= 0x80 })
	})
}
