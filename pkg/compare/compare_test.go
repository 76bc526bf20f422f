package compare_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/compare"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

const (
	ns1 = "nameserver 10.0.0.1\n"
	ns2 = ns1 + "nameserver 10.0.0.2\n"
	k8s = "search s1.test s2.test s3.test\n" + ns1 + "options ndots:5\n"
)

// rule makes a rule of words as "x.y.s1.test A drop".
func rule(t *testing.T, text string) simnet.Rule {
	t.Helper()
	words := strings.Fields(text)
	r := simnet.Rule{Name: words[0]}
	for _, w := range words[1:] {
		if w == "A" || w == "AAAA" {
			r.Type = probe.QueryType(w)
			continue
		}
		if server, ok := strings.CutPrefix(w, "@"); ok {
			r.Server = netip.MustParseAddr(server)
			continue
		}
		a, err := simnet.ParseAction(w)
		if err != nil {
			t.Fatal(err)
		}
		r.Do = append(r.Do, a)
	}
	return r
}

// scene is a host, what servers do, and what is expected of two libcs.
type scene struct {
	name, conf, host string
	rules            []string
	env              map[string]string
	hosts            string
	// a and b are libcs, with a version behind "-".
	a, b string
	// at is where they part, -1 for nowhere; why is a part of the sentence, "" for no reason.
	at  int
	why string
}

func run(t *testing.T, s scene, who string) probe.Resolution {
	t.Helper()
	w := simnet.World{Servers: []simnet.Server{{Addr: netip.MustParseAddr("10.0.0.1")}, {Addr: netip.MustParseAddr("10.0.0.2")}}, Truncate: true}
	for _, text := range s.rules {
		w.Rules = append(w.Rules, rule(t, text))
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	nsswitch := "hosts: files dns\n"
	sys := resolver.System{ResolvConf: s.conf, NSSwitch: &nsswitch, Hostname: "pod1.ns1.test", Env: s.env, Hosts: s.hosts}
	e := engine.Engine{
		System: func(context.Context) (resolver.System, error) { return sys, nil },
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &w, simnet.Options{Seed: 1}), nil
		},
		Source: probe.Predicted,
	}
	libc, version, _ := strings.Cut(who, "-")
	r, err := e.Resolve(t.Context(), who, probe.Ask{Host: s.host, Libc: probe.Libc(libc), LibcVersion: version}, func(probe.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhereAndWhyLibcsPart(t *testing.T) {
	long := "search " + strings.Repeat("d.test ", 40) + "last.test\n" + ns1
	for _, s := range []scene{
		{name: "nothing parts them", conf: k8s, host: "x.y", rules: []string{"x.y a:192.0.2.1"}, a: "glibc", b: "go", at: -1},
		{
			name: "never searches", conf: k8s[:len(k8s)-2] + "1\n", host: "x.y", rules: []string{"x.y.s2.test a:192.0.2.1"},
			a: "glibc", b: "musl", at: 2, why: "musl never searches once the name has ndots dots (1 dot, ndots is 1)",
		},
		{
			name: "never searches, the other way round", conf: k8s[:len(k8s)-2] + "1\n", host: "x.y", rules: []string{"x.y.s2.test a:192.0.2.1"},
			a: "musl", b: "cares", at: 2, why: "c-ares goes on with the search list",
		},
		{
			name: "stops at no data", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test nodata", "x.y a:192.0.2.1"},
			a: "glibc", b: "musl", at: 2, why: "musl stops at a name that has no address",
		},
		{name: "long line", conf: long, host: "x", a: "glibc", b: "musl", at: 1, why: "musl ignores lines of more than 254 characters, and the search line has 296"},
		{name: "host name", conf: ns1, host: "x", a: "glibc", b: "musl", at: 1, why: "ns1.test (the domain of the machine's own host name)"},
		{name: "environment", conf: k8s, host: "x", env: map[string]string{"LOCALDOMAIN": "l1.test"}, a: "glibc", b: "go", at: 1, why: "LOCALDOMAIN in the environment"},
		{name: "ndots in the environment", conf: k8s, host: "x.y", env: map[string]string{"RES_OPTIONS": "ndots:1"}, a: "glibc", b: "musl", at: 1, why: "they read ndots differently"},
		{name: "servers", conf: "nameserver 10.2\nnameserver 10.0.0.1\n", host: "x.test.", rules: []string{"x.test a:192.0.2.1"}, a: "glibc", b: "go", at: 1, why: "nameserver lines differently"},
		{
			name: "leaves the search list", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test drop", "x.y.s2.test a:192.0.2.1"},
			a: "glibc", b: "go", at: 2, why: "glibc leaves the search list after a timeout and tries the name itself; Go goes on",
		},
		{
			name: "leaves after refused", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test refused", "x.y a:192.0.2.1"},
			a: "glibc", b: "go", at: 2, why: "glibc leaves the search list after REFUSED",
		},
		{
			name: "ends after servfail", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test servfail", "x.y a:192.0.2.1"},
			a: "go", b: "cares", at: 2, why: "c-ares ends the lookup after a timeout or an error",
		},
		{
			name: "musl ends after servfail", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test servfail", "x.y a:192.0.2.1"},
			a: "glibc", b: "musl", at: 2, why: "musl ends the lookup when a name gets no usable reply",
		},
		{
			name: "lost AAAA", conf: ns1, host: "x.test.", rules: []string{"x.test AAAA drop", "x.test a:192.0.2.1"},
			a: "glibc", b: "musl", at: 1, why: "musl needs both halves of the pair: it has the A answer, gets none to AAAA within 5.0 s",
		},
		{
			name: "lost AAAA, old musl", conf: ns1, host: "x.test.", rules: []string{"x.test AAAA drop", "x.test a:192.0.2.1"},
			a: "glibc", b: "musl-1.1.24", at: 1, why: "musl makes do with A after 5.0 s",
		},
		{
			name: "lost A", conf: ns1, host: "x.test.", rules: []string{"x.test A drop", "x.test aaaa:2001:db8::1"},
			a: "glibc", b: "go", at: 1, why: "while A stays unanswered it never gets to AAAA",
		},
		{
			name: "AAAA nonexistent", conf: k8s, host: "x.y", rules: []string{"x.y.s1.test AAAA nx", "x.y.s1.test a:192.0.2.1"},
			a: "glibc", b: "musl", at: 1, why: "musl believes the latter",
		},
		{
			name: "all at once", conf: ns2, host: "x.test.", rules: []string{"x.test @10.0.0.1 delay:900ms a:192.0.2.1", "x.test a:192.0.2.1"},
			a: "glibc", b: "musl", at: 1, why: "musl asks all 2 servers at once",
		},
		{name: "no-aaaa", conf: ns1 + "options no-aaaa\n", host: "x.test.", rules: []string{"x.test a:192.0.2.1"}, a: "glibc", b: "go", at: 1, why: "no-aaaa"},
		{name: "use-vc", conf: ns1 + "options use-vc\n", host: "x.test.", rules: []string{"x.test a:192.0.2.1"}, a: "glibc", b: "musl", at: 1, why: "use-vc"},
		{
			name: "content with half", conf: ns1, host: "x.test.", rules: []string{"x.test AAAA servfail", "x.test a:192.0.2.1"},
			a: "glibc", b: "go", at: 1, why: "glibc is content when one half of the pair is answered (A)",
		},
		{name: "silence", conf: ns1, host: "x.test.", rules: []string{"* drop"}, a: "glibc", b: "musl", at: 1, why: "musl shares one timeout among all its tries"},
		{name: "insists", conf: ns1, host: "x.test.", rules: []string{"* servfail"}, a: "glibc", b: "musl", at: 1, why: "musl asks again after SERVFAIL until its time is over (5.0 s)"},
		{name: "late", conf: ns1 + "options timeout:1\n", host: "x.test.", rules: []string{"x.test delay:1200ms a:192.0.2.1"}, a: "glibc", b: "go", at: 1, why: "replies come later than the timeout"},
		{
			name: "too slow for what c-ares has learnt", conf: k8s, host: "x.y", rules: []string{"x.y delay:2s a:192.0.2.1"},
			a: "glibc", b: "cares", at: 4, why: "c-ares waits 250 ms at first, which it learns",
		},
		{
			name: "dead server first", conf: ns2, host: "x.test.", rules: []string{"x.test @10.0.0.1 drop", "x.test a:192.0.2.1"},
			a: "glibc", b: "cares", at: 1, why: "glibc waits 5.0 s for it, c-ares waits 2.0 s",
		},
		{name: "root domain", conf: "search . s.test\n" + ns1, host: "x", rules: []string{"x.s.test a:192.0.2.1"}, a: "glibc", b: "musl-1.2.3", at: 1, why: "malformed"},
		{name: "attempts:0", conf: ns1 + "options attempts:0\n", host: "x.test.", rules: []string{"x.test a:192.0.2.1"}, a: "glibc", b: "go", at: 1, why: "attempts:0"},
		{name: "no host name", conf: ns1, host: "a b.test", a: "glibc", b: "musl", at: 1, why: "glibc does not take this for the name of a host"},
		{name: "case in the hosts file", conf: ns1, host: "WEB", hosts: "10.1.1.1 web\n", a: "glibc", b: "musl", at: 1, why: "glibc finds the host in its hosts file"},
	} {
		t.Run(s.name, func(t *testing.T) {
			a, b := run(t, s, s.a), run(t, s, s.b)
			c := compare.Libcs([]probe.Resolution{a, b}, probe.Settings{Raw: s.conf, Env: s.env}, "pod1.ns1.test")
			got := c.Libcs[1]
			if s.at < 0 {
				if !got.Same || got.PartsAt != 0 || got.What != "" || got.Why != "" {
					t.Errorf("they part: %+v", got)
				}
				return
			}
			if got.Same || got.PartsAt != s.at || got.What == "" || !strings.Contains(got.Why, s.why) {
				t.Errorf("parts at %d: %s\nwhy %q, want %d and %q", got.PartsAt, got.What, got.Why, s.at, s.why)
			}
		})
	}
}
