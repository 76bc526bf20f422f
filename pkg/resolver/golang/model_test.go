package golang

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
}

// newModel makes one on a network of these rules (resolvertest.Network).
func newModel(t *testing.T, version string, sys resolver.System, rules ...string) *model {
	t.Helper()
	r := New(version, sys)
	return &model{resolvertest.NewModel(t, r, resolvertest.Network(t, rules...), resolvertest.Options{
		Libc: probe.Go, Version: version, OutcomeAndCode: true,
	}), t, r}
}

func (m *model) ask(host string, family resolver.Family) string {
	m.t.Helper()
	return m.Ask(resolver.Request{Host: host, Family: family})
}

func (m *model) want(host, want string) {
	m.t.Helper()
	m.Want(resolver.Request{Host: host}, want)
}

// settings is a System with this resolv.conf.
func settings(resolvConf string) resolver.System { return resolvertest.Settings(resolvConf) }
