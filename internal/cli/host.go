package cli

import (
	"net/netip"
	"net/url"
	"strings"
)

// The bounds of a name in presentation format (RFC 1035 section 2.3.4; 253 leaves room for the length bytes and the root).
const (
	maxName  = 253
	maxLabel = 63
)

// checkHost refuses what no application would give to getaddrinfo as a host, with what was probably meant. Addresses are
// hosts: an application may have one in its configuration, and the walk then shows that nothing is asked.
func checkHost(host string) error {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && !strings.ContainsAny(host, "[]") {
		return nil
	}
	if meant := hostInside(host); meant != "" {
		return usageError("did you mean: "+meant, "%q is not a host name", host)
	}
	name := strings.TrimSuffix(host, ".")
	const give = "give a name as the application has it, such as api.example.com"
	switch {
	case name == "":
		return usageError(give, "%q is not a host name: it is empty", host)
	case len(name) > maxName:
		return usageError(give, "%.40q... is not a host name: it has %d characters, %d are allowed", host, len(name), maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return usageError(give, "%q is not a host name: there is nothing between two dots", host)
		case len(label) > maxLabel:
			return usageError(give, "%q is not a host name: the part %.20q... has %d characters, %d are allowed", host, label, len(label), maxLabel)
		}
		for _, r := range label {
			if r > 127 {
				return usageError("give its ASCII form (xn--...), which is what applications ask for",
					"%q is not a host name: the character %q is not ASCII", host, r)
			}
			if !isHostChar(r) {
				return usageError(give, "%q is not a host name: it has the character %q", host, r)
			}
		}
	}
	return nil
}

// hostInside returns the host in a URL, a host with a port, or an address in brackets; empty when host is none of these.
func hostInside(host string) string {
	if strings.Contains(host, "://") {
		if u, err := url.Parse(host); err == nil {
			return u.Hostname()
		}
		return ""
	}
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.Addr().String()
	}
	if inner := strings.Trim(host, "[]"); inner != host {
		if a, err := netip.ParseAddr(inner); err == nil {
			return a.String()
		}
	}
	if name, port, found := strings.Cut(host, ":"); found && name != "" && isDigits(port) {
		return name
	}
	return ""
}

// isHostChar allows the underscore besides letters, digits and the hyphen: Kubernetes and SRV names have it, and libcs send it.
func isHostChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

func isDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
