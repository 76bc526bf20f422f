package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
)

// binary is the real program, built once as the image has it.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dnsprobe-agent-test-")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "dnsprobe-agent")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(text)))
	}
	return out, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // A temporary file that stays does no harm.
	}
	os.Exit(code)
}

// container is a folder for temporary files, in which a hub and its attaches meet.
type container struct{ tmp string }

// command returns the real program with a command line. It is killed when the test ends.
func (c container) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"TMPDIR=" + c.tmp}
	return cmd
}

// hub starts a hub and returns it with its log, once it says that it waits.
func (c container) hub(t *testing.T, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := c.command(t, append([]string{"hub"}, args...)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // It has ended already where the test went well.
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(log)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "waiting for kubectl dnsprobe") {
		t.Fatalf("the hub says %q, %v", line, err)
	}
	return cmd, lines
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

// attach runs attach as an exec of the container does, and joins the session through it.
func (c container) attach(t *testing.T, name string) (*session.Client, *exec.Cmd) {
	t.Helper()
	cmd := c.command(t, "attach")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client, err := session.Dial(t.Context(), pipes{out, in}, session.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return client, cmd
}

func TestTheWholeSession(t *testing.T) {
	c := container{t.TempDir()}
	hub, log := c.hub(t, "--keep-after-last", "0s")
	alice, attached := c.attach(t, "alice")
	if got := alice.Hello().Version; got != version.Version {
		t.Errorf("the hub is version %q", got)
	}
	// A literal needs no name server, so this machine's settings do not matter.
	r, err := alice.Resolve(t.Context(), probe.Ask{Host: "192.0.2.7"})
	if err != nil || r.Outcome != probe.OK || r.AnsweredBy != "literal" {
		t.Errorf("Resolve = %+v, %v", r, err)
	}
	if err := alice.Close(); err != nil {
		t.Error(err)
	}
	if err := attached.Wait(); err != nil {
		t.Errorf("attach: %v", err)
	}
	last, err := io.ReadAll(log)
	if err != nil || !strings.Contains(string(last), "ended: the last client has left") {
		t.Errorf("the hub's last words: %q, %v", last, err)
	}
	if err := hub.Wait(); err != nil {
		t.Errorf("hub: %v", err)
	}
	if left, err := os.ReadDir(c.tmp); err != nil || len(left) > 0 {
		t.Errorf("the hub leaves behind %v, %v", left, err)
	}
}

func TestTheHubEndsWhenNobodyComes(t *testing.T) {
	c := container{t.TempDir()}
	hub, log := c.hub(t, "--idle", "1ms")
	last, err := io.ReadAll(log)
	if err != nil || !strings.Contains(string(last), "ended: nobody was attached for 1ms") {
		t.Errorf("the hub's last words: %q, %v", last, err)
	}
	if err := hub.Wait(); err != nil {
		t.Errorf("hub: %v", err)
	}
}

func TestSignalsEndTheHubInGoodOrder(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			c := container{t.TempDir()}
			hub, _ := c.hub(t)
			client, attached := c.attach(t, "alice")
			if err := hub.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			<-client.Done()
			var cut *session.CutError
			if !errors.As(client.Err(), &cut) || cut.Reason != "the probe was told to stop" {
				t.Errorf("the client was told %v", client.Err())
			}
			if err := attached.Wait(); err != nil {
				t.Errorf("attach: %v", err)
			}
			if err := hub.Wait(); err != nil {
				t.Errorf("hub: %v", err)
			}
		})
	}
}

func TestAKilledClientLeaves(t *testing.T) {
	c := container{t.TempDir()}
	hub, log := c.hub(t, "--keep-after-last", "0s")
	_, attached := c.attach(t, "alice")
	if err := attached.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	last, err := io.ReadAll(log)
	if err != nil || !strings.Contains(string(last), "ended: the last client has left") {
		t.Errorf("the hub's last words: %q, %v", last, err)
	}
	if err := hub.Wait(); err != nil {
		t.Errorf("hub: %v", err)
	}
	_ = attached.Wait() // Killed.
}

func TestASecondHubSaysSo(t *testing.T) {
	c := container{t.TempDir()}
	c.hub(t)
	text, err := c.command(t, "hub").CombinedOutput()
	if err == nil || !strings.Contains(string(text), "a hub is running here already") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		out  string
		errs string
	}{
		{"version", 0, version.String() + "\n", ""},
		{"help", 0, usage, ""},
		{"", exitUsage, "", "no command given"},
		{"dance", exitUsage, "", "unknown command dance"},
		{"hub --idle", exitUsage, "", "flag needs an argument"},
		{"hub --idle 0s", exitUsage, "", "an idle limit over 0"},
		{"hub now", exitUsage, "", "hub takes no arguments"},
		{"attach now", exitUsage, "", "attach takes no arguments"},
		{"once", exitUsage, "", "once needs a host"},
		{"once --loud x", exitUsage, "", "flag provided but not defined"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if code != c.code || out.String() != c.out || !strings.Contains(errs.String(), c.errs) {
			t.Errorf("%q: code %d, out %q, errors %q", c.args, code, out.String(), errs.String())
		}
	}
}

func TestAttachWithoutAHubTellsTheClientInItsOwnLanguage(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"attach"}, strings.NewReader(""), &out, &errs); code != exitFailed {
		t.Errorf("code %d", code)
	}
	m, err := session.NewDecoder(&out, session.MaxMessage).Decode()
	if err != nil || m.Type != session.TypeError || !strings.Contains(m.Error, "find the hub of this container") {
		t.Errorf("the client reads %+v, %v", m, err)
	}
	if !strings.Contains(errs.String(), "find the hub of this container") {
		t.Errorf("stderr: %q", errs.String())
	}
}

// The size that a node has to pull, and the memory that a pod has to spare (goals of the design: a few MB of each).
const (
	mostCompressed = 3 << 20
	mostIdle       = 12 << 10
	mostRunning    = 20 << 10
)

func TestTheBinaryIsSmall(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	// The fastest level is the biggest: what fits here fits in every registry.
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d compressed", len(data), packed.Len())
	if packed.Len() > mostCompressed {
		t.Errorf("%d bytes compressed, over %d", packed.Len(), mostCompressed)
	}
}

func TestTheHubNeedsLittleMemory(t *testing.T) {
	c := container{t.TempDir()}
	hub, _ := c.hub(t)
	client, _ := c.attach(t, "alice")
	if err := client.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	idle := resident(t, hub.Process.Pid, "VmRSS")
	// Enough events to fill the history. A literal sends nothing.
	for range 600 {
		if _, err := client.Resolve(t.Context(), probe.Ask{Host: "192.0.2.7", Variant: probe.Variant{Name: strings.Repeat("v", 4000)}}); err != nil {
			t.Fatal(err)
		}
	}
	most := resident(t, hub.Process.Pid, "VmHWM")
	t.Logf("%d KiB idle, %d KiB at most", idle, most)
	if idle > mostIdle || most > mostRunning {
		t.Errorf("%d KiB idle, over %d; or %d KiB at most, over %d", idle, mostIdle, most, mostRunning)
	}
	if err := client.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// resident returns a line of /proc/PID/status in KiB.
func resident(t *testing.T, pid int, key string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			n, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s of process %d", key, pid)
	return 0
}

func TestNothingBigIsLinkedIn(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, no := range []string{"k8s.io/", "github.com/spf13/", "github.com/charmbracelet/", "net/http", "text/template", "github.com/google/"} {
			if strings.HasPrefix(dep, no) {
				t.Errorf("the agent depends on %s", dep)
			}
		}
	}
}
