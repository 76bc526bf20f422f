//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
)

// inUse are the arguments of a patch of Deployment payments, with the names that must keep working.
var inUse = []string{"-n", "shop", "deploy/payments", "api.stripe.com", "--also", "ledger", "--also", "ledger.core"}

func patchOf(args ...string) []string { return append(append([]string{"patch"}, inUse...), args...) }

// inTheEnd runs kubectl when the context of the test has ended.
func inTheEnd(t *testing.T, args ...string) {
	t.Helper()
	if r := run(context.Background(), "kubectl", args...); r.code != 0 {
		t.Errorf("kubectl %s: code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
}

// queriesOf resolves a host in a pod of Deployment payments, and nothing else, and returns how many queries that took.
func queriesOf(t *testing.T, host string) int {
	t.Helper()
	run := probed(t, "-n", "shop", "deploy/payments", host, "--bare")
	if len(run.Resolutions) != 1 {
		t.Fatalf("%d resolutions, problems %q", len(run.Resolutions), run.Problems)
	}
	return run.Resolutions[0].QueriesSent
}

// TestAPatchIsAppliedAndTakenBack changes Deployment payments and takes the change back with the command that it was told.
func TestAPatchIsAppliedAndTakenBack(t *testing.T) {
	if n := queriesOf(t, "api.stripe.com"); n != 10 {
		t.Fatalf("%d queries before, want 10", n)
	}
	// Whatever has failed, the other tests need the Deployment as it was.
	t.Cleanup(func() {
		inTheEnd(t, "-n", "shop", "patch", "deployment", "payments", "--type", "strategic", "-p", `{"spec":{"template":{"spec":{"dnsConfig":null}}}}`)
		inTheEnd(t, "-n", "shop", "rollout", "status", "deployment/payments", "--timeout=120s")
	})

	tried := dnsprobe(t, patchOf("--dry-run=server")...)
	if tried.code != 0 || !strings.Contains(tried.stdout, "+         - name: ndots") || !strings.Contains(tried.stdout, "Nothing was changed") {
		t.Fatalf("dry run: code %d\n%s%s", tried.code, tried.stdout, tried.stderr)
	}
	unasked := dnsprobe(t, patchOf("--apply")...)
	if unasked.code != 2 || !strings.Contains(unasked.stderr, "stdin is no terminal") {
		t.Errorf("without a terminal: code %d\n%s", unasked.code, unasked.stderr)
	}
	if got := kubectl(t, "-n", "shop", "get", "deployment", "payments", "-o", "jsonpath={.spec.template.spec.dnsConfig}"); got != "" {
		t.Fatalf("changed before anybody said yes: %s", got)
	}

	r := dnsprobe(t, patchOf("--apply", "--yes")...)
	if r.code != 0 {
		t.Fatalf("apply: code %d after %s\n%s%s", r.code, r.took, r.stdout, r.stderr)
	}
	const undo = "kubectl -n shop rollout undo deployment/payments"
	for _, want := range []string{"api.stripe.com  10 to 2 queries, ", "ledger  2 to 2 queries, ", "ledger.core  4 to 4 queries, ", "Take it back: " + undo} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, r.stdout)
		}
	}
	if got := kubectl(t, "-n", "shop", "get", "pod", podOf(t, "shop", "payments"), "-o", "jsonpath={.spec.dnsConfig.options[0].value}"); got != "2" {
		t.Errorf("the new pod has ndots %q", got)
	}
	if n := queriesOf(t, "api.stripe.com"); n != 2 {
		t.Errorf("%d queries after, want 2", n)
	}
	t.Logf("find, dry run, change, rollout and a look at the new pod: %s", r.took)

	kubectl(t, strings.Fields(undo)[1:]...)
	kubectl(t, "-n", "shop", "rollout", "status", "deployment/payments", "--timeout=120s")
	if n := queriesOf(t, "api.stripe.com"); n != 10 {
		t.Errorf("%d queries after the undo, want 10", n)
	}
}

// TestAPatchWithoutTheRightToPatch prints the patch with what is missing.
func TestAPatchWithoutTheRightToPatch(t *testing.T) {
	const user = "prober"
	for _, args := range [][]string{
		{"create", "role", "e2e-probe", "--verb=get,list,watch", "--resource=pods,services,deployments.apps,replicasets.apps"},
		{"create", "role", "e2e-enter", "--verb=create,get", "--resource=pods/exec"},
		{"create", "role", "e2e-add", "--verb=patch", "--resource=pods/ephemeralcontainers"},
		{"create", "rolebinding", "e2e-probe", "--role=e2e-probe", "--user=" + user},
		{"create", "rolebinding", "e2e-enter", "--role=e2e-enter", "--user=" + user},
		{"create", "rolebinding", "e2e-add", "--role=e2e-add", "--user=" + user},
	} {
		kubectl(t, append([]string{"-n", "shop"}, args...)...)
		t.Cleanup(func() { inTheEnd(t, "-n", "shop", "delete", args[1], args[2]) })
	}
	r := dnsprobe(t, patchOf("--apply", "--yes", "--as", user)...)
	if r.code != 1 || !strings.Contains(r.stderr, `missing is verb patch on resource deployments of API group "apps" in namespace shop`) ||
		!strings.Contains(r.stderr, "nothing was changed") || !strings.Contains(r.stdout, "kubectl -n shop patch deployment payments --type strategic") {
		t.Errorf("code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if got := kubectl(t, "-n", "shop", "get", "deployment", "payments", "-o", "jsonpath={.spec.template.spec.dnsConfig}"); got != "" {
		t.Errorf("it was changed: %s", got)
	}
}
