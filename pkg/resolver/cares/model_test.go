package cares

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
	net resolver.Network
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

// ask runs one call and returns what happened as words: each message sent as "A name server" with "/tcp" and "@seconds" where
// not UDP or not at once, then the result.
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
		if ev.At > 0 {
			word += "@" + ev.At.Duration().String()
		}
		words = append(words, word)
	}
	result := string(res.Outcome)
	if res.Code != "" {
		result = strings.TrimPrefix(res.Code, "ARES_")
	}
	for _, a := range res.Addresses {
		result += " " + a.String()
	}
	if took := m.net.Now().Sub(start); took > 0 {
		result += " in " + took.Round(time.Millisecond).String()
	}
	return strings.Join(append(words, result), "; ")
}

func (m *model) want(req resolver.Request, want string) {
	m.t.Helper()
	if got := m.ask(req); got != want {
		m.t.Errorf("%s %+v:\n got %s\nwant %s", m.t.Name(), req, got, want)
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

func host(name string) resolver.Request { return resolver.Request{Host: name} }

// settings is a System with this resolv.conf.
func settings(resolvConf string) resolver.System {
	nsswitch := "hosts: files dns\n"
	return resolver.System{ResolvConf: resolvConf, NSSwitch: &nsswitch, Hostname: "pod"}
}
