package cares

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// model is a resolver on modelled servers, for tests.
type model struct {
	*resolvertest.Model
	t *testing.T
	r *Resolver
	// net is what the resolver runs over: tests can put something in between.
	net resolver.Network
}

// newModel makes one on a network of these rules (resolvertest.Network).
func newModel(t *testing.T, version string, sys resolver.System, rules ...string) *model {
	t.Helper()
	r := New(version, sys)
	m := resolvertest.NewModel(t, r, resolvertest.Network(t, rules...), resolvertest.Options{
		Libc: probe.CAres, Version: version, CodePrefix: "ARES_", Check: checkTrace,
	})
	return &model{m, t, r, m.Net}
}

// checkTrace: c-ares succeeds with addresses, and with nothing else.
func checkTrace(t *testing.T, what string, trace probe.Resolution) {
	t.Helper()
	if (trace.Outcome == probe.OK) != (len(trace.Addresses) > 0) {
		t.Errorf("%s: %s with %d addresses", what, trace.Outcome, len(trace.Addresses))
	}
}

func (m *model) ask(req resolver.Request) string {
	m.t.Helper()
	m.Over = m.net
	return m.Ask(req)
}

func (m *model) want(req resolver.Request, want string) {
	m.t.Helper()
	m.Over = m.net
	m.Want(req, want)
}

func (m *model) notes() string { return m.Notes() }

func host(name string) resolver.Request { return resolver.Request{Host: name} }

// settings is a System with this resolv.conf.
func settings(resolvConf string) resolver.System { return resolvertest.Settings(resolvConf) }
