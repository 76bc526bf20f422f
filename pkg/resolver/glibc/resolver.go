package glibc

import (
	"context"
	"errors"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Resolver is glibc in one process with one thread: it keeps what glibc keeps from one getaddrinfo call to the next. It is
// not safe for concurrent use.
type Resolver struct {
	version string
	feat    features
	sys     resolver.System

	// conf is the loaded configuration, loadedText the file it came from.
	conf       resolvconf.Config
	loaded     bool
	loadedText string
	// sequential and reopen are the fallbacks of a half-answered pair (RES_F_SNGLKUP, RES_F_SNGLKUPREOP). They stay until
	// the next load.
	sequential, reopen bool
	// reloadStopped: something changed _res.options, so that glibc leaves the configuration alone from then on.
	reloadStopped bool
	// herr is the thread's h_errno after the last call.
	herr hostErr
	// rotation is the static global_offset of nameserver_offset.
	rotation        uint32
	rotationStarted bool
}

var _ resolver.Resolver = (*Resolver)(nil)

// New returns the resolver of a process that runs with glibc of this version ("2.31") or build ("2.36-9+deb12u14"), and sees
// sys. An empty or unknown version, and "2.36" alone, is taken as the one observed, 2.36-9+deb12u14. Versions before 2.26 are
// followed as 2.26 but for the limits of the search list and the missing reload.
func New(version string, sys resolver.System) *Resolver {
	return &Resolver{version: version, feat: featuresOf(version), sys: sys}
}

// SetSystem says that the files changed. As in glibc the next call reads resolv.conf again if its text is another one and
// reloading was not turned off; the environment counts only when resolv.conf is read. A fallback in force ends with a reload.
func (r *Resolver) SetSystem(sys resolver.System) { r.sys = sys }

// Config returns the configuration that the next call will use.
func (r *Resolver) Config() resolvconf.Config {
	r.load()
	return r.conf
}

// load follows maybe_init in resolv/resolv_context.c.
func (r *Resolver) load() {
	text := r.sys.ResolvConfText()
	if r.loaded && (text == r.loadedText || r.conf.NoReload || r.reloadStopped || !r.feat.reload) {
		return
	}
	version := r.version
	if _, ok := resolvconf.ParseVersion(version); !ok {
		version = observedBuild
	}
	r.conf = resolvconf.ParseGlibc(text, resolvconf.Inputs{Hostname: r.sys.Hostname, Env: r.sys.Env, Version: version})
	r.loaded, r.loadedText = true, text
	r.sequential, r.reopen = false, false
}

// Resolve runs one getaddrinfo call. See resolver.Resolver.
func (r *Resolver) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := &call{Trace: resolver.NewTrace(n, emit), ctx: ctx, n: n, r: r, req: req, buffer: scratchBytes}
	c.herr = r.herr
	err := c.getaddrinfo()
	r.herr = c.herr
	c.closeAll()
	switch {
	case errors.Is(err, errAborts):
		c.Note("the application crashes here: glibc aborts on a search list that begins with very long domains")
		c.noReturn = true
	case errors.Is(err, resolver.ErrNothingComes):
		c.hang()
	case err != nil:
		return resolver.Result{}, err
	}
	return c.end(), nil
}

// errAborts: an assertion of glibc fails.
var errAborts = errors.New("glibc aborts")

// hang ends a call that glibc would never come back from.
func (c *call) hang() {
	c.EndLast(probe.Timeout)
	c.Note("the application hangs here: glibc waits for a TCP server without any timeout, and nothing will ever come")
	c.noReturn = true
	c.decided = c.Attempts()
	c.addresses = nil
}

func (c *call) end() resolver.Result {
	res := resolver.Result{Outcome: resolver.EAIOutcome(string(c.code)), Code: string(c.code)}
	if c.noReturn {
		res = resolver.Result{Outcome: probe.Fail}
	}
	answeredBy := ""
	if c.Attempts() > 0 {
		answeredBy = resolver.ByDNS
	}
	if res.Outcome == probe.OK {
		res.Addresses, res.Canonical = c.addresses, c.canonical
		if c.answeredBy != "" {
			answeredBy = c.answeredBy
		}
	}
	c.Ended(res, c.decided, answeredBy)
	return res
}

// family is AF_INET or AF_INET6 inside of the package.
type family int

const (
	inet family = iota
	inet6
)

func (f family) query() probe.QueryType {
	if f == inet6 {
		return probe.TypeAAAA
	}
	return probe.TypeA
}

// mapped returns the IPv4-mapped IPv6 address of an IPv4 one.
func mapped(a netip.Addr) netip.Addr { return netip.AddrFrom16(a.As16()) }
