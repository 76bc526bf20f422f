package resolver

import (
	"context"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Family is the address family that a caller asks for.
type Family string

// The families of getaddrinfo.
const (
	Unspec Family = "unspec"
	Inet   Family = "inet"
	Inet6  Family = "inet6"
)

// Request is one getaddrinfo-like call.
type Request struct {
	Host   string
	Family Family
	// AddrConfig is AI_ADDRCONFIG: ask only for families that the pod has an address of.
	AddrConfig bool
	// CanonName is AI_CANONNAME.
	CanonName bool
	// V4Mapped is AI_V4MAPPED.
	V4Mapped bool
	// All is AI_ALL: with V4Mapped, IPv4 addresses come beside IPv6 ones, too.
	All bool
	// IDN is AI_IDN. Names outside of ASCII then fail in the C locale, the one containers have.
	IDN bool
	// Record is set for a lookup of these records instead of addresses (Go's LookupTXT and LookupSRV); only Go's resolver has it. Host
	// is then the whole name, and Family means nothing.
	Record probe.QueryType
}

// System is what a resolver reads from the target besides the network. All of it is text as found, parsed by each libc in
// its own way.
type System struct {
	ResolvConf string
	// NoResolvConf is set when the target has no resolv.conf.
	NoResolvConf bool
	Hosts        string
	// NSSwitch is nil when the target has no nsswitch.conf.
	NSSwitch *string
	// GaiConf is the target's /etc/gai.conf, empty when it has none.
	GaiConf string
	// Env holds RES_OPTIONS, LOCALDOMAIN, HOSTALIASES and GODEBUG where set; a variable that is set but empty is present.
	Env map[string]string
	// HostConf is the target's /etc/host.conf; nil when unknown. glibc then is taken to have "multi on", which Debian, Ubuntu
	// and Red Hat ship.
	HostConf *string
	// HostAliases is the text of the file that HOSTALIASES names.
	HostAliases string
	// Hostname is gethostname() of the pod.
	Hostname string
	// Links are the names of the pod's network interfaces; nil when unknown: any name is then taken for one.
	Links []string
	// Addresses are the addresses of the pod's interfaces, loopback included.
	Addresses []netip.Addr
	// Prefixes are the networks of the interfaces that have Addresses, where known: address and prefix length. glibc's sort
	// of destinations compares them (RFC 3484 rule 9).
	Prefixes []netip.Prefix
	// SourceFor returns the source address that the kernel would choose towards dst (connect on a UDP socket sends no packet);
	// invalid when there is no route. Nil means unknown: destinations are then left in the order received.
	SourceFor func(dst netip.Addr) netip.Addr
}

// ResolvConfText is the resolv.conf as a libc sees it: no file is an empty one.
func (s *System) ResolvConfText() string {
	if s.NoResolvConf {
		return ""
	}
	return s.ResolvConf
}

// Result is what the call returned.
type Result struct {
	Outcome probe.Outcome
	// Code is the libc's error ("EAI_NONAME"), empty on success.
	Code      string
	Addresses []netip.Addr
	Canonical string
}

// Resolver is the resolver of one libc in one process (or thread, where the libc keeps its state there): it carries what that
// libc remembers from one call to the next.
type Resolver interface {
	// Resolve runs one call over n and reports every step to emit, which must not be nil. Events carry no resolution id and
	// have At counted from the start of the call. KindBegin is the caller's; the last event is KindEnded. An error is returned
	// only when the call could not be carried through (ctx ended, a socket could not be opened); what was seen is emitted.
	Resolve(ctx context.Context, n Network, req Request, emit func(probe.Event)) (Result, error)
}
