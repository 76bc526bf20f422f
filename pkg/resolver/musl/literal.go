package musl

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// literal follows __lookup_ipliteral: the address that a text is. ok is false when it is none; an error code can come with ok.
func (r *Resolver) literal(text string, family resolver.Family) (addr netip.Addr, code eai, ok bool) {
	if a, rest, is4 := resolvconf.InetAton(text); is4 && rest == "" {
		if family == resolver.Inet6 {
			return netip.Addr{}, r.noAddress(), true
		}
		return a, eaiOK, true
	}
	bare, zone, hasZone := strings.Cut(text, "%")
	a, err := netip.ParseAddr(bare)
	if err != nil || !a.Is6() {
		return netip.Addr{}, eaiOK, false
	}
	if family == resolver.Inet {
		return netip.Addr{}, r.noAddress(), true
	}
	if !hasZone {
		return a, eaiOK, true
	}
	return r.withZone(a, zone)
}

// noAddress is the error where there is an address, but of another family.
func (r *Resolver) noAddress() eai {
	if r.feat.noData {
		return eaiNoData
	}
	return eaiNoName
}

// withZone reads a zone: a number for any address, or the name of an interface for a link-local one.
func (r *Resolver) withZone(a netip.Addr, zone string) (netip.Addr, eai, bool) {
	if zone != "" && strings.Trim(zone, "0123456789") == "" {
		number, err := strconv.ParseUint(zone, 10, 32)
		switch {
		case err != nil:
			return netip.Addr{}, eaiNoName, true
		case number == 0:
			return a, eaiOK, true
		}
		return a.WithZone(zone), eaiOK, true
	}
	named := (a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast()) && isInterfaceName(zone)
	if !named || r.sys.Links != nil && !slices.Contains(r.sys.Links, zone) {
		return netip.Addr{}, eaiNoName, true
	}
	return a.WithZone(zone), eaiOK, true
}

// isInterfaceName reports whether a network interface could be called so (IFNAMSIZ is 16).
func isInterfaceName(s string) bool {
	return s != "" && len(s) < 16 && !strings.ContainsAny(s, "/% \t\n")
}
