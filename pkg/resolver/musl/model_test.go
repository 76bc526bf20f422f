package musl

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// model is a resolver on modelled servers, for tests.
type model struct {
	t   *testing.T
	r   *Resolver
	net *simnet.Network
	// events are those of the last call.
	events []probe.Event
}

// newModel makes one; rules are lines "name type server transport nth actions...", "-" where anything matches.
func newModel(t *testing.T, version string, sys resolver.System, rules ...string) *model {
	t.Helper()
	w := &simnet.World{}
	for _, addr := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		w.Servers = append(w.Servers, simnet.Server{Addr: netip.MustParseAddr(addr)})
	}
	for _, line := range rules {
		f := strings.Fields(line)
		for i := range f[:5] {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		actions, err := simnet.ParseActions(f[5:])
		if err != nil {
			t.Fatal(err)
		}
		r := simnet.Rule{Name: f[0], Type: probe.QueryType(f[1]), Transport: probe.Transport(f[3]), Do: actions}
		if f[2] != "" {
			r.Server = netip.MustParseAddr("127.0.0." + f[2])
		}
		if f[4] != "" {
			var n int
			if _, err := fmt.Sscan(f[4], &n); err != nil {
				t.Fatal(err)
			}
			r.Nth = []int{n}
		}
		w.Rules = append(w.Rules, r)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	return &model{t: t, r: New(version, sys), net: simnet.New(context.Background(), w, simnet.Options{Seed: 7})}
}

// ask runs one call and returns what happened as words: each message sent as "A name server" with "/tcp" and "@time" where not UDP
// or not at once, then the result.
func (m *model) ask(req resolver.Request) string {
	m.t.Helper()
	m.events = nil
	if req.Family == "" {
		req.Family = resolver.Unspec
	}
	start := m.net.Now()
	res, err := m.r.Resolve(context.Background(), m.net, req, func(ev probe.Event) { m.events = append(m.events, ev) })
	if err != nil {
		m.t.Fatal(err)
	}
	checkEvents(m.t, req.Host, m.events, res)
	var words []string
	names := map[int]string{}
	for _, ev := range m.events {
		if ev.Kind == probe.KindAttempt {
			names[ev.Attempt.N] = ev.Attempt.Name
		}
		if ev.Kind != probe.KindSent {
			continue
		}
		server := strings.TrimSuffix(strings.TrimPrefix(ev.Sent.Server, "127.0.0."), ":53")
		word := fmt.Sprintf("%s %s %s", ev.Sent.Type, names[ev.Sent.Attempt], server)
		if ev.Sent.Transport == probe.TCP {
			word += "/tcp"
		}
		if at := ev.At.Duration().Round(10 * time.Millisecond); at > 0 {
			word += "@" + at.String()
		}
		words = append(words, word)
	}
	result := string(res.Outcome)
	if res.Code != "" {
		result = res.Code
	}
	for _, a := range res.Addresses {
		result += " " + a.String()
	}
	if res.Canonical != "" && req.CanonName {
		result += " (" + res.Canonical + ")"
	}
	if took := m.net.Now().Sub(start).Round(10 * time.Millisecond); took > 0 {
		result += " in " + took.String()
	}
	return strings.Join(append(words, result), "; ")
}

func (m *model) want(req resolver.Request, want string) {
	m.t.Helper()
	if got := m.ask(req); got != want {
		m.t.Errorf("%s, musl %s, %+v:\n got %s\nwant %s", m.t.Name(), m.r.version, req, got, want)
	}
}

func (m *model) notes() string {
	var all []string
	for _, ev := range m.events {
		if ev.Kind == probe.KindNote {
			all = append(all, ev.Note)
		}
	}
	return strings.Join(all, "\n")
}

// trace returns the last call as people see it.
func (m *model) trace() probe.Resolution {
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Libc: probe.Musl}})
	for _, ev := range m.events {
		ev.Resolution = "r"
		f.Add(ev)
	}
	return *f.Resolution("r")
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
