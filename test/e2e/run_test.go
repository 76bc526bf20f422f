//go:build e2e

package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// finding returns the finding of a class, or nil.
func finding(run probe.Run, class string) *probe.Finding {
	for i := range run.Findings {
		if run.Findings[i].Class == class {
			return &run.Findings[i]
		}
	}
	return nil
}

func classes(run probe.Run) []string {
	var out []string
	for _, f := range run.Findings {
		out = append(out, f.Class)
	}
	return out
}

// checkTruth checks that the run read the target's own files and libc.
func checkTruth(t *testing.T, run probe.Run) {
	t.Helper()
	if run.Settings.Source != "target" {
		t.Errorf("settings are those of %q: %s", run.Settings.Source, run.Settings.Why)
	}
	if r := run.Resolver; r.Libc != probe.Glibc || !regexp.MustCompile(`^2\.\d+$`).MatchString(r.Version) || r.Source != probe.SourceDetected {
		t.Errorf("resolver %+v", r)
	}
}

// checkWalk checks the classic five attempts.
func checkWalk(t *testing.T, run probe.Run, namespace string) {
	t.Helper()
	if len(run.Resolutions) == 0 {
		t.Fatalf("no resolutions; problems: %q", run.Problems)
	}
	r := run.Resolutions[0]
	var names []string
	for _, a := range r.Attempts {
		names = append(names, a.Name)
	}
	want := []string{
		"api.stripe.com." + namespace + ".svc.cluster.local.", "api.stripe.com.svc.cluster.local.", "api.stripe.com.cluster.local.",
		"api.stripe.com.ec2.internal.", "api.stripe.com.",
	}
	if !slices.Equal(names, want) || r.QueriesSent != 10 || r.QueriesWasted != 8 || r.Outcome != probe.OK {
		t.Errorf("attempts %q, %d queries, %d wasted, outcome %s", names, r.QueriesSent, r.QueriesWasted, r.Outcome)
	}
}

func TestTheClassicIncident(t *testing.T) {
	// A pod that nobody has looked into yet: the first run is what adds the container.
	kubectl(t, "-n", "shop", "rollout", "restart", "deployment/payments")
	kubectl(t, "-n", "shop", "rollout", "status", "deployment/payments", "--timeout=120s")
	r := dnsprobe(t, "-n", "shop", "deploy/payments", "api.stripe.com", "--also", "ledger", "--also", "ledger.core", "-o", "ndjson")
	if r.code != 0 || !strings.Contains(r.stderr, "adding ephemeral container dnsprobe-") {
		t.Fatalf("code %d, stderr %s", r.code, r.stderr)
	}
	dec := probe.NewDecoder(strings.NewReader(r.stdout))
	var fold probe.Fold
	for {
		ev, err := dec.Decode()
		if err != nil {
			break
		}
		fold.Add(ev)
	}
	checkClassic(t, fold.Run())
	t.Logf("the first run took %s", r.took)

	// The same again as JSON, now in the container that is there.
	checkClassic(t, probed(t, "-n", "shop", "deploy/payments", "api.stripe.com", "--also", "ledger", "--also", "ledger.core"))
}

func checkClassic(t *testing.T, run probe.Run) {
	t.Helper()
	checkTruth(t, run)
	checkWalk(t, run, "shop")
	raw := run.Settings.Raw
	for _, line := range []string{"search shop.svc.cluster.local svc.cluster.local cluster.local ec2.internal\n", "options ndots:5\n", "nameserver "} {
		if !strings.Contains(raw, line) {
			t.Errorf("%q is not in the kubelet's resolv.conf:\n%s", line, raw)
		}
	}
	target := run.Target
	if target.Via != "ephemeral" || target.Node == "" || target.Owner == nil || target.Owner.Kind != "Deployment" || target.Owner.Name != "payments" || target.Chosen == "" {
		t.Errorf("target %+v", target)
	}
	if finding(run, "search-walk") == nil {
		t.Errorf("findings %q, want search-walk", classes(run))
	}
	if len(run.WhatIf) == 0 || !slices.ContainsFunc(run.WhatIf, func(w probe.WhatIf) bool { return w.Source == probe.Measured }) {
		t.Errorf("what-if %+v, want measured ones", run.WhatIf)
	}
	if run.Facts["dnsService"].Value == "" || run.Facts["dnsPolicy"].Value != "ClusterFirst" {
		t.Errorf("facts %+v", run.Facts)
	}
	p := run.Patch
	if p == nil || p.Kind != "Deployment" || p.Name != "payments" || p.Namespace != "shop" {
		t.Fatalf("patch %+v; problems %q", p, run.Problems)
	}
	for _, name := range []string{"api.stripe.com", "ledger", "ledger.core"} {
		i := slices.IndexFunc(p.Names, func(n probe.PatchName) bool { return n.Name == name })
		if i < 0 || !p.Names[i].Same || p.Names[i].After.Outcome != probe.OK || p.Names[i].After.Source != probe.Measured {
			t.Errorf("the patch was checked on %+v, want %s among them, the same and measured", p.Names, name)
		}
	}
	if len(run.Problems) > 0 {
		t.Errorf("problems %q", run.Problems)
	}
}

func TestThePrintedPatchDoesWhatItSays(t *testing.T) {
	before := probed(t, "-n", "shop", "deploy/payments", "api.stripe.com", "--also", "ledger", "--also", "ledger.core")
	if before.Patch == nil || before.Patch.Command == "" || before.Patch.Undo == "" {
		t.Fatalf("patch %+v", before.Patch)
	}
	t.Cleanup(func() {
		if err := freshWorkload("shop deployment payments"); err != nil {
			t.Error(err)
		}
	})
	sh := func(line string) {
		t.Helper()
		if r := run(t.Context(), "sh", "-c", line); r.code != 0 {
			t.Fatalf("%s: %s", line, r.stderr)
		}
		kubectl(t, "-n", "shop", "rollout", "status", "deployment/payments", "--timeout=120s")
	}
	sh(before.Patch.Command)
	after := probed(t, "-n", "shop", "deploy/payments", "api.stripe.com")
	sh(before.Patch.Undo)
	if after.Target.Pod == before.Target.Pod {
		t.Fatalf("still pod %s", after.Target.Pod)
	}
	if r := after.Resolutions[0]; len(r.Attempts) != 1 || r.QueriesSent != 2 || r.Outcome != probe.OK {
		t.Errorf("after the patch: %d attempts, %d queries, %s", len(r.Attempts), r.QueriesSent, r.Outcome)
	}
	checkWalk(t, probed(t, "-n", "shop", "deploy/payments", "api.stripe.com"), "shop")
}

func TestAPatchCarriesTheOptionsThatAreThere(t *testing.T) {
	run := probed(t, "-n", "shop", "sts/orders", "www.example.com")
	if run.Patch == nil || run.Patch.Kind != "StatefulSet" {
		t.Fatalf("patch %+v, findings %q, problems %q", run.Patch, classes(run), run.Problems)
	}
	for _, word := range []string{"timeout", "edns0", "ndots"} {
		if !strings.Contains(run.Patch.YAML, word) {
			t.Errorf("the patch does not carry %s:\n%s", word, run.Patch.YAML)
		}
	}
	if run.Settings.TimeoutSeconds != 2 || !slices.Contains(run.Settings.Options, "edns0") {
		t.Errorf("settings %+v", run.Settings)
	}
}

func TestARestrictedNamespace(t *testing.T) {
	run := probed(t, "-n", "restricted", "deploy/payments", "api.stripe.com")
	checkTruth(t, run)
	checkWalk(t, run, "restricted")
}

func TestATargetWithoutPrivileges(t *testing.T) {
	pod := podOf(t, "shop", "payments-uid1000")
	run := probed(t, "-n", "shop", "pod/"+pod, "api.stripe.com")
	checkTruth(t, run)
	checkWalk(t, run, "shop")
	uid := kubectl(t, "-n", "shop", "get", "pod", pod, "-o", "jsonpath={.spec.ephemeralContainers[0].securityContext.runAsUser}")
	if uid != "1000" {
		t.Errorf("the probe runs as uid %s, the target as 1000", uid)
	}
}

func TestTargetsOfOtherKinds(t *testing.T) {
	for _, target := range []string{"svc/ledger", "ds/metrics-agent", "deployments.apps/cart"} {
		run := probed(t, "-n", "shop", target, "ledger", "--bare")
		if run.Target.Chosen == "" || len(run.Resolutions) != 1 || run.Resolutions[0].Outcome != probe.OK {
			t.Errorf("%s: target %+v, resolutions %+v", target, run.Target, run.Resolutions)
		}
	}
}

func TestAHostThatDoesNotResolve(t *testing.T) {
	r := dnsprobe(t, "-n", "shop", "deploy/payments", "no-such-name.example.com", "-o", "text")
	if r.code != 3 || !strings.Contains(r.stdout, "no-such-name.example.com") {
		t.Errorf("code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

func TestASecondRunAddsNoSecondContainer(t *testing.T) {
	pod := podOf(t, "restricted", "payments")
	probed(t, "-n", "restricted", "pod/"+pod, "api.stripe.com", "--bare")
	before := probeContainers(t, "restricted", pod)
	r := dnsprobe(t, "-n", "restricted", pod, "api.stripe.com", "--bare", "-o", "text")
	if after := probeContainers(t, "restricted", pod); r.code != 0 || len(after) != len(before) || len(before) == 0 {
		t.Errorf("code %d, containers before %q, after %q\n%s", r.code, before, after, r.stderr)
	}
	if !strings.Contains(r.stderr, "using the probe's container "+before[len(before)-1]) {
		t.Errorf("stderr %q", r.stderr)
	}
}
