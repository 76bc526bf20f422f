package golang

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Resolver is Go's resolver in one process: it keeps what package net keeps from one lookup to the next. It is not safe for
// concurrent use, and knows nothing of lookups that share their work (singleflight).
type Resolver struct {
	version string
	feat    features
	sys     resolver.System
	// cgo is set in a program that could have left the lookup to libc.
	cgo bool

	conf     resolvconf.Config
	resolv   cached
	nss      nsswitch
	nssFile  cached
	hosts    map[string]hostEntry
	hostFile cached
	// rotation is soffset, the counter of the option rotate. It starts anew with every new configuration.
	rotation uint32
	// first tells which query of a pair goes out first, by attempt; nil is A. Only tests that follow a recording set it.
	first func(attempt int) probe.QueryType
}

// cached is a file as the process last read it.
type cached struct {
	loaded  bool
	text    string
	checked time.Time
}

// recheck is how long a file is taken to be as it was (resolverConfig.tryUpdate, nsswitchConfig.tryUpdate, cacheMaxAge).
const recheck = 5 * time.Second

var _ resolver.Resolver = (*Resolver)(nil)

// New returns the resolver of a process that was built with this release of Go ("1.26.8") and cannot use libc's resolver, or
// was told not to. An empty or unknown version is taken as the one observed.
func New(version string, sys resolver.System) *Resolver {
	return &Resolver{version: version, feat: featuresOf(version), sys: sys}
}

// NewCgo is New for a program built with cgo, for lookups that it does not leave to libc (LeftToLibc).
func NewCgo(version string, sys resolver.System) *Resolver {
	r := New(version, sys)
	r.cgo = true
	return r
}

// SetSystem says that the files changed. As in Go, each is looked at again when the last look was five seconds ago; the option
// no-reload keeps resolv.conf.
func (r *Resolver) SetSystem(sys resolver.System) { r.sys = sys }

// Config returns the configuration that a lookup at this time uses.
func (r *Resolver) Config(now time.Time) resolvconf.Config {
	r.load(now)
	return r.conf
}

// stale reports whether a file has to be read (again), and remembers that it was looked at.
func (c *cached) stale(text string, now time.Time) bool {
	if c.loaded && (c.checked.After(now.Add(-recheck)) || c.text == text) {
		if !c.checked.After(now.Add(-recheck)) {
			c.checked = now
		}
		return false
	}
	*c = cached{loaded: true, text: text, checked: now}
	return true
}

// load follows getSystemDNSConfig.
func (r *Resolver) load(now time.Time) {
	text := r.sys.ResolvConfText()
	if r.resolv.loaded && r.conf.NoReload || !r.resolv.stale(text, now) {
		return
	}
	r.conf = resolvconf.ParseGo(text, resolvconf.Inputs{Hostname: r.sys.Hostname, Env: r.sys.Env, Version: r.version})
	r.rotation = 0
}

// loadNSS follows getSystemNSS.
func (r *Resolver) loadNSS(now time.Time) {
	text := "\x00"
	if r.sys.NSSwitch != nil {
		text = *r.sys.NSSwitch
	}
	if r.nssFile.loaded && !r.feat.nssReload || !r.nssFile.stale(text, now) {
		return
	}
	r.nss = parseNSS(r.sys.NSSwitch)
}

// ednsOff reports whether GODEBUG turns the OPT record off. The last setting of a name counts (internal/godebug).
func (r *Resolver) ednsOff() bool {
	value := ""
	for setting := range strings.SplitSeq(r.sys.Env["GODEBUG"], ",") {
		if v, ok := strings.CutPrefix(setting, "netedns0="); ok {
			value = v
		}
	}
	return value == "0" && r.feat.ednsSetting
}

// Resolve runs one lookup. See resolver.Resolver. Of a request only host and family count: Go has no flags.
func (r *Resolver) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := &call{Trace: resolver.NewTrace(n, emit), ctx: ctx, n: n, r: r, req: req}
	if err := c.lookup(); err != nil {
		return resolver.Result{}, err
	}
	return c.end(), nil
}

func (c *call) end() resolver.Result {
	res := resolver.Result{Outcome: probe.OK, Addresses: c.addresses}
	if c.failure != nil {
		res = resolver.Result{Outcome: c.failure.overall(), Code: c.failure.text}
	}
	answeredBy := c.answeredBy
	if answeredBy == "" && c.Attempts() > 0 {
		answeredBy = resolver.ByDNS
	}
	c.Ended(res, c.decided, answeredBy)
	return res
}
