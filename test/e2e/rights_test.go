//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// clear is how soon a person gets to know what is in the way.
const clear = 5 * time.Second

// checkRefusal checks that a run ended with one clear sentence and a next step.
func checkRefusal(t *testing.T, r result, code int, what, next string) {
	t.Helper()
	first, rest, _ := strings.Cut(r.stderr[max(strings.Index(r.stderr, "error: "), 0):], "\n")
	if r.code != code || !strings.HasPrefix(first, "error: ") || !strings.Contains(first, what) || !strings.Contains(rest, next) {
		t.Errorf("code %d, want %d\nstderr: %s\nwant %q, then %q", r.code, code, r.stderr, what, next)
	}
	if r.stdout != "" {
		t.Errorf("stdout %q", r.stdout)
	}
	if r.took > clear {
		t.Errorf("it took %s", r.took)
	}
	t.Logf("%s after %s", first, r.took.Round(time.Millisecond))
}

func TestAUserWhoMayNotAddContainers(t *testing.T) {
	// A pod in which no container is that could be reused.
	if err := freshWorkload("shop statefulset orders"); err != nil {
		t.Fatal(err)
	}
	r := dnsprobe(t, "-n", "shop", "pod/orders-0", "api.stripe.com", "--as", "viewer")
	checkRefusal(t, r, 1, "you may not patch pods/ephemeralcontainers in namespace shop", "kubectl dnsprobe preflight -n shop pod/orders-0")
	if names := probeContainers(t, "shop", "orders-0"); len(names) > 0 {
		t.Errorf("containers %q were added", names)
	}

	p := dnsprobe(t, "preflight", "-n", "shop", "pod/orders-0", "--as", "viewer")
	_, role, found := strings.Cut(p.stdout, "apiVersion: ")
	if p.code != 1 || !found {
		t.Fatalf("preflight: code %d\n%s%s", p.code, p.stdout, p.stderr)
	}
	ctx := t.Context()
	apply := command(ctx, "kubectl", "apply", "--dry-run=server", "-f", "-")
	apply.Stdin = strings.NewReader("apiVersion: " + role)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("the Role of preflight: %v\n%s", err, out)
	}
}

func TestAUserWhoMayNothing(t *testing.T) {
	r := dnsprobe(t, "-n", "shop", "pod/orders-0", "api.stripe.com", "--as", "nobody")
	checkRefusal(t, r, 1, "read pod orders-0 in namespace shop", "ask for a role")
}

func TestAnImageThatCannotBePulled(t *testing.T) {
	if err := freshWorkload("shop statefulset orders"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := freshWorkload("shop statefulset orders"); err != nil {
			t.Error(err)
		}
	})
	args := []string{"dnsprobe", "-n", "shop", "pod/orders-0", "api.stripe.com", "--image", "registry.invalid/nothing:1"}
	r := run(t.Context(), "kubectl", args...)
	checkRefusal(t, r, 1, "ErrImagePull", "--image")
	// The same again must not add a second container that waits for the same.
	r = run(t.Context(), "kubectl", args...)
	checkRefusal(t, r, 1, "Image", "--image")
	if names := probeContainers(t, "shop", "orders-0"); len(names) != 1 {
		t.Errorf("containers %q", names)
	}
}

func TestWhatCanBeWrongWithATarget(t *testing.T) {
	checkRefusal(t, dnsprobe(t, "-n", "shop", "pod/done", "api.stripe.com"), 1, "pod done has finished (Succeeded)", "take a running pod")
	checkRefusal(t, dnsprobe(t, "-n", "shop", "deploy/payments", "api.stripe.com", "-c", "nope"), 2, `has no container "nope"`, "its containers: payments")
	checkRefusal(t, dnsprobe(t, "-n", "shop", "pod/missing", "api.stripe.com"), 1, "there is no pod missing in namespace shop", "kubectl -n shop get pods")
	checkRefusal(t, dnsprobe(t, "-n", "shop", "deploy/payments", "https://api.stripe.com/"), 2, "is not a host name", "did you mean: api.stripe.com")
	checkRefusal(t, dnsprobe(t, "-n", "shop", "frobs/x", "api.stripe.com"), 1, "frobs", "")
}

func TestPreflightOfARunThatWouldWork(t *testing.T) {
	r := dnsprobe(t, "preflight", "-n", "restricted", "deploy/payments")
	if r.code != 0 || !strings.Contains(r.stdout, "a run would begin by ") || !strings.Contains(r.stdout, `Pod Security "restricted"`) {
		t.Errorf("code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestKubectlFindsThePlugin(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Fatal(err)
	}
	r := run(t.Context(), "kubectl", "dnsprobe", "version")
	if r.code != 0 || !strings.HasPrefix(r.stdout, "kubectl-dnsprobe ") {
		t.Errorf("code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
