//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// root is the root of the tree.
const root = "../.."

// world is where the tests take place.
var world struct {
	// enter is put before every command: it enters the cluster's network.
	enter []string
	env   []string
	// image is given with --image; empty for the plugin's default.
	image string
	// ours is set on the test cluster, whose outside world can be changed.
	ours bool
}

func TestMain(m *testing.M) {
	if err := arrive(); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: the e2e tests cannot run: %v\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// arrive builds what is tested and makes sure that there is a cluster with it.
func arrive() error {
	bin, err := filepath.Abs(root + "/bin")
	if err != nil {
		return err
	}
	if _, err := here("make", "-s", "image"); err != nil {
		return err
	}
	path := bin + string(os.PathListSeparator) + os.Getenv("PATH")
	if os.Getenv("KUBECONFIG") != "" {
		if world.image = os.Getenv("DNSPROBE_IMAGE"); world.image == "" {
			return errors.New("KUBECONFIG is set: name an agent image that the cluster can pull in DNSPROBE_IMAGE")
		}
		world.env = append(os.Environ(), "PATH="+path)
		return fresh()
	}
	exports, err := here("bash", "hack/cluster.sh", "up")
	if err != nil {
		return err
	}
	found := func(name string) string {
		if m := regexp.MustCompile(`(?m)^export ` + name + `=(.*)$`).FindStringSubmatch(exports); m != nil {
			return m[1]
		}
		return ""
	}
	path = bin + string(os.PathListSeparator) + strings.ReplaceAll(found("PATH"), "$PATH", os.Getenv("PATH"))
	world.ours, world.enter = true, []string{"nsenter", "--net=/run/netns/dnsprobe"}
	world.env = append(os.Environ(), "PATH="+path, "KUBECONFIG="+found("KUBECONFIG"))
	// Processes that this one starts are looked up in its own PATH.
	if err := os.Setenv("PATH", path); err != nil {
		return err
	}
	if _, err := here("bash", "hack/cluster.sh", "load-image", bin+"/agent-image.tar"); err != nil {
		return err
	}
	return fresh()
}

// here runs a command in the root of the tree and returns its stdout.
func here(name string, args ...string) (string, error) {
	// A first boot of the cluster builds Kubernetes.
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = root
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, errOut.String())
	}
	return out.String(), nil
}

// fresh replaces the pods that earlier runs have left containers in.
func fresh() error {
	for _, workload := range []string{"shop deployment payments", "shop deployment payments-uid1000", "restricted deployment payments", "shop statefulset orders"} {
		if err := freshWorkload(workload); err != nil {
			return err
		}
	}
	return nil
}

// freshWorkload replaces the pods of "NAMESPACE KIND NAME".
func freshWorkload(workload string) error {
	w := strings.Fields(workload)
	for _, args := range [][]string{
		{"-n", w[0], "delete", "pods", "-l", "app=" + w[2], "--wait"},
		{"-n", w[0], "rollout", "status", w[1] + "/" + w[2], "--timeout=120s"},
	} {
		if r := run(context.Background(), "kubectl", args...); r.code != 0 {
			return fmt.Errorf("kubectl %s: %s", strings.Join(args, " "), r.stderr)
		}
	}
	return nil
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// command returns a command in the cluster's network.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	argv := append(append([]string{}, world.enter...), name)
	argv = append(argv, args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = world.env
	return cmd
}

// run runs a command in the cluster's network to its end.
func run(ctx context.Context, name string, args ...string) result {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cmd := command(ctx, name, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	start := time.Now()
	err := cmd.Run()
	r := result{stdout: out.String(), stderr: errOut.String(), took: time.Since(start)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.code = exit.ExitCode()
	} else if err != nil {
		r.code, r.stderr = -1, r.stderr+err.Error()
	}
	return r
}

// kubectl runs kubectl and fails the test when it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	r := run(t.Context(), "kubectl", args...)
	if r.code != 0 {
		t.Fatalf("kubectl %s: code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// plugin returns the arguments of kubectl for a run of the plugin.
func plugin(args ...string) []string {
	args = append([]string{"dnsprobe"}, args...)
	if world.image != "" {
		args = append(args, "--image", world.image)
	}
	return args
}

// dnsprobe runs the plugin through kubectl.
func dnsprobe(t *testing.T, args ...string) result {
	t.Helper()
	return run(t.Context(), "kubectl", plugin(args...)...)
}

// probed runs the plugin with -o json and returns the run, which must have ended with exit code 0.
func probed(t *testing.T, args ...string) probe.Run {
	t.Helper()
	return probedUntil(t, 0, args...)
}

// probedUntil runs the plugin with -o json and returns the run, which must have ended with this exit code: 3 for a host that does not
// resolve, -1 for either of 0 and 3 where that hangs on luck.
func probedUntil(t *testing.T, code int, args ...string) probe.Run {
	t.Helper()
	r := dnsprobe(t, append(args, "-o", "json")...)
	if r.code != code && (code >= 0 || r.code != 0 && r.code != 3) {
		t.Fatalf("kubectl dnsprobe %s: code %d after %s, want %d\n%s%s", strings.Join(args, " "), r.code, r.took, code, r.stderr, r.stdout)
	}
	var out probe.Run
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("kubectl dnsprobe %s: %v\n%s", strings.Join(args, " "), err, r.stdout)
	}
	t.Logf("kubectl dnsprobe %s: %s", strings.Join(args, " "), r.took.Round(time.Millisecond))
	return out
}

// onOurs leaves out a test that needs the test cluster itself: its node is this machine.
func onOurs(t *testing.T, why string) {
	t.Helper()
	if !world.ours {
		t.Skipf("only on the test cluster: %s", why)
	}
}

// podOf returns the name of the newest pod of an app.
func podOf(t *testing.T, namespace, app string) string {
	t.Helper()
	names := strings.Fields(kubectl(t, "-n", namespace, "get", "pods", "-l", "app="+app,
		"--field-selector=status.phase=Running", "--sort-by=.metadata.creationTimestamp", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(names) == 0 {
		t.Fatalf("no pod of %s in namespace %s", app, namespace)
	}
	return names[len(names)-1]
}

// probeContainers returns the names of the ephemeral containers of a pod.
func probeContainers(t *testing.T, namespace, pod string) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.spec.ephemeralContainers[*].name}"))
}

// waitTerminated waits until the pod's ephemeral container number n has terminated, and returns why.
func waitTerminated(t *testing.T, namespace, pod string, n int, within time.Duration) string {
	t.Helper()
	path := fmt.Sprintf("{.status.ephemeralContainerStatuses[%d].state.terminated.reason}", n)
	kubectl(t, "-n", namespace, "wait", "pod/"+pod, "--for=jsonpath="+path, "--timeout="+within.String())
	return kubectl(t, "-n", namespace, "get", "pod", pod, "-o", "jsonpath="+path)
}
