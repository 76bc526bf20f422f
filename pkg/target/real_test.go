//go:build linux

package target

import (
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
)

// glibcHere returns the version of this machine's glibc in the words of its own getconf. Where there is none, the test cannot
// run: it says so, and fails in CI.
func glibcHere(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "glibc ")
	if err != nil || !ok {
		cannotRun(t, "this machine has no glibc with getconf")
	}
	return version
}

func cannotRun(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s cannot run: %s", t.Name(), why)
	}
	t.Skipf("%s cannot run: %s", t.Name(), why)
}

func TestThisMachine(t *testing.T) {
	version := glibcHere(t)
	t.Setenv("RES_OPTIONS", "ndots:3")
	got := read(t, Machine())
	if got.Source != SourceMachine || got.Resolver.Libc != probe.Glibc || got.Resolver.Version != version || got.Resolver.Source != probe.SourceDetected {
		t.Errorf("source %q, resolver %+v; want glibc %s", got.Source, got.Resolver, version)
	}
	want, err := os.ReadFile("/etc/hosts")
	if err != nil {
		t.Fatal(err)
	}
	if got.System.Hosts != string(want) || got.System.Env["RES_OPTIONS"] != "ndots:3" {
		t.Errorf("hosts %q, environment %q", got.System.Hosts, got.System.Env)
	}
	if name, err := os.Hostname(); err != nil || got.System.Hostname != name {
		t.Errorf("host name %q, want %q, %v", got.System.Hostname, name, err)
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	if !slices.Contains(got.System.Addresses, loopback) {
		t.Errorf("addresses %v", got.System.Addresses)
	}
	if from := got.System.SourceFor(netip.MustParseAddr("127.0.0.53")); from != loopback {
		t.Errorf("towards 127.0.0.53 the source is %s", from)
	}
	if from := got.System.SourceFor(netip.MustParseAddr("fec0::1")); from.Is4() {
		t.Errorf("towards IPv6 the source is %s", from)
	}
}

// asleep starts a program that waits for its input, and returns its pid.
func asleep(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
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
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // It ends when its input does; how, is no matter.
	})
	// Its first word says that it is up, with its libraries mapped.
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("%v did not start: %v", cmd.Args, err)
	}
	return cmd.Process.Pid
}

func TestARealProcess(t *testing.T) {
	version := glibcHere(t)
	cmd := exec.Command("/bin/sh", "-c", "echo up; read line")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LOCALDOMAIN=a.test b.test", "GODEBUG="}
	pid := asleep(t, cmd)
	p := Pod("")
	self, ok := process(p.Proc, pid)
	if !ok || self.PPID != os.Getpid() || self.Name != "sh" || self.UID != os.Getuid() || self.Kernel {
		t.Fatalf("in /proc it is %+v, %v", self, ok)
	}
	got, err := p.process(Choice{Process: self, Why: "the test's"}, true)
	if err != nil {
		t.Fatal(err)
	}
	env, set := got.System.Env["GODEBUG"]
	if got.System.Env["LOCALDOMAIN"] != "a.test b.test" || env != "" || !set || len(got.Unknown) != 0 {
		t.Errorf("environment %q, unknown %q", got.System.Env, got.Unknown)
	}
	if r := got.Resolver; r.Libc != probe.Glibc || r.Version != version || r.Source != probe.SourceDetected || !strings.Contains(r.Why, "libc.so.6, the libc of sh (pid "+strconv.Itoa(pid)) {
		t.Errorf("resolver %+v", r)
	}
}

func TestARealGoProcess(t *testing.T) {
	version := glibcHere(t)
	dir := tree(t, t.TempDir(), map[string]string{
		"go.mod":  "module example.org/app\n\ngo 1.24\n",
		"main.go": "package main\n\nimport (\n\t\"net\"\n\t\"os\"\n)\n\nfunc main() {\n\tprintln(net.LookupHost(os.Getenv(\"HOST\")))\n\tos.Stdout.WriteString(\"up\\n\")\n\tos.Stdin.Read(make([]byte, 1))\n}\n",
	})
	for name, c := range map[string]struct {
		cgo, godebug string
		libc         probe.Libc
		version, why string
	}{
		"without cgo":             {"0", "", probe.Go, strings.TrimPrefix(goEnv(t, "GOVERSION"), "go"), "built with CGO_ENABLED=0"},
		"with cgo":                {"1", "", probe.Go, strings.TrimPrefix(goEnv(t, "GOVERSION"), "go"), "uses Go's own resolver with these settings"},
		"with cgo told to use it": {"1", "netdns=cgo", probe.Glibc, version, "told by GODEBUG=netdns=cgo"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); err != nil && c.cgo == "1" {
				cannotRun(t, "there is no gcc to build with cgo")
			}
			build := exec.Command("go", "build", "-o", "app-"+c.cgo, ".")
			build.Dir = dir
			build.Env = append(os.Environ(), "CGO_ENABLED="+c.cgo, "GOFLAGS=", "GOWORK=off")
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			app := exec.Command("./app-" + c.cgo)
			app.Dir = dir
			app.Env = []string{"GODEBUG=" + c.godebug, "HOST=127.0.0.1"}
			pid := asleep(t, app)
			p := Pod("")
			self, ok := process(p.Proc, pid)
			if !ok {
				t.Fatal("it is not in /proc")
			}
			truth, err := p.process(Choice{Process: self, Why: "the test's"}, true)
			if err != nil {
				t.Fatal(err)
			}
			if golang.LeftToLibc(c.version, truth.System, "") != "" && c.cgo == "1" && c.godebug == "" {
				c.libc, c.version, c.why = probe.Glibc, version, "leaves resolving to libc because "
			}
			if r := truth.Resolver; r.Libc != c.libc || r.Version != c.version || !strings.Contains(r.Why, c.why) {
				t.Errorf("resolver %+v; want %s %s because %q", r, c.libc, c.version, c.why)
			}
		})
	}
}

// TestARealProcessOfAnotherUser has the kernel refuse: the one thing that no folder can play.
func TestARealProcessOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		cannotRun(t, "only root can start a process of another user")
	}
	glibcHere(t) // The process that is read must be one whose libc can be told.
	owner := exec.Command("/bin/sh", "-c", "echo up; read line")
	owner.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65531, Gid: 65531}}
	pid := asleep(t, owner)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		uid  uint32
		want string
	}{
		"another user is refused": {65530, "runs as user 65531, the probe as user 65530, which may not read its files"},
		"the same user may":       {65531, "result: read"},
	} {
		t.Run(name, func(t *testing.T) {
			// The binary is where only root may look, so it is handed over as an open file.
			binary, err := os.Open(self)
			if err != nil {
				t.Fatal(err)
			}
			defer binary.Close()
			cmd := exec.Command("/proc/self/fd/3", "-test.run=^TestReadOther$", "-test.v")
			cmd.ExtraFiles = []*os.File{binary}
			cmd.Dir = "/"
			cmd.Env = []string{"DNSPROBE_TEST_READ_PID=" + strconv.Itoa(pid)}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s; want %q", err, out, c.want)
			}
		})
	}
}

// TestReadOther is the part of TestARealProcessOfAnotherUser that runs as that user; on its own it has nothing to do.
func TestReadOther(t *testing.T) {
	if pid := os.Getenv("DNSPROBE_TEST_READ_PID"); pid != "" {
		readOther(t, pid)
	}
}

func readOther(t *testing.T, text string) {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	p := Pod("")
	other, ok := process(p.Proc, pid)
	own, fine := process(p.Proc, os.Getpid())
	if !ok || !fine {
		t.Fatal("a process cannot be seen")
	}
	c := Choice{Process: other, Why: "the test's"}
	truth, err := p.process(c, true)
	if err != nil {
		t.Logf("result: %s", p.refused(c, []Process{own, other}, err))
		return
	}
	if truth.Resolver.Source != probe.SourceDetected || len(truth.Unknown) > 0 {
		t.Errorf("resolver %+v, unknown %q", truth.Resolver, truth.Unknown)
	}
	t.Log("result: read")
}
