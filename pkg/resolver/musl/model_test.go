package musl

import (
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// model is a resolver on modelled servers, for tests.
type model struct {
	*resolvertest.Model
	r *Resolver
}

// newModel makes one on a network of these rules (resolvertest.Network).
func newModel(t *testing.T, version string, sys resolver.System, rules ...string) *model {
	t.Helper()
	r := New(version, sys)
	return &model{resolvertest.NewModel(t, r, resolvertest.Network(t, rules...), resolvertest.Options{
		Libc: probe.Musl, Version: version, Precision: 10 * time.Millisecond, Check: checkTrace,
	}), r}
}

// checkTrace: once it asks DNS, musl has nothing else to answer with.
func checkTrace(t *testing.T, what string, trace probe.Resolution) {
	t.Helper()
	if len(trace.Attempts) > 0 && trace.AnsweredBy != resolver.ByDNS {
		t.Errorf("%s: %d attempts, answered by %q", what, len(trace.Attempts), trace.AnsweredBy)
	}
}

func host(name string) resolver.Request { return resolver.Request{Host: name} }

// settings is a System with this resolv.conf.
func settings(resolvConf string) resolver.System {
	return resolver.System{ResolvConf: resolvConf, Hostname: "pod"}
}

const (
	ns1 = "nameserver 127.0.0.2\n"
	ns2 = ns1 + "nameserver 127.0.0.3\n"
	k8s = ns1 + "search shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n"

	old, middle, latest = "1.1.24", "1.2.3", "1.2.5"
)
