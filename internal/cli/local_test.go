package cli

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/dnstest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// loopback is a machine whose name server is a scripted one on loopback.
func loopback(t *testing.T, resolvConf string) (machine, *dnstest.Server) {
	t.Helper()
	w := simnet.World{
		Servers: []simnet.Server{{Addr: netip.MustParseAddr("127.0.0.53")}},
		Rules:   []simnet.Rule{existing("x.y", netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"))},
	}
	server, err := dnstest.Start(w, dnstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shut)
	place := target.Machine()
	place.Environ = nil
	return machine{
		place: place, in: strings.NewReader(""), network: dnsnet.Options{Port: server.Port()},
		settings: settingsFlags{
			resolvConf: write(t, "resolv.conf", resolvConf), hosts: write(t, "hosts", ""), nsswitch: write(t, "nsswitch.conf", "hosts: files dns\n"),
		},
	}, server
}

func TestLocalBareSendsExactlyTheWalk(t *testing.T) {
	m, server := loopback(t, "nameserver 127.0.0.53\nsearch a.test b.test\noptions ndots:5\n")
	run, err := collect(t.Context(), m.source(asking{hosts: []string{"x.y"}, libc: probe.Glibc, libcVersion: "2.36", bare: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Resolutions[0]
	if r.Outcome != probe.OK || r.Source != probe.Measured || run.Target.Via != "local" || run.Settings.Source != "file" {
		t.Errorf("%s %s %s %s", r.Outcome, r.Source, run.Target.Via, run.Settings.Source)
	}
	var asked []string
	for _, q := range server.Journal() {
		asked = append(asked, string(q.Query.Type)+" "+q.Query.Name)
	}
	want := []string{"A x.y.a.test.", "AAAA x.y.a.test.", "A x.y.b.test.", "AAAA x.y.b.test.", "A x.y.", "AAAA x.y."}
	if !slices.Equal(asked, want) {
		t.Errorf("sent %v, want %v", asked, want)
	}
}

func TestLocalTriesVariants(t *testing.T) {
	m, server := loopback(t, "nameserver 127.0.0.53\nsearch a.test b.test\noptions ndots:5\n")
	run, err := collect(t.Context(), m.source(asking{hosts: []string{"x.y"}, libc: probe.Glibc, libcVersion: "2.36"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(run.WhatIf, func(row probe.WhatIf) bool { return row.Variant == "ndots:1" })
	if i < 0 || run.WhatIf[i].QueriesSent != 2 || run.WhatIf[i].Source != probe.Measured {
		t.Errorf("what if: %+v; problems %v", run.WhatIf, run.Problems)
	}
	if len(server.Journal()) <= 6 {
		t.Errorf("%d queries: nothing was tried", len(server.Journal()))
	}
	if run.Patch != nil {
		t.Errorf("a patch for a machine: %+v", run.Patch)
	}
}

func TestLocalFollowsTheFlags(t *testing.T) {
	detected := probe.Resolver{Libc: probe.Glibc, Version: "2.41", Build: "2.41-1", Source: probe.SourceDetected, Why: "read"}
	for _, c := range []struct {
		name string
		a    asking
		from probe.Resolver
		want probe.Resolver
	}{
		{"detected", asking{}, detected, detected},
		{
			"same libc",
			asking{libc: probe.Glibc},
			detected,
			probe.Resolver{Libc: probe.Glibc, Version: "2.41", Build: "2.41-1", Source: probe.SourceFlag, Why: "--libc says so; the version was detected: read"},
		},
		{
			"version",
			asking{libc: probe.Glibc, libcVersion: "2.31"},
			detected,
			probe.Resolver{Libc: probe.Glibc, Version: "2.31", Source: probe.SourceFlag, Why: "--libc says so"},
		},
	} {
		if got := chosen(c.a, c.from); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	musl := probe.Resolver{Libc: probe.Musl, Version: "1.2.5", Source: probe.SourceDetected}
	if got := chosen(asking{}, musl); got != musl {
		t.Errorf("musl: %+v", got)
	}
	if got := chosen(asking{}, probe.Resolver{Libc: "bionic"}); got.Source != probe.SourceAssumed {
		t.Errorf("a libc that cannot be followed: %+v", got)
	}
}

func TestLocalRefuses(t *testing.T) {
	for _, args := range [][]string{{"local"}, {"local", "x y"}, {"local", "x", "--type", "MX"}} {
		if code, _, errOut := command(t, "", args...); code != ExitUsage || !strings.HasPrefix(errOut, "error: ") {
			t.Errorf("%v: exit code %d\n%s", args, code, errOut)
		}
	}
}
