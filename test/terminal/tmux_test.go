package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait for the screen. It is long since a loaded machine is slow; nothing waits it out but a failure.
const patience = 60 * time.Second

// binary is the plugin, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if _, err := exec.LookPath("tmux"); err != nil {
		return 1, fmt.Errorf("the terminal tests need tmux: %w\ninstall it: apt-get install tmux", err)
	}
	dir, err := os.MkdirTemp("", "dnsprobe-terminal")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "kubectl-dnsprobe")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/kubectl-dnsprobe").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the plugin: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// pane is one program in a tmux of its own.
type pane struct {
	t      *testing.T
	socket string
}

// start runs command in a new pane. Its exit code is printed when it ends, and the pane stays.
func start(t *testing.T, width, height int, command string, env ...string) *pane {
	t.Helper()
	dir := t.TempDir()
	p := &pane{t, filepath.Join(dir, "tmux")}
	script := fmt.Sprintf("%s; echo \"exit code $?\"; exec cat", command)
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "sh", "-c", script}
	cmd := p.command(args...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TERM=xterm-256color", "HOME="+dir)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		// The test's context is over by now.
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run()
	})
	return p
}

func (p *pane) command(args ...string) *exec.Cmd {
	return exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...)
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// screen is what a person sees now.
func (p *pane) screen() string { p.t.Helper(); return p.tmux("capture-pane", "-p") }

// scrollback is the screen and all that went over its upper edge.
func (p *pane) scrollback() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p", "-J", "-S", "-1000")
}

func (p *pane) keys(keys ...string) { p.t.Helper(); p.tmux(append([]string{"send-keys"}, keys...)...) }

func (p *pane) resize(width, height int) {
	p.t.Helper()
	p.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// wait returns the screen as soon as ok likes it.
func (p *pane) wait(what string, ok func(screen string) bool) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		screen := p.screen()
		if ok(screen) {
			return screen
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			p.t.Fatalf("waited for %s; the screen still shows:\n%s", what, screen)
		}
	}
}

// shows waits until all of words are on the screen. A sentence may be broken into lines.
func (p *pane) shows(words ...string) string {
	p.t.Helper()
	return p.wait(fmt.Sprintf("%q", words), func(screen string) bool {
		flat := strings.Join(strings.Fields(screen), " ")
		for _, w := range words {
			if !strings.Contains(screen, w) && !strings.Contains(flat, w) {
				return false
			}
		}
		return true
	})
}
