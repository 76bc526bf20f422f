package glibc

import (
	"net/netip"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// getaddrinfo follows getaddrinfo and gaih_inet.
func (c *call) getaddrinfo() error {
	name, _, _ := strings.Cut(c.req.Host, "\x00")
	code, err := c.lookup(name)
	if err != nil {
		return err
	}
	if c.code = code; code != eaiOK {
		c.addresses = nil
		return nil
	}
	if c.req.Family == resolver.Inet6 && c.req.V4Mapped {
		if c.dropMapped(); len(c.addresses) == 0 {
			c.code = eaiNoName
			return nil
		}
	}
	if c.req.CanonName && c.canonical == "" {
		c.canonical = name
	}
	c.addresses = sortAddresses(c.addresses, &c.r.sys)
	return nil
}

func (c *call) lookup(name string) (eai, error) {
	switch c.req.Family {
	case resolver.Unspec, resolver.Inet, resolver.Inet6:
	default:
		return eaiFamily, nil
	}
	if name == "*" {
		// It stands for no name at all.
		return eaiNoName, nil
	}
	if c.req.AddrConfig && !c.narrow() {
		return eaiNoName, nil
	}
	if c.req.IDN && strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		return eaiIDN, nil
	}
	if addr, code, ok := literal(name, c.req, c.r.feat.exactIPv4, c.r.sys.Links); ok {
		c.addresses, c.answeredBy = []netip.Addr{addr}, resolver.ByLiteral
		return code, nil
	}
	if c.r.load(); c.r.feat.reload && resolvconf.GlibcAborts(c.r.conf.Search) {
		return "", errAborts
	}
	if c.req.Family == resolver.Inet && !c.req.CanonName {
		return c.simple(name)
	}
	return c.services(name)
}

// narrow follows AI_ADDRCONFIG and __check_pf: only 127.0.0.1 and ::1 do not count as addresses. It returns false when there
// is no address of the family asked for. Unknown addresses narrow nothing.
func (c *call) narrow() bool {
	if c.r.sys.Addresses == nil {
		return true
	}
	var has4, has6 bool
	for _, a := range c.r.sys.Addresses {
		switch a = a.WithZone(""); {
		case a.Is4():
			has4 = has4 || a != netip.AddrFrom4([4]byte{127, 0, 0, 1})
		case a != netip.IPv6Loopback():
			has6 = true
		}
	}
	switch {
	case c.req.Family == resolver.Inet:
		return has4
	case c.req.Family == resolver.Inet6:
		return has6
	case has4 && !has6:
		c.req.Family = resolver.Inet
		c.Note("AI_ADDRCONFIG: the pod has no IPv6 address, so only A is asked for")
	case has6 && !has4:
		c.req.Family = resolver.Inet6
		c.Note("AI_ADDRCONFIG: the pod has no IPv4 address, so only AAAA is asked for")
	}
	return true
}

// dropMapped follows generate_addrinfo: mapped addresses go when there is a real IPv6 one.
func (c *call) dropMapped() {
	if !c.gotIPv6 || c.req.All {
		return
	}
	var kept []netip.Addr
	for _, a := range c.addresses {
		if !a.Is4In6() {
			kept = append(kept, a)
		}
	}
	c.addresses = kept
}

// dns follows the dns module: _nss_dns_gethostbyname4_r with both types, _nss_dns_gethostbyname3_r with one.
func (c *call) dns(name string, types []probe.QueryType, checked bool) (addressList, status, error) {
	if checked && c.r.feat.nameCheck && !isHostName(name) {
		return addressList{}, c.fail(hostNotFound, notFound), nil
	}
	if !strings.Contains(name, ".") {
		if alias, ok := c.hostAlias(name); ok {
			c.Note("HOSTALIASES turns %.80q into %.80q", name, alias)
			name = alias
		}
	}
	pair := len(types) == 2
	if c.packetBuffer = 1024; pair {
		c.packetBuffer = 2048
	}
	if pair && c.r.conf.NoAAAA {
		types = types[:1]
	}
	before := c.errno
	f, err := c.search(name, types)
	if err != nil {
		return addressList{}, notFound, err
	}
	if !f.ok {
		return addressList{}, c.notAnswered(before), nil
	}
	c.decided = f.attempt
	buf := scratch{size: c.buffer}
	var out addressList
	var st status
	switch {
	case pair:
		out, st = c.pairAnswer(&f, &buf)
	case c.r.feat.chainParser:
		out, st = c.hostAnswer(f.first, familyOf(types[0]), &buf)
	default:
		out, st = c.oldHostAnswer(f.first, familyOf(types[0]), &buf)
	}
	if buf.failed {
		c.errno = errnoRange
		st = c.fail(hostInternal, tryAgain)
	}
	return out, st, nil
}

func familyOf(t probe.QueryType) family {
	if t == probe.TypeAAAA {
		return inet6
	}
	return inet
}

// notAnswered is the module's status after a search without an answer. h_errno tells more than it; the status decides which
// action of nsswitch.conf applies.
func (c *call) notAnswered(before errno) status {
	st := notFound
	if c.errno == errnoRefused || c.errno == errnoTimedOut {
		st = unavail
	}
	if c.errno = before; c.herr == hostTryAgain {
		c.errno = errnoOther
	}
	return st
}

// isHostName follows __libc_res_hnok.
func isHostName(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	labels, err := resolver.Labels(name)
	return err == nil && resolver.IsHostName(labels)
}
