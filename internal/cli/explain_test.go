package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const podResolvConf = "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 198.19.0.10\noptions ndots:5\n"

func walkedNames(r probe.Resolution) string {
	var list []string
	for _, a := range r.Attempts {
		list = append(list, a.Name)
	}
	return strings.Join(list, " ")
}

func TestExplainWalksWithoutAPacket(t *testing.T) {
	run := runOf(t, ExitOK, podResolvConf, "explain", "api.stripe.com", "--resolv-conf", "-", "--bare")
	if len(run.Resolutions) != 1 {
		t.Fatalf("%d resolutions", len(run.Resolutions))
	}
	r := run.Resolutions[0]
	want := "api.stripe.com.shop.svc.cluster.local. api.stripe.com.svc.cluster.local. api.stripe.com.cluster.local. api.stripe.com."
	if walkedNames(r) != want || r.Source != probe.Predicted || len(r.Addresses) != 2 {
		t.Errorf("%s (%s, %v)", walkedNames(r), r.Source, r.Addresses)
	}
	if run.Settings.Source != "file" || run.Resolver.Source != probe.SourceAssumed || run.Target.Pod != "" || run.Patch != nil {
		t.Errorf("%+v %+v %+v", run.Settings, run.Resolver, run.Target)
	}
}

func TestExplainTakesALibcWithItsVersion(t *testing.T) {
	for _, libc := range []string{"glibc-2.31", "glibc:2.31"} {
		run := runOf(t, ExitOK, podResolvConf, "explain", "x", "--resolv-conf", "-", "--libc", libc, "--bare")
		if r := run.Resolver; r.Version != "2.31" || r.Source != probe.SourceFlag {
			t.Errorf("--libc %s: %+v", libc, r)
		}
	}
}

func TestExplainNamesThatExist(t *testing.T) {
	file := write(t, "resolv.conf", podResolvConf)
	run := runOf(t, ExitOK, "", "explain", "ledger.core", "--resolv-conf", file, "--exists", "ledger.core.svc.cluster.local=198.19.40.9,2001:db8::9", "--bare")
	if r := run.Resolutions[0]; walkedNames(r) != "ledger.core.shop.svc.cluster.local. ledger.core.svc.cluster.local." || len(r.Addresses) != 2 {
		t.Errorf("%s %v", walkedNames(r), r.Addresses)
	}
	// With --exists, nothing else exists.
	run = runOf(t, ExitUnresolved, "", "explain", "api.stripe.com", "--resolv-conf", file, "--exists", "x=192.0.2.1", "--bare")
	if r := run.Resolutions[0]; r.Outcome != probe.NXDomain {
		t.Errorf("%s", r.Outcome)
	}
}

func TestExplainSpeaksOfSettingsOnly(t *testing.T) {
	run := runOf(t, ExitOK, podResolvConf, "explain", "api.stripe.com", "--resolv-conf", "-")
	if got := classes(run); got != "search-walk" {
		t.Errorf("findings %q; the modelled servers are no news", got)
	}
	for _, row := range run.WhatIf {
		if row.Source != probe.Predicted {
			t.Errorf("%s is %s, but no packet was sent", row.Variant, row.Source)
		}
	}
}

func TestExplainWithAScenario(t *testing.T) {
	run := runOf(t, ExitOK, "", "explain", "ledger", "--scenario", "classic", "--bare")
	if r := run.Resolutions[0]; r.Addresses[0] != "198.19.40.7" || run.Settings.Ndots != 5 {
		t.Errorf("%v, ndots %d", r.Addresses, run.Settings.Ndots)
	}
	run = runOf(t, ExitOK, "nameserver 198.19.0.10\nsearch core.svc.cluster.local\n", "explain", "ledger", "--scenario", "classic", "--resolv-conf", "-", "--bare")
	if r := run.Resolutions[0]; r.Addresses[0] != "198.19.40.9" {
		t.Errorf("the file does not replace the scenario's settings: %v", r.Addresses)
	}
}

func TestExplainReadsOtherFiles(t *testing.T) {
	hosts, nsswitch := write(t, "hosts", "10.1.1.1 web\n"), write(t, "nsswitch.conf", "hosts: dns\n")
	run := runOf(t, ExitOK, podResolvConf, "explain", "web", "--resolv-conf", "-", "--hosts-file", hosts, "--bare")
	if r := run.Resolutions[0]; r.AnsweredBy != "hosts" || len(r.Attempts) != 0 {
		t.Errorf("%+v", r)
	}
	run = runOf(t, ExitOK, podResolvConf, "explain", "web", "--resolv-conf", "-", "--hosts-file", hosts, "--nsswitch", nsswitch, "--bare")
	if r := run.Resolutions[0]; r.AnsweredBy != "dns" {
		t.Errorf("nsswitch.conf says dns only, yet it was answered by %s", r.AnsweredBy)
	}
}

func TestExplainRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"explain"},
		{"explain", "x"},
		{"explain", "x", "--resolv-conf", "-", "--exists", "x"},
		{"explain", "x", "--resolv-conf", "-", "--exists", "x=nowhere"},
		{"explain", "x", "--scenario", "nope"},
		{"explain", "x", "--resolv-conf", "-", "--libc", "bsd"},
		{"explain", "http://x/y", "--resolv-conf", "-"},
	} {
		if code, _, errOut := command(t, podResolvConf, args...); code != ExitUsage || !strings.HasPrefix(errOut, "error: ") {
			t.Errorf("%v: exit code %d\n%s", args, code, errOut)
		}
	}
	if code, _, errOut := command(t, "", "explain", "x", "--resolv-conf", "/does/not/exist"); code != ExitFailed || !strings.Contains(errOut, "/does/not/exist") {
		t.Errorf("a missing file: exit code %d\n%s", code, errOut)
	}
	if code, _, _ := command(t, strings.Repeat("#\n", maxSettingsFile), "explain", "x", "--resolv-conf", "-"); code != ExitFailed {
		t.Errorf("a huge file: exit code %d", code)
	}
}
