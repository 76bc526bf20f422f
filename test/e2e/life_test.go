//go:build e2e

package e2e

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// idle is the idle limit of these tests, ended is by when a container with it must have terminated: the kubelet reports once a
// second.
const (
	idle  = 3 * time.Second
	ended = 20 * time.Second
)

// lonelyPod replaces the pod orders-0 and returns its name: nobody has been in it.
func lonelyPod(t *testing.T) string {
	t.Helper()
	if err := freshWorkload("shop statefulset orders"); err != nil {
		t.Fatal(err)
	}
	return "orders-0"
}

func TestTheContainerEndsAfterTheIdleLimit(t *testing.T) {
	pod := lonelyPod(t)
	probed(t, "-n", "shop", pod, "ledger", "--bare", "--keep", idle.String())
	if why := waitTerminated(t, "shop", pod, 0, ended); why != "Completed" {
		t.Errorf("the container ended with %s", why)
	}
	// What has ended is neither used nor in the way.
	r := dnsprobe(t, "-n", "shop", pod, "ledger", "--bare", "--keep", "0")
	if r.code != 0 || !strings.Contains(r.stderr, "1 ended probe container of earlier runs") || !strings.Contains(r.stderr, "adding ephemeral container") {
		t.Errorf("code %d, stderr %s", r.code, r.stderr)
	}
	// And without keep the container ends with its session.
	if why := waitTerminated(t, "shop", pod, 1, ended); why != "Completed" {
		t.Errorf("the container ended with %s", why)
	}
}

// silence makes the outside server drop what is asked about a host, so that a run takes as long as its libc waits.
func silence(t *testing.T, host string) {
	t.Helper()
	outside(t, "drop=A,AAAA", "names="+host)
}

// outside changes what the outside server does to requests (see test/cluster/README.md), until the test ends.
func outside(t *testing.T, weather ...string) {
	t.Helper()
	onOurs(t, "it has an outside world whose weather can be changed")
	t.Cleanup(func() {
		if _, err := here("bash", "hack/cluster.sh", "outside", "reset=1"); err != nil {
			t.Error(err)
		}
	})
	if _, err := here("bash", append([]string{"hack/cluster.sh", "outside"}, weather...)...); err != nil {
		t.Fatal(err)
	}
}

// runUntilSent starts a run of a host that nobody answers and returns it once its first message is sent.
func runUntilSent(t *testing.T, pod, host string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := command(t.Context(), "kubectl", plugin("-n", "shop", pod, host, "-o", "ndjson", "--keep", idle.String())...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"event":"`+string(probe.KindSent)+`"`) {
			return cmd, lines
		}
	}
	t.Fatalf("the run ended before it sent anything: %v", cmd.Wait())
	return nil, nil
}

func TestSignalsLeaveNothingBeyondTheIdleLimit(t *testing.T) {
	const host = "silent.example.com"
	silence(t, host)
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		// code is the exit code; -1 for a process that was killed.
		code int
	}{
		{"Ctrl-C", syscall.SIGINT, 130},
		{"a closed terminal", syscall.SIGHUP, 130},
		{"kill -9", syscall.SIGKILL, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := lonelyPod(t)
			// kubectl and nsenter replace themselves by what they start, so the process is the plugin.
			cmd, lines := runUntilSent(t, pod, host)
			start := time.Now()
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				continue
			}
			err := cmd.Wait()
			took := time.Since(start)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != tt.code {
				t.Errorf("ended with %v, want code %d", err, tt.code)
			}
			if took > 2*time.Second {
				t.Errorf("it took %s to end", took)
			}
			why := waitTerminated(t, "shop", pod, 0, ended)
			t.Logf("ended after %s; the container after %s with %s", took.Round(time.Millisecond), time.Since(start).Round(time.Millisecond), why)
			if why != "Completed" {
				t.Errorf("the container ended with %s", why)
			}
		})
	}
}
