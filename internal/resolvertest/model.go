package resolvertest

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

// Model is a resolver on modelled servers.
type Model struct {
	// Net is where it runs. Over is what it sees of Net: tests can put something in between.
	Net  *simnet.Network
	Over resolver.Network
	// Events are those of the last call.
	Events []probe.Event

	t *testing.T
	r resolver.Resolver
	o Options
}

// Options are the ways in which the tests of the libcs tell a call differently.
type Options struct {
	Libc probe.Libc
	// Version is named where a call is not as wanted.
	Version string
	// Precision is what times are rounded to; 0 is a millisecond.
	Precision time.Duration
	// OutcomeAndCode tells a failure as "again (no such host)" instead of by its code alone: for codes that are texts.
	OutcomeAndCode bool
	// CodePrefix is left out of codes.
	CodePrefix string
	// Check is called after every call, beyond CheckEvents; nil checks nothing more.
	Check func(t *testing.T, what string, trace probe.Resolution)
}

// NewModel returns a model of r on this network.
func NewModel(t *testing.T, r resolver.Resolver, net *simnet.Network, o Options) *Model {
	if o.Precision == 0 {
		o.Precision = time.Millisecond
	}
	return &Model{Net: net, Over: net, t: t, r: r, o: o}
}

// Network is one of the servers 127.0.0.2 to .4. Rules are lines "name type server transport nth actions...", "-" where anything
// matches, and the server by the last number of its address.
func Network(t *testing.T, rules ...string) *simnet.Network {
	t.Helper()
	w := &simnet.World{}
	for _, addr := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		w.Servers = append(w.Servers, simnet.Server{Addr: netip.MustParseAddr(addr)})
	}
	for _, line := range rules {
		w.Rules = append(w.Rules, parseRule(t, line))
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	return simnet.New(context.Background(), w, simnet.Options{Seed: 7})
}

func parseRule(t *testing.T, line string) simnet.Rule {
	t.Helper()
	f := strings.Fields(line)
	if len(f) < 5 {
		t.Fatalf("rule %q has %d words, want at least 5", line, len(f))
	}
	for i := range f[:5] {
		if f[i] == "-" {
			f[i] = ""
		}
	}
	actions, err := simnet.ParseActions(f[5:])
	if err != nil {
		t.Fatalf("rule %q: %v", line, err)
	}
	r := simnet.Rule{Name: f[0], Type: probe.QueryType(f[1]), Transport: probe.Transport(f[3]), Do: actions}
	if f[2] != "" {
		r.Server = netip.MustParseAddr("127.0.0." + f[2])
	}
	if f[4] != "" {
		var n int
		if _, err := fmt.Sscan(f[4], &n); err != nil {
			t.Fatalf("rule %q: nth: %v", line, err)
		}
		r.Nth = []int{n}
	}
	return r
}

// Ask runs one call and returns what happened as words: each message sent as "A name server" with "/tcp" and "@time" where not
// UDP or not at once, then the result. A request without a family is for both.
func (m *Model) Ask(req resolver.Request) string {
	m.t.Helper()
	m.Events = nil
	if req.Family == "" {
		req.Family = resolver.Unspec
	}
	start := m.Net.Now()
	res, err := m.r.Resolve(context.Background(), m.Over, req, func(ev probe.Event) { m.Events = append(m.Events, ev) })
	if err != nil {
		m.t.Fatal(err)
	}
	trace := CheckEvents(m.t, m.o.Libc, req.Host, m.Events, res)
	if m.o.Check != nil {
		m.o.Check(m.t, req.Host, trace)
	}
	words := append(m.messages(), m.result(req, res))
	if took := m.Net.Now().Sub(start).Round(m.o.Precision); took > 0 {
		words[len(words)-1] += " in " + took.String()
	}
	return strings.Join(words, "; ")
}

// messages tells every message that was sent in the last call.
func (m *Model) messages() []string {
	var words []string
	names := map[int]string{}
	for _, ev := range m.Events {
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
		if at := ev.At.Duration().Round(m.o.Precision); at > 0 {
			word += "@" + at.String()
		}
		words = append(words, word)
	}
	return words
}

func (m *Model) result(req resolver.Request, res resolver.Result) string {
	text := string(res.Outcome)
	switch {
	case res.Code != "" && m.o.OutcomeAndCode:
		text += " (" + res.Code + ")"
	case res.Code != "":
		text = strings.TrimPrefix(res.Code, m.o.CodePrefix)
	}
	for _, a := range res.Addresses {
		text += " " + a.String()
	}
	if res.Canonical != "" && req.CanonName {
		text += " (" + res.Canonical + ")"
	}
	return text
}

// Want runs one call and fails the test where what happened is something else.
func (m *Model) Want(req resolver.Request, want string) {
	m.t.Helper()
	if got := m.Ask(req); got != want {
		m.t.Errorf("%s, %s %s, %+v:\n got %s\nwant %s", m.t.Name(), m.o.Libc, m.o.Version, req, got, want)
	}
}

// Notes are the notes of the last call, one a line.
func (m *Model) Notes() string {
	var all []string
	for _, ev := range m.Events {
		if ev.Kind == probe.KindNote {
			all = append(all, ev.Note)
		}
	}
	return strings.Join(all, "\n")
}

// Trace is the last call as people see it.
func (m *Model) Trace() probe.Resolution { return Trace(m.o.Libc, m.Events) }

// Outcomes are the attempts of the last call as "name outcome", the deciding one marked.
func (m *Model) Outcomes() string {
	var words []string
	for _, a := range m.Trace().Attempts {
		word := a.Name + " " + string(a.Outcome)
		if a.Decided {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// Settings is a System with this resolv.conf, and with an nsswitch.conf that asks files before DNS.
func Settings(resolvConf string) resolver.System {
	nsswitch := "hosts: files dns\n"
	return resolver.System{ResolvConf: resolvConf, NSSwitch: &nsswitch, Hostname: "pod"}
}
