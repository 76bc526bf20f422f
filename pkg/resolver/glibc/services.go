package glibc

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// lack is no_data in getaddrinfo.c.
type lack int

const (
	lacksNothing lack = iota
	lacksData
	lacksAnswer
)

func (c *call) lack() lack {
	switch c.herr {
	case hostTryAgain:
		return lacksAnswer
	case hostNoData:
		return lacksData
	default:
		return lacksNothing
	}
}

var pairTypes = []probe.QueryType{probe.TypeA, probe.TypeAAAA}

// installed are services that come with the line in nsswitch.conf that names them, and what they say of a name that they do
// not know: not found, or unavailable where a daemon does their work, which no container runs. Their own few names (the host
// name, *.local) are not followed. Every other library is taken as missing.
var installed = map[string]status{
	"myhostname": notFound, "mymachines": notFound, "altfiles": notFound, "db": notFound, "libvirt": notFound, "libvirt_guest": notFound,
	"resolve": unavail, "mdns": unavail, "mdns4": unavail, "mdns6": unavail, "mdns_minimal": unavail, "mdns4_minimal": unavail,
	"mdns6_minimal": unavail, "sss": unavail, "ldap": unavail, "nis": unavail, "nisplus": unavail, "wins": unavail,
}

// passOver is a service that is not followed: its status, and whether it was there at all. A library that cannot be loaded is
// an internal error, unless a later service knows better.
func (c *call) passOver(m module) (st status, loaded bool) {
	switch st, known := installed[m.name]; {
	case m.missing:
	case known && st == notFound:
		c.Note("nsswitch.conf: the service %.40q is not followed here, it is taken to find nothing", m.name)
		return c.fail(hostNotFound, notFound), true
	case known:
		c.Note("nsswitch.conf: the service %.40q is not followed here, it is taken as not available", m.name)
		return c.fail(hostNoRecovery, unavail), true
	default:
		c.Note("nsswitch.conf: the service %.40q is not followed here, it is taken as not installed", m.name)
	}
	return c.fail(hostInternal, unavail), false
}

// outOfRoom reports whether a module wants a larger buffer.
func (c *call) outOfRoom(st status) bool {
	return st == tryAgain && c.errno == errnoRange && c.herr == hostInternal
}

// services follows get_nss_addresses.
func (c *call) services(name string) (eai, error) {
	list, ok := modules(c.r.sys.NSSwitch, c.r.feat)
	st := unavail
	var noData, noData6 lack
	// glibc never clears h_errno: what an earlier call left decides when nothing is asked.
	if c.herr = c.r.herr; ok && len(list) == 0 {
		// An empty line is a list without a module in it, and glibc calls that one.
		c.herr = hostInternal
	}
	for i := 0; ok && i < len(list); i++ {
		m := list[i]
		c.addresses, c.canonical, c.answeredBy, c.gotIPv6 = nil, "", "", false
		switch {
		case m.name != "files" && m.name != "dns":
			var loaded bool
			if st, loaded = c.passOver(m); loaded {
				noData6 = lacksNothing
			}
			noData = lacksNothing
		case c.req.Family == resolver.Unspec:
			var err error
			if st, noData, err = c.both(m, name); err != nil {
				return "", err
			}
			noData6 = noData
		default:
			var code eai
			var err error
			if st, noData, noData6, code, err = c.single(m, name, noData6); err != nil || code != eaiOK {
				return code, err
			}
		}
		if m.on[st] == stop {
			break
		}
		if m.on[st] == merge && i+1 < len(list) {
			// The hosts database cannot merge: what was found is dropped, and the lookup ends.
			c.addresses, c.herr = nil, hostInternal
			break
		}
	}
	return c.servicesEnd(st, noData, noData6), nil
}

func (c *call) servicesEnd(st status, noData, noData6 lack) eai {
	switch {
	case (st == tryAgain || st == unavail) && c.herr == hostInternal:
		return eaiSystem
	case noData == lacksAnswer && noData6 == lacksAnswer:
		return eaiAgain
	case noData != lacksNothing && noData6 != lacksNothing:
		return eaiNoData
	case len(c.addresses) == 0:
		return eaiNoName
	}
	return eaiOK
}

// take keeps a module's addresses.
func (c *call) takeAddresses(m module, out addressList) {
	c.addresses, c.canonical = append(c.addresses, out.addrs...), out.canon
	c.answeredBy = ""
	if m.name == "files" {
		c.answeredBy, c.decided = resolver.ByHosts, 0
	}
}

// both asks a module for both families at once (gethostbyname4_r), as often as its answer does not fit the buffer.
func (c *call) both(m module, name string) (status, lack, error) {
	for {
		before := c.Attempts()
		var out addressList
		var st status
		var err error
		if m.name == "files" {
			out, st = c.files(name, resolver.Unspec)
		} else if out, st, err = c.dns(name, pairTypes, true); err != nil {
			return st, lacksNothing, err
		}
		switch {
		case st == success:
			c.takeAddresses(m, out)
			return st, lacksNothing, nil
		case !c.outOfRoom(st):
			return st, c.lack(), nil
		}
		c.growAndRepeat(before)
	}
}

// single asks a module for one family, and with AI_V4MAPPED for IPv4 addresses when there are no IPv6 ones.
func (c *call) single(m module, name string, noData6 lack) (st status, noData, lack6 lack, code eai, err error) {
	st, lack6 = unavail, noData6
	status6 := unavail
	if c.req.Family == resolver.Inet6 {
		if st, noData, code, err = c.hosts(m, name, inet6); err != nil || code != eaiOK {
			return st, noData, lack6, code, err
		}
		lack6, status6 = noData, st
		c.gotIPv6 = st == success
	}
	if c.req.Family == resolver.Inet || c.req.V4Mapped && (c.req.All || !c.gotIPv6) {
		if st, noData, code, err = c.hosts(m, name, inet); err != nil || code != eaiOK {
			return st, noData, lack6, code, err
		}
		if c.req.Family == resolver.Inet {
			lack6, status6 = noData, st
		}
	}
	switch {
	case status6 == success || st == success:
		st = success
	case status6 == tryAgain:
		st = tryAgain
	case st == unavail && status6 != unavail:
		st = status6
	}
	return st, noData, lack6, eaiOK, nil
}

// hosts follows gethosts.
func (c *call) hosts(m module, name string, f family) (status, lack, eai, error) {
	for {
		before := c.Attempts()
		out, st, err := c.hostByName(m, name, f, !c.req.CanonName)
		if err != nil {
			return st, lacksNothing, eaiOK, err
		}
		switch {
		case c.outOfRoom(st):
			c.growAndRepeat(before)
			continue
		case st == success:
			if f == inet && c.req.Family == resolver.Inet6 {
				for i, a := range out.addrs {
					out.addrs[i] = mapped(a)
				}
			}
			c.takeAddresses(m, out)
			return st, lacksNothing, eaiOK, nil
		case c.herr == hostInternal:
			return st, lacksNothing, eaiSystem, nil
		}
		return st, c.lack(), eaiOK, nil
	}
}

// hostByName asks a module for one family (gethostbyname2_r, or gethostbyname3_r, which does not check the name).
func (c *call) hostByName(m module, name string, f family, checked bool) (addressList, status, error) {
	if m.name == "files" {
		want := resolver.Inet
		if f == inet6 {
			want = resolver.Inet6
		}
		out, st := c.files(name, want)
		return out, st, nil
	}
	return c.dns(name, []probe.QueryType{f.query()}, checked)
}

// simple follows try_simple_gethostbyname: IPv4 alone goes through gethostbyname2_r, whose errors map differently.
func (c *call) simple(name string) (eai, error) {
	c.errno = errnoNone
	for {
		before := c.Attempts()
		st, err := c.gethostbyname2(name)
		if err != nil {
			return "", err
		}
		switch {
		case c.outOfRoom(st):
			c.growAndRepeat(before)
			continue
		case st == success:
			return eaiOK, nil
		case st == notFound, st == unavail && c.errno == errnoNone:
			// gethostbyname2_r returns 0 without a result.
			if c.herr == hostNoData {
				return eaiNoData, nil
			}
			return eaiNoName, nil
		case c.herr == hostInternal:
			return eaiSystem, nil
		case c.herr == hostTryAgain:
			return eaiAgain, nil
		}
		return eaiNoData, nil
	}
}

// mayBeDigits reports whether glibc looks at a name as at an address, by its first byte.
func mayBeDigits(name string) bool {
	return name != "" && strings.IndexByte("0123456789abcdefABCDEF:", name[0]) >= 0
}

// mergeHosts keeps what a module found, or applies SUCCESS=merge, which the hosts database cannot do: two results make
// none, a result that nothing is merged into stays.
func (c *call) mergeHosts(m module, out addressList, st status, merging *bool) status {
	switch {
	case *merging && st == success:
		c.errno, c.addresses, *merging = errnoOther, nil, false
		return c.fail(hostOK, unavail)
	case *merging:
		return success
	case st != success:
		c.addresses, c.answeredBy = nil, ""
		return st
	}
	c.addresses = nil
	c.takeAddresses(m, out)
	if m.on[success] == merge {
		*merging = true
		c.errno = errnoOther
		return unavail
	}
	return st
}

// digitsRoom is what glibc wants in its buffer beside a name that might be an address, and the name's end: an address, two lists of
// pointers (nss/digits_dots.c).
const digitsRoom = 16 + 16 + 8 + 1

// gethostbyname2 follows gethostbyname2_r (nss/getXXbyYY_r.c). It does not clear errno: what a first round left there for want of room
// decides about a second one that asks no service.
func (c *call) gethostbyname2(name string) (status, error) {
	if mayBeDigits(name) && len(name)+digitsRoom > c.buffer {
		c.errno = errnoRange
		return c.fail(hostInternal, tryAgain), nil
	}
	if isDigitsAndDots(name, inet) {
		return c.fail(hostNotFound, notFound), nil
	}
	list, ok := modules(c.r.sys.NSSwitch, c.r.feat)
	st, any, merging := unavail, false, false
	switch {
	case !ok:
		c.errno = errnoOther
	case c.r.sys.NSSwitch == nil:
		// Looking for a file that is not there leaves this behind.
		c.errno = errnoNoEntry
	}
	for _, m := range list {
		if m.name != "files" && m.name != "dns" {
			herr := c.herr
			got, loaded := c.passOver(m)
			if loaded {
				st, any = got, true
			} else {
				c.herr = herr
			}
			if m.on[got] == stop {
				break
			}
			continue
		}
		any = true
		out, got, err := c.hostByName(m, name, inet, true)
		if err != nil {
			return st, err
		}
		if st = got; c.outOfRoom(st) {
			return st, nil
		}
		if st = c.mergeHosts(m, out, st, &merging); m.on[st] == stop {
			break
		}
	}
	switch {
	case any || st == success:
	case st == unavail && c.errno != errnoNoEntry:
		c.herr = hostInternal
	default:
		c.herr = hostNoRecovery
	}
	return st, nil
}
