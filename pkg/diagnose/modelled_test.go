package diagnose

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// modelled is a run with the real resolvers on modelled servers: what rules ask is asked there, too.
type modelled struct {
	libc    probe.Libc
	version string
	conf    string
	hosts   []string
	// count is how often each host is resolved, 0 means once.
	count int
	// servers are addresses, with "silent" or "silentTCP" or "noTCP" after them.
	servers []string
	// rules are "NAME TYPE SERVER TRANSPORT: ACTION ACTION", with * for what does not matter. After the transport "#1,4" is Nth, "~40"
	// Cycle, ">100" Over, and "even" or "odd" Port.
	rules []string
	facts map[string]string
	node  string
	// pairRace is that of simnet.World.
	pairRace float64
	// before, where set, changes the world ahead of resolution n, counted from 0.
	before func(n int, w *simnet.World)
}

const (
	clusterConf = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
	flatConf    = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:1\n"
)

// clusterFacts are those of a healthy cluster with two DNS pods, one on the pod's node.
func clusterFacts(more ...string) map[string]string {
	facts := map[string]string{
		"dnsService":   "10.96.0.10",
		"dnsEndpoints": "10.244.0.5 ready pod=coredns-a node=node-a; 10.244.1.5 ready pod=coredns-b node=node-b",
	}
	for i := 0; i+1 < len(more); i += 2 {
		facts[more[i]] = more[i+1]
	}
	return facts
}

// clusterServers are the addresses of clusterFacts.
func clusterServers() []string { return []string{"10.96.0.10", "10.244.0.5", "10.244.1.5"} }

// controlRule lets the cluster's DNS know the name that every cluster has.
const controlRule = "kubernetes.default.svc.cluster.local A * *: a:10.96.0.1"

func (m modelled) world(t *testing.T) simnet.World {
	t.Helper()
	w := simnet.World{Delay: time.Millisecond, Truncate: true, PairRace: m.pairRace}
	for _, text := range m.servers {
		words := strings.Fields(text)
		s := simnet.Server{Addr: netip.MustParseAddr(words[0])}
		for _, word := range words[1:] {
			s.Silent, s.SilentTCP, s.NoTCP = s.Silent || word == "silent", s.SilentTCP || word == "silentTCP", s.NoTCP || word == "noTCP"
		}
		w.Servers = append(w.Servers, s)
	}
	for _, text := range m.rules {
		w.Rules = append(w.Rules, parseRule(t, text))
	}
	return w
}

func parseRule(t *testing.T, text string) simnet.Rule {
	t.Helper()
	head, tail, _ := strings.Cut(text, ": ")
	words := strings.Fields(head)
	var r simnet.Rule
	if words[0] != "*" {
		r.Name = words[0]
	}
	if words[1] != "*" {
		r.Type = probe.QueryType(words[1])
	}
	if words[2] != "*" {
		r.Server = netip.MustParseAddr(words[2])
	}
	if words[3] != "*" {
		r.Transport = probe.Transport(words[3])
	}
	for _, word := range words[4:] {
		if word == simnet.PortEven || word == simnet.PortOdd {
			r.Port = word
			continue
		}
		for _, text := range strings.Split(word[1:], ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			switch word[0] {
			case '#':
				r.Nth = append(r.Nth, n)
			case '~':
				r.Cycle = n
			case '>':
				r.Over = n
			}
		}
	}
	var err error
	if r.Do, err = simnet.ParseActions(strings.Fields(tail)); err != nil {
		t.Fatal(err)
	}
	return r
}

// run carries m through as a run does: resolutions, then what rules ask, within its bounds. It returns what Diagnose is given, and the
// number of messages that the questions cost.
func (m modelled) run(t *testing.T) (in Input, asked int) {
	t.Helper()
	if m.libc == "" {
		m.libc, m.version = probe.Glibc, "2.36"
	}
	if m.conf == "" {
		m.conf = flatConf
	}
	nsswitch := "hosts: files dns\n"
	system := resolver.System{ResolvConf: m.conf, NSSwitch: &nsswitch, Hostname: "pod"}
	w, state := m.world(t), simnet.NewState(1)
	e := engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return system, nil },
		Resolver: probe.Resolver{Libc: m.libc, Version: m.version},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &w, simnet.Options{State: state}), nil
		},
		Source: probe.Measured,
	}
	in = Input{Hosts: m.hosts, Label: "abcdefgh", Run: probe.Run{Settings: engine.Settings(system, e.Resolver, "target"), Resolver: e.Resolver}}
	in.Run.Target = probe.Target{Pod: "app-1", Namespace: "shop", Node: m.node}
	if m.node == "" {
		in.Run.Target.Node = "node-a"
	}
	in.Run.Facts = map[string]probe.Fact{}
	for name, value := range m.facts {
		in.Run.Facts[name] = probe.Fact{Value: value}
	}
	n := 0
	resolve := func(ask probe.Ask) probe.Resolution {
		if m.before != nil {
			m.before(n, &w)
		}
		n++
		r, err := e.Resolve(t.Context(), fmt.Sprintf("r%d", n), ask, func(probe.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		in.Run.Resolutions = append(in.Run.Resolutions, r)
		return r
	}
	for i := range max(1, m.count) {
		for _, host := range m.hosts {
			purpose := probe.PurposeAsked
			if i > 0 {
				purpose = probe.PurposeRepeat
			}
			resolve(probe.Ask{Host: host, Purpose: purpose})
		}
	}
	for range 6 {
		wanted := FollowUps(in)
		if len(wanted) == 0 {
			break
		}
		for _, f := range wanted {
			for range f.Times {
				if ask := f.Ask; asked+max(1, ask.MostSent()) <= mostAsked {
					ask.MostMessages = mostAsked - asked
					asked += resolve(ask).TransmissionsSent
				}
			}
		}
	}
	return in, asked
}

// mostAsked is the bound of a run on messages that follow up.
const mostAsked = 60

// verdict is what a test expects of a modelled run.
type verdict struct {
	// first is the class of the first finding, empty for none at all.
	first string
	// says are texts that its findings must hold, never texts and classes that they must not.
	says, never []string
}

func (m modelled) expect(t *testing.T, want verdict) {
	t.Helper()
	in, asked := m.run(t)
	findings := Diagnose(in)
	first := ""
	if len(findings) > 0 {
		first = findings[0].Class
	}
	text := told(findings)
	if first != want.first {
		t.Errorf("the first finding is %q, want %q:\n%s", first, want.first, text)
	}
	for _, s := range want.says {
		if !strings.Contains(text, s) {
			t.Errorf("%q is not said:\n%s", s, text)
		}
	}
	for _, s := range want.never {
		if strings.Contains(text, s) {
			t.Errorf("%q is said:\n%s", s, text)
		}
	}
	for _, f := range findings {
		checkShape(t, f, in.Run)
		checkSafe(t, f)
	}
	if asked > mostAsked {
		t.Errorf("%d messages were asked", asked)
	}
	if left := FollowUps(in); len(left) > 0 && asked < mostAsked/2 {
		t.Errorf("rules still want to ask after 6 rounds: %+v", left)
	}
}

// libcs are the four, by the version that was observed.
var libcs = []modelled{{libc: probe.Glibc, version: "2.36"}, {libc: probe.Musl, version: "1.2.5"}, {libc: probe.Go, version: "1.26"}, {libc: probe.CAres, version: "1.34.8"}}

// on returns m followed through another libc.
func (m modelled) on(libc modelled) modelled {
	m.libc, m.version = libc.libc, libc.version
	return m
}

// with returns m with more rules before its own.
func (m modelled) with(rules ...string) modelled {
	m.rules = slices.Concat(rules, m.rules)
	return m
}
