//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// oddPod creates a pod in namespace shop from a JSON spec in which IMAGE stands for the image of shop/payments.
func oddPod(t *testing.T, name, spec string) {
	t.Helper()
	podOfImage(t, "payments", name, spec)
}

// podOfImage creates a pod in namespace shop from a JSON spec in which IMAGE stands for the image of a Deployment there.
func podOfImage(t *testing.T, deployment, name, spec string) {
	t.Helper()
	image := kubectl(t, "-n", "shop", "get", "deployment", deployment, "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	create(t, "shop", "pod", name, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "`+name+`", "namespace": "shop", "labels": {"app": "`+name+`"}}, "spec": `+
		strings.ReplaceAll(spec, "IMAGE", image)+`}`)
}

// create creates an object, in the place of one of that name that an earlier run has left, and removes it when the test ends.
func create(t *testing.T, namespace, kind, name, manifest string) {
	t.Helper()
	r := run(t.Context(), "kubectl", "-n", namespace, "delete", kind, name, "--ignore-not-found", "--wait", "--grace-period=1")
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		remove := command(context.WithoutCancel(t.Context()), "kubectl", "-n", namespace, "delete", kind, name, "--ignore-not-found", "--wait=false", "--grace-period=1")
		if out, err := remove.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	create := command(t.Context(), "kubectl", "create", "-f", "-")
	create.Stdin = strings.NewReader(manifest)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// ready waits until a pod of namespace shop is ready.
func ready(t *testing.T, name string) {
	t.Helper()
	kubectl(t, "-n", "shop", "wait", "pod/"+name, "--for=condition=Ready", "--timeout=60s")
}

const loop = `"image": "IMAGE", "imagePullPolicy": "IfNotPresent", "args": ["api.stripe.com:443"]`

func TestAPodWhoseContainersShareTheirProcesses(t *testing.T) {
	oddPod(t, "shared", `{"shareProcessNamespace": true, "terminationGracePeriodSeconds": 1, "containers": [
		{"name": "side", `+loop+`, "securityContext": {"runAsUser": 2000, "runAsGroup": 2000}},
		{"name": "app", `+loop+`, "securityContext": {"runAsUser": 1000, "runAsGroup": 1000}}]}`)
	kubectl(t, "-n", "shop", "wait", "pod/shared", "--for=condition=Ready", "--timeout=60s")
	run := probed(t, "-n", "shop", "shared", "ledger", "--bare", "-c", "app")
	checkTruth(t, run)
	if run.Target.Container != "app" {
		t.Errorf("target %+v", run.Target)
	}
}

func TestAContainerThatDoesNotRun(t *testing.T) {
	oddPod(t, "broken", `{"terminationGracePeriodSeconds": 1, "containers": [
		{"name": "app", "image": "IMAGE", "imagePullPolicy": "IfNotPresent", "command": ["/there/is/no/such/program"]}]}`)
	kubectl(t, "-n", "shop", "wait", "pod/broken", "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}", "--timeout=60s")
	kubectl(t, "-n", "shop", "wait", "pod/broken", "--for=condition=PodReadyToStartContainers", "--timeout=60s")
	run := probed(t, "-n", "shop", "broken", "ledger", "--bare")
	if run.Settings.Source != "sandbox" || run.Resolver.Source != probe.SourceAssumed || run.Settings.Ndots != 5 {
		t.Errorf("settings %+v, resolver %+v", run.Settings, run.Resolver)
	}
}

func TestAPrivilegedTargetIsNotMirrored(t *testing.T) {
	oddPod(t, "mighty", `{"terminationGracePeriodSeconds": 1, "containers": [{"name": "app", `+loop+`, "securityContext": {"privileged": true}}]}`)
	kubectl(t, "-n", "shop", "wait", "pod/mighty", "--for=condition=Ready", "--timeout=60s")
	run := probed(t, "-n", "shop", "mighty", "ledger", "--bare")
	if run.Settings.Source != "sandbox" || run.Settings.Why == "" {
		t.Errorf("settings %+v", run.Settings)
	}
	if p := kubectl(t, "-n", "shop", "get", "pod", "mighty", "-o", "jsonpath={.spec.ephemeralContainers[0].securityContext.privileged}"); p != "false" {
		t.Errorf("the probe's container has privileged=%s", p)
	}
}

func TestAHostNetworkPod(t *testing.T) {
	oddPod(t, "onhost", `{"hostNetwork": true, "terminationGracePeriodSeconds": 1, "containers": [{"name": "app", `+loop+`}]}`)
	kubectl(t, "-n", "shop", "wait", "pod/onhost", "--for=condition=Ready", "--timeout=60s")
	run := probed(t, "-n", "shop", "onhost", "localhost", "--bare")
	if run.Facts["hostNetwork"].Value != "true" || run.Settings.Source != "target" {
		t.Errorf("facts %+v, settings %+v", run.Facts, run.Settings)
	}
}
