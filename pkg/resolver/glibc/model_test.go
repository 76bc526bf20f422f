package glibc

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// model is a resolver on modelled servers, for tests.
type model struct {
	*resolvertest.Model
	r *Resolver
}

// newModel makes one on a network of these rules (resolvertest.Network).
func newModel(t *testing.T, version string, sys resolver.System, rules ...string) *model {
	t.Helper()
	return modelOn(t, resolvertest.Network(t, rules...), version, sys)
}

func modelOn(t *testing.T, net *simnet.Network, version string, sys resolver.System) *model {
	t.Helper()
	r := New(version, sys)
	return &model{resolvertest.NewModel(t, r, net, resolvertest.Options{Libc: probe.Glibc, Version: version, Check: checkTrace}), r}
}

// checkTrace: once it has asked DNS, nothing else but success comes from another source.
func checkTrace(t *testing.T, what string, trace probe.Resolution) {
	t.Helper()
	if len(trace.Attempts) > 0 && trace.AnsweredBy != resolver.ByDNS && trace.Outcome != probe.OK {
		t.Errorf("%s: %d attempts, answered by %q", what, len(trace.Attempts), trace.AnsweredBy)
	}
}

func host(name string) resolver.Request { return resolver.Request{Host: name} }

// settings is a System with this resolv.conf.
func settings(resolvConf string) resolver.System { return resolvertest.Settings(resolvConf) }
