package main

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/dnstest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// here is an engine whose target's files are in dir and whose name server is a scripted one on loopback.
func here(t *testing.T, dir string) *engineHere {
	t.Helper()
	server, err := dnstest.Start(simnet.World{
		Servers: []simnet.Server{{Addr: netip.MustParseAddr("127.0.0.53")}},
		Rules:   []simnet.Rule{{Name: "api.stripe.com.", Do: []simnet.Action{{Kind: simnet.ActA, Addr: netip.MustParseAddr("192.0.2.7")}}}},
	}, dnstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shut)
	place := target.Machine()
	place.Own, place.Environ = dir, nil
	return &engineHere{place: place, network: func(ctx context.Context) (resolver.Network, error) {
		return dnsnet.New(ctx, dnsnet.Options{Port: server.Port()})
	}}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const classic = "nameserver 127.0.0.53\nsearch shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal\noptions ndots:5\n"

func decode(t *testing.T, text string) probe.Run {
	t.Helper()
	var fold probe.Fold
	for d := probe.NewDecoder(strings.NewReader(text)); ; {
		ev, err := d.Decode()
		if err != nil {
			return fold.Run()
		}
		fold.Add(ev)
	}
}

func TestOnceWalksTheSearchListOfTheTarget(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "etc/resolv.conf"), classic)
	write(t, filepath.Join(dir, "etc/hosts"), "192.0.2.9 ledger\n")
	var out bytes.Buffer
	if err := stream(t.Context(), here(t, dir), []string{"api.stripe.com", "ledger"}, &out); err != nil {
		t.Fatal(err)
	}
	run := decode(t, out.String())
	if run.Settings.Raw != classic || run.Settings.Ndots != 5 || run.Settings.Source != target.SourceMachine {
		t.Errorf("settings %+v", run.Settings)
	}
	if len(run.Resolutions) != 2 {
		t.Fatalf("%d resolutions in %s", len(run.Resolutions), out.String())
	}
	api, ledger := run.Resolutions[0], run.Resolutions[1]
	if api.Outcome != probe.OK || len(api.Attempts) != 5 || api.QueriesSent != 10 || api.QueriesWasted != 8 || api.Source != probe.Measured {
		t.Errorf("api.stripe.com: %s, %d attempts, %d queries, %d wasted, %s", api.Outcome, len(api.Attempts), api.QueriesSent, api.QueriesWasted, api.Source)
	}
	if ledger.AnsweredBy != "hosts" || ledger.QueriesSent != 0 {
		t.Errorf("ledger: answered by %q with %d queries", ledger.AnsweredBy, ledger.QueriesSent)
	}
}

func TestEveryAskSeesTheSettingsOfItsMoment(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "etc/resolv.conf")
	write(t, file, classic)
	e := here(t, dir)
	var fold probe.Fold
	ask := func(id string) probe.Resolution {
		if err := e.Resolve(t.Context(), id, probe.Ask{Host: "api.stripe.com"}, fold.Add); err != nil {
			t.Fatal(err)
		}
		return *fold.Resolution(id)
	}
	if got := ask("before"); len(got.Attempts) != 5 {
		t.Errorf("before: %d attempts", len(got.Attempts))
	}
	write(t, file, strings.Replace(classic, "ndots:5", "ndots:2", 1))
	if got := ask("after"); len(got.Attempts) != 1 {
		t.Errorf("after: %d attempts", len(got.Attempts))
	}
}
