package cares

import (
	"context"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Resolver is one c-ares channel: it keeps what c-ares knows of its servers from one call to the next. It is not safe for
// concurrent use.
type Resolver struct {
	version string
	feat    features
	sys     resolver.System
	channel Channel

	conf   resolvconf.Config
	order  string
	loaded bool

	// servers are in the order in which they are preferred; old versions keep the order of the file.
	servers []*server
	// lastServer is where `rotate` stands in old versions.
	lastServer int
	// generation counts TCP connections in old versions.
	generation int
	// ticks orders what happens at the same time.
	ticks int
}

var _ resolver.Resolver = (*Resolver)(nil)

// New returns the resolver of a process that makes a channel of this version of c-ares ("1.34.8") and sees sys. An empty or
// unknown version is taken as 1.34. Versions from 1.20 on are followed as 1.34 but for OPT records and cookies, older ones as
// 1.18.
func New(version string, sys resolver.System) *Resolver {
	return &Resolver{version: version, feat: featuresOf(version), sys: sys}
}

// Channel is how an application sets its channel up and asks.
type Channel struct {
	// Query asks with ares_query for one name as it is: no search list and no hosts file.
	Query bool
	// NoCheckResp is ARES_FLAG_NOCHECKRESP: SERVFAIL, NOTIMP and REFUSED are answers. An application that sets flags sets all of
	// them, so that ARES_FLAG_EDNS goes with the default flags.
	NoCheckResp bool
	// Tries is ARES_OPT_TRIES, which wins over resolv.conf; 0 leaves it.
	Tries int
}

// NewChannel returns the resolver of a process that sets up its channel in this way, with a version of c-ares as 1.34 is followed.
func NewChannel(sys resolver.System, ch Channel) *Resolver {
	r := New("", sys)
	r.channel = ch
	if ch.NoCheckResp {
		r.feat.edns, r.feat.cookies = false, false
	}
	return r
}

// SetSystem says that the files changed. A channel has read resolv.conf, nsswitch.conf and the environment when it was made
// and keeps to that, until the application asks for ares_reinit; the hosts file and the file of HOSTALIASES are read again.
func (r *Resolver) SetSystem(sys resolver.System) { r.sys = sys }

// Config returns the configuration that calls use.
func (r *Resolver) Config() resolvconf.Config {
	r.load()
	return r.conf
}

func (r *Resolver) load() {
	if r.loaded {
		return
	}
	r.conf = resolvconf.ParseCAres(r.sys.ResolvConfText(), resolvconf.Inputs{Hostname: r.sys.Hostname, Env: r.sys.Env, Version: r.version})
	r.loaded = true
	r.order = r.lookupOrder()
	if r.channel.Query {
		r.order = "b"
	}
	if r.channel.Tries > 0 {
		r.conf.Attempts = r.channel.Tries
	}
	for i, addr := range r.conf.Nameservers {
		port := uint16(53)
		if r.conf.Ports != nil {
			port = r.conf.Ports[i]
		}
		// Old versions count connections, and begin with one for each server.
		r.generation++
		r.servers = append(r.servers, &server{addr: netip.AddrPortFrom(addr, port), index: i, generation: r.generation})
	}
}

// Resolve runs one ares_getaddrinfo call and the event loop until its callback. See resolver.Resolver.
func (r *Resolver) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	r.load()
	c := &call{
		Trace: resolver.NewTrace(n, emit), ctx: ctx, n: n, r: r, req: req, firstSent: map[waiting]moment{},
	}
	c.transport = &modern{call: c}
	if r.feat.old {
		c.transport = &old{call: c}
	}
	c.getaddrinfo()
	for !c.done && c.failure == nil {
		c.transport.turn()
	}
	c.transport.shut()
	if c.failure != nil {
		return resolver.Result{}, c.failure
	}
	return c.end(), nil
}

// end reports the result.
func (c *call) end() resolver.Result {
	res := resolver.Result{Outcome: c.status.outcome(), Code: string(c.status)}
	answeredBy, decided := "", c.decided
	if c.Attempts() > 0 {
		answeredBy = resolver.ByDNS
	}
	if c.status == success {
		res.Addresses, res.Canonical = c.addresses, c.canonical
		if c.answeredBy != "" {
			answeredBy, decided = c.answeredBy, 0
		}
	}
	c.Ended(res, decided, answeredBy)
	return res
}
