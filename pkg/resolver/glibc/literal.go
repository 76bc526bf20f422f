package glibc

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// literal follows text_to_binary_address: a host that is an address needs no lookup. ok is false when it is none; an error
// code can come with ok. links are the names of the interfaces, nil when unknown.
func literal(host string, req resolver.Request, exactIPv4 bool, links []string) (addr netip.Addr, code eai, ok bool) {
	if a, rest, is4 := resolvconf.InetAton(host); is4 && (rest == "" || !exactIPv4) {
		switch {
		case req.Family != resolver.Inet6:
			return a, eaiOK, true
		case req.V4Mapped:
			return mapped(a), eaiOK, true
		}
		return netip.Addr{}, eaiAddrFamily, true
	}
	text, zone, hasZone := strings.Cut(host, "%")
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is6() {
		return netip.Addr{}, eaiOK, false
	}
	if req.Family == resolver.Inet {
		if !a.Is4In6() {
			return netip.Addr{}, eaiAddrFamily, true
		}
		a = a.Unmap()
	}
	if !hasZone {
		return a, eaiOK, true
	}
	named := !a.Is4In6() && (a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsInterfaceLocalMulticast())
	switch {
	case named && isInterfaceName(zone) && (links == nil || slices.Contains(links, zone)):
		return a.WithZone(zone), eaiOK, true
	case isZoneNumber(zone):
		return a.WithZone(zone), eaiOK, true
	}
	return netip.Addr{}, eaiNoName, true
}

// isInterfaceName reports whether a network interface could be called so (IFNAMSIZ is 16).
func isInterfaceName(s string) bool {
	return s != "" && len(s) < 16 && !strings.ContainsAny(s, "/% \t\n")
}

// isZoneNumber follows __inet6_scopeid_pton.
func isZoneNumber(s string) bool {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// isDigitsAndDots follows __nss_hostname_digits_dots for names that are no addresses: gethostbyname2 refuses names that look
// like one, digits and dots without a final dot, or hexadecimal digits and colons.
func isDigitsAndDots(name string, f family) bool {
	if name == "" {
		return false
	}
	if onlyBytes(name, "0123456789.") && name[0] != '.' && !strings.HasSuffix(name, ".") {
		return true
	}
	const hex = "0123456789abcdefABCDEF"
	if strings.IndexByte(hex, name[0]) >= 0 && strings.Contains(name, ":") || name[0] == ':' {
		return f == inet || onlyBytes(name, hex+":.") && !strings.HasSuffix(name, ".")
	}
	return false
}

func onlyBytes(s, set string) bool {
	return strings.Trim(s, set) == ""
}
