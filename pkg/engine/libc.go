package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/cares"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/glibc"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/musl"
)

// resolvers has the libcs that can be followed, with what makes the resolver of a fresh process. version is that of the distribution
// where it is known: some distributions carry changes that their upstream version has not.
var resolvers = map[probe.Libc]func(version string, sys resolver.System) resolver.Resolver{
	probe.CAres: func(version string, sys resolver.System) resolver.Resolver { return cares.New(version, sys) },
	probe.Glibc: func(version string, sys resolver.System) resolver.Resolver { return glibc.New(version, sys) },
	probe.Go:    func(version string, sys resolver.System) resolver.Resolver { return golang.New(version, sys) },
	probe.Musl:  func(version string, sys resolver.System) resolver.Resolver { return musl.New(version, sys) },
}

// UnsupportedError says that a libc's resolver cannot be followed.
type UnsupportedError struct{ Libc probe.Libc }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("follow the resolver of libc %.40q: it is none of %s", string(e.Libc), names())
}

// names lists the libcs that can be followed.
func names() string {
	var list []string
	for libc := range resolvers {
		list = append(list, string(libc))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// NextStep tells what to do about it.
func (e *UnsupportedError) NextStep() string {
	return "run again with --libc glibc, and read the result as that of glibc"
}

// Supported reports whether the resolver of libc can be followed.
func Supported(libc probe.Libc) bool { return resolvers[libc] != nil }

// Fallback returns the resolver to follow in the place of r: r itself where it can be followed, else the glibc that most
// images have, marked as assumed. Whether to fall back is the caller's decision.
func Fallback(r probe.Resolver) probe.Resolver {
	if Supported(r.Libc) {
		return r
	}
	what := "the libc could not be told"
	if r.Libc != "" {
		what = fmt.Sprintf("the resolver of %s %s cannot be followed yet", r.Libc, r.Version)
	}
	if r.Why != "" {
		what += " (" + r.Why + ")"
	}
	version := AssumedVersion(probe.Glibc)
	return probe.Resolver{
		Libc: probe.Glibc, Version: version, Source: probe.SourceAssumed, Why: what + ": glibc " + version + " is assumed",
	}
}

// AssumedVersion returns the version of libc that is followed when none is known, empty for a libc that cannot be followed.
func AssumedVersion(libc probe.Libc) string {
	two := func(v resolvconf.Version) string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
	switch libc {
	case probe.Glibc:
		return two(resolvconf.AssumedGlibc)
	case probe.Musl:
		v := resolvconf.AssumedMusl
		return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	case probe.Go:
		return two(resolvconf.AssumedGo)
	case probe.CAres:
		return two(resolvconf.AssumedCAres)
	}
	return ""
}

// Libcs lists the libcs that can be followed, in the order in which people know them.
func Libcs() []probe.Libc {
	var list []probe.Libc
	for _, libc := range []probe.Libc{probe.Glibc, probe.Musl, probe.Go, probe.CAres} {
		if Supported(libc) {
			list = append(list, libc)
		}
	}
	return list
}

// newResolver returns the resolver of a fresh process of libc.
func newResolver(libc probe.Libc, version string, sys resolver.System) (resolver.Resolver, error) {
	if fresh := resolvers[libc]; fresh != nil {
		return fresh(version, sys), nil
	}
	return nil, &UnsupportedError{libc}
}

// fullVersion is the version that decides how a libc behaves.
func fullVersion(r probe.Resolver) string {
	if r.Build != "" {
		return r.Build
	}
	return r.Version
}

// chosen returns the libc, its version and its resolver that a Go program which chooses between two uses for request with sys, and
// the request as it makes it there (Go net/cgo_unix.go, cgoAddrInfoFlags). Settings that changed can change the choice.
func chosen(c *probe.CgoProgram, sys resolver.System, request resolver.Request) (probe.Libc, string, resolver.Resolver, resolver.Request, error) {
	r := golang.Decide(c, sys, request.Host)
	if r.Libc == probe.Go {
		return r.Libc, r.Version, golang.NewCgo(r.Version, sys), request, nil
	}
	request.CanonName, request.V4Mapped, request.All, request.AddrConfig = true, true, true, false
	res, err := newResolver(r.Libc, fullVersion(r), sys)
	return r.Libc, fullVersion(r), res, request, err
}
