package musl

import (
	"context"
	"errors"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Resolver is musl in one process. musl remembers nothing from one getaddrinfo call to the next. It is not safe for concurrent
// use.
type Resolver struct {
	version string
	feat    features
	sys     resolver.System
}

var _ resolver.Resolver = (*Resolver)(nil)

// New returns the resolver of a process that runs with musl of this version ("1.2.5") or build ("1.2.3-1"), and sees sys. An empty
// or unknown version is taken as the newest one observed, 1.2.5; versions before 1.1.24 are followed as 1.1.24.
func New(version string, sys resolver.System) *Resolver {
	return &Resolver{version: version, feat: featuresOf(version), sys: sys}
}

// SetSystem says that the files changed. musl reads all of them again on every call.
func (r *Resolver) SetSystem(sys resolver.System) { r.sys = sys }

// Config returns the configuration that the next call will use.
func (r *Resolver) Config() resolvconf.Config {
	return resolvconf.ParseMusl(r.sys.ResolvConfText(), resolvconf.Inputs{Hostname: r.sys.Hostname, Env: r.sys.Env, Version: r.version})
}

// Resolve runs one getaddrinfo call. See resolver.Resolver.
func (r *Resolver) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	c := &call{Trace: resolver.NewTrace(n, emit), ctx: ctx, n: n, r: r, req: req}
	code, err := c.getaddrinfo()
	c.closeAll(probe.ReplyAbandoned)
	c.code = code
	switch {
	case errors.Is(err, errDies):
		c.EndLast(probe.Unsent)
		c.Note("the application dies here: attempts:0 makes musl divide by zero (SIGFPE), before anything is sent")
		c.died = true
	case err != nil:
		return resolver.Result{}, err
	}
	return c.end(), nil
}

// errDies: musl's process is killed by a signal.
var errDies = errors.New("musl dies")

func (c *call) end() resolver.Result {
	res := resolver.Result{Outcome: resolver.EAIOutcome(string(c.code)), Code: string(c.code)}
	if c.died {
		res = resolver.Result{Outcome: probe.Fail}
	}
	answeredBy := c.answeredBy
	if c.Attempts() > 0 {
		answeredBy = resolver.ByDNS
	}
	if res.Outcome == probe.OK {
		res.Addresses, res.Canonical = c.addresses, c.canon.String()
	}
	c.Ended(res, c.decided, answeredBy)
	return res
}

// eai is an error of getaddrinfo (include/netdb.h); empty is success.
type eai string

const (
	eaiOK     eai = ""
	eaiNoName eai = "EAI_NONAME"
	eaiAgain  eai = "EAI_AGAIN"
	eaiNoData eai = "EAI_NODATA"
	eaiFail   eai = "EAI_FAIL"
	eaiFamily eai = "EAI_FAMILY"
	eaiSystem eai = "EAI_SYSTEM"
)
