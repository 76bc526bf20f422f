package conformance

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/glibc"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
)

// withGlibc stands between the two versions of a Go with cgo: "1.26.8 with glibc 2.36-9+deb12u14".
const withGlibc = " with glibc "

// CgoErrno is a reason for leaving out a case with cgo.
const CgoErrno = "glibc fails with an errno, which Go reports and our resolver does not know"

// newGo is our resolver in the place of a Go program, with cgo or without.
func newGo(l Library, sys resolver.System) process {
	version, libc, cgo := strings.Cut(l.Version, withGlibc)
	if !cgo {
		return goProcess{golang.New(version, sys)}
	}
	return &cgoProcess{version: version, sys: sys, own: goProcess{golang.NewCgo(version, sys)}, libc: glibc.New(libc, sys)}
}

// cgoProcess leaves lookups to glibc where Go does. That it does so for the right ones is what is compared.
type cgoProcess struct {
	version string
	sys     resolver.System
	own     goProcess
	libc    *glibc.Resolver
}

// SetSystem says that the files changed.
func (p *cgoProcess) SetSystem(sys resolver.System) {
	p.sys = sys
	p.own.SetSystem(sys)
	p.libc.SetSystem(sys)
}

// Config returns Go's.
func (p *cgoProcess) Config() resolvconf.Config { return p.own.Config() }

// Resolve makes a lookup as lookupIP does: what is no name is not even looked at.
func (p *cgoProcess) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	if _, err := netip.ParseAddr(req.Host); err == nil || req.Host == "" || golang.LeftToLibc(p.version, p.sys, req.Host) == "" {
		return p.own.Resolve(ctx, n, req, emit)
	}
	req = resolver.Request{Host: req.Host, Family: req.Family, CanonName: true, V4Mapped: true, All: true}
	res, err := p.libc.Resolve(ctx, n, req, emit)
	res.Canonical = ""
	if text, known := libcTexts[res.Code]; known {
		res.Code = text
	}
	return asGoReturns(res, req.Family), err
}

// libcTexts are what Go makes of return codes (net/cgo_unix.go, cgoLookupHostIP).
var libcTexts = map[string]string{
	"EAI_NONAME": "no such host", "EAI_NODATA": "no such host", "EAI_AGAIN": "Temporary failure in name resolution",
	"EAI_ADDRFAMILY": "Address family for hostname not supported", "EAI_FAIL": "Non-recoverable failure in name resolution",
}

// asGoReturns brings addresses into the order of the program, and drops those of the other family.
func asGoReturns(res resolver.Result, family resolver.Family) resolver.Result {
	if res.Outcome != probe.OK {
		return res
	}
	var kept []netip.Addr
	for _, a := range res.Addresses {
		a = a.Unmap()
		if family == resolver.Unspec || a.Is4() == (family == resolver.Inet) {
			kept = append(kept, a)
		}
	}
	if res.Addresses = kept; family == resolver.Unspec {
		slices.SortFunc(res.Addresses, netip.Addr.Compare)
		return res
	}
	for i, a := range res.Addresses {
		res.Addresses[i] = a.WithZone("")
	}
	if len(kept) == 0 {
		res.Outcome, res.Code = probe.Fail, "no suitable address found"
	}
	return res
}

// cgoByChance says why what a program with cgo does with a case cannot be told, empty when it can.
func cgoByChance(c *Case, l Library) string {
	if !leftToLibc(c, l) {
		return ""
	}
	_, libc, _ := strings.Cut(l.Version, withGlibc)
	if conf := glibc.New(libc, c.settings()).Config(); conf.Rotate && len(conf.Nameservers) > 1 {
		return GoTurns
	}
	if p, err := Predict(c, l, -1, disturbance{}); err == nil && slices.Contains(p.Codes, "EAI_SYSTEM") {
		return CgoErrno
	}
	return ""
}

// leftToLibc reports whether a program with cgo leaves any lookup of the case to glibc.
func leftToLibc(c *Case, l Library) bool {
	version, _, cgo := strings.Cut(l.Version, withGlibc)
	sys := c.settings()
	return cgo && slices.ContainsFunc(c.Calls, func(call Call) bool { return golang.LeftToLibc(version, sys, call.Host) != "" })
}

// settings are the files and the environment of the case that Go looks at before it leaves a lookup to libc.
func (c *Case) settings() resolver.System {
	return resolver.System{ResolvConf: c.ResolvConf, NoResolvConf: c.NoResolvConf, NSSwitch: c.NSSwitch, Env: c.Env, Hostname: c.Hostname}
}

// onThreads leaves one call of a case in which glibc is called: it keeps things in a thread from one call to the next, and Go
// calls it from any thread.
func onThreads(c Case, l Library) Case {
	if len(c.Calls) > 1 && leftToLibc(&c, l) {
		c.Calls = c.Calls[:1]
	}
	return c
}
