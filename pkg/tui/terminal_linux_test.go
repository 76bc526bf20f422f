package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// The roles that the test binary plays as its own child on a terminal.
const (
	roleEnv   = "DNSPROBE_TUI_TEST_ROLE"
	roleStart = "start" // do nothing but start, as any command does
	roleShow  = "show"  // show the classic run
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case roleStart:
		if os.Getenv("TERM") != "xterm-256color" {
			fmt.Println("TERM was not put back")
		}
		os.Exit(0)
	case roleShow:
		os.Exit(show())
	}
	os.Exit(m.Run())
}

func show() int {
	events := make(chan probe.Event, 1000)
	for _, ev := range viewtest.Classic().Events {
		events <- ev
	}
	close(events)
	if _, err := Run(context.Background(), Options{Events: events, In: os.Stdin, Out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// openTerminal returns both ends of a new pseudo-terminal of 80x24.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	if err := unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// onTerminal starts this test binary in a role, with a terminal of its own.
func onTerminal(t *testing.T, role string) (cmd *exec.Cmd, ours *os.File, s *screen) {
	t.Helper()
	ours, theirs := openTerminal(t)
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.Env = []string{roleEnv + "=" + role, "TERM=xterm-256color", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s = newScreen()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := ours.Read(buf)
			if n > 0 {
				_, _ = s.Write(buf[:n])
			}
			if err != nil {
				s.close()
				return
			}
		}
	}()
	return cmd, ours, s
}

// TestNothingIsAskedOfTheTerminalAtStart holds for every command of a binary with this package in it: a question would swallow
// what was typed ahead, and wait five seconds for a terminal that stays silent, as this one does.
func TestNothingIsAskedOfTheTerminalAtStart(t *testing.T) {
	cmd, _, s := onTerminal(t, roleStart)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := s.text(); got != "" {
		t.Errorf("a process that does nothing wrote %q to its terminal", got)
	}
}

func TestOnARealTerminal(t *testing.T) {
	_, theirs := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd, terminal, s := onTerminal(t, roleShow)
	s.wait(t, "a patch was found")
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	// Only the wide screen has this column.
	s.wait(t, "18.8 ms")
	if _, err := terminal.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	// The end of the report: the patch was not on the screen.
	s.wait(t, "Take it back:")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := s.text(); strings.Contains(got, "\x1b]11;?") || strings.Contains(got, "\x1b[6n") {
		t.Error("the terminal was asked a question")
	}
	after, err := unix.IoctlGetTermios(int(cmd.Stdin.(*os.File).Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if before.Lflag != after.Lflag || before.Iflag != after.Iflag || before.Oflag != after.Oflag {
		t.Errorf("the terminal was left in another mode: %+v, before %+v", after, before)
	}
	_, left, _ := strings.Cut(s.text(), "\x1b[?1049l")
	if strings.LastIndex(s.text(), "\x1b[?25h") < strings.LastIndex(s.text(), "\x1b[?25l") {
		t.Error("the cursor was left hidden")
	}
	if !strings.Contains(left, "kubectl -n shop patch deployment payments") {
		t.Errorf("no report was left behind, but %q", left)
	}
}
