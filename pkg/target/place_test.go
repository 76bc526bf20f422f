package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func read(t *testing.T, p Place) Truth {
	t.Helper()
	truth, err := p.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

func TestTheTargetsOwnInputsAreRead(t *testing.T) {
	w := newPodWorld(t, debian(debian12, map[string]string{
		"etc/resolv.conf":         "-> /run/systemd/resolv.conf",
		"run/systemd/resolv.conf": "nameserver 192.0.2.53\n",
		"etc/gai.conf":            "precedence ::ffff:0:0/96 100\n",
		"srv/aliases":             "db db.example\n",
	}))
	w.add(t, Process{PID: 1, Name: "java", UID: 1000}, "/usr/bin/java",
		"PATH=/bin\x00HOSTALIASES=aliases\x00RES_OPTIONS=\x00LOCALDOMAIN=a b\x00LOCALDOMAIN=second\x00GODEBUG=x=1\x00junk\x00")
	got := read(t, w.place())
	nss := "hosts: files dns\n"
	if got.Source != SourceTarget || got.Why != "" || got.PID != 1 || len(got.Unknown) != 0 {
		t.Errorf("source %q, why %q, pid %d, unknown %q", got.Source, got.Why, got.PID, got.Unknown)
	}
	s := got.System
	for what, pair := range map[string][2]any{
		"resolv.conf": {"nameserver 192.0.2.53\n", s.ResolvConf}, "hosts": {"192.0.2.7 payments-7d4\n", s.Hosts},
		"nsswitch": {&nss, s.NSSwitch}, "gai.conf": {"precedence ::ffff:0:0/96 100\n", s.GaiConf},
		"aliases": {"db db.example\n", s.HostAliases}, "host name": {"payments-7d4", s.Hostname}, "no resolv.conf": {false, s.NoResolvConf},
		"environment": {map[string]string{"HOSTALIASES": "aliases", "RES_OPTIONS": "", "LOCALDOMAIN": "a b", "GODEBUG": "x=1"}, s.Env},
		"addresses":   {"[198.18.0.7]", fmt.Sprint(s.Addresses)}, "source": {"198.18.0.7", s.SourceFor(netip.MustParseAddr("192.0.2.7")).String()},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	want := probe.Resolver{
		Libc: probe.Glibc, Version: "2.36", Build: "2.36-9+deb12u14", Source: probe.SourceDetected, Runtime: "jvm",
		Why: "read from /usr/lib/x86_64-linux-gnu/libc.so.6, the libc of java (pid 1; pid 1 is the target container's)",
	}
	if diff := cmp.Diff(want, got.Resolver); diff != "" {
		t.Errorf("resolver (-want +got):\n%s", diff)
	}
}

func TestFilesThatAreMissingOrOdd(t *testing.T) {
	w := newPodWorld(t, map[string]string{
		"etc/hosts":         strings.Repeat("192.0.2.7 x\n", maxHosts/10),
		"etc/nsswitch.conf": strings.Repeat("#", maxNSSwitch+1),
		"etc/gai.conf":      "-> gai.conf",
	})
	w.add(t, Process{PID: 1, Name: "app", UID: 1000}, "/app", "HOSTALIASES=/nothing\x00")
	got := read(t, w.place())
	if !got.System.NoResolvConf || got.System.ResolvConf != "" {
		t.Errorf("a target without resolv.conf: %+v", got.System)
	}
	if len(got.System.Hosts) != maxHosts || got.System.NSSwitch == nil || len(*got.System.NSSwitch) != maxNSSwitch {
		t.Errorf("what is too long was not cut")
	}
	want := []string{
		"hosts (only its start was read: it is longer than its bound)",
		"nsswitch.conf (only its start was read: it is longer than its bound)",
		"gai.conf (open etc/gai.conf: too many levels of symbolic links)",
	}
	if diff := cmp.Diff(want, got.Unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	described := got.Describe(probe.Settings{Hosts: got.System.Hosts, NSSwitch: got.System.NSSwitch})
	if len(described.Hosts) != shownHosts || len(*described.NSSwitch) != shownNSSwitch || described.Source != SourceTarget {
		t.Errorf("settings for people: %d and %d bytes from %q", len(described.Hosts), len(*described.NSSwitch), described.Source)
	}
	if len(got.System.Hosts) != maxHosts || len(*got.System.NSSwitch) != maxNSSwitch {
		t.Error("describing the settings has cut what the resolver reads")
	}
}

func TestWhenTheTargetCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, w *podWorld)
		why    string
	}{
		"no process namespace is shared": {func(_ *testing.T, w *podWorld) { w.self = 1 }, "the probe has a process namespace of its own"},
		"its process has ended": {
			func(t *testing.T, w *podWorld) { t.Helper(); remove(t, filepath.Join(w.proc, "1", "root")) },
			"the target's process (pid 1) has just ended",
		},
		"/proc is not there": {func(_ *testing.T, w *podWorld) { w.proc += "-not" }, "the processes cannot be listed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPodWorld(t, debian(debian12, nil))
			c.change(t, &w)
			got := read(t, w.place())
			if got.Source != SourceSandbox || !strings.Contains(got.Why, c.why) {
				t.Errorf("source %q, why %q; want %q in it", got.Source, got.Why, c.why)
			}
			if got.System.ResolvConf != "nameserver 192.0.2.1\n" || got.System.Hosts != "192.0.2.9 sandbox\n" || got.System.NSSwitch != nil {
				t.Errorf("the sandbox's files: %+v", got.System)
			}
			if diff := cmp.Diff([]string{"nsswitch.conf", "gai.conf", "environment", "libc"}, got.Unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if r := got.Resolver; r.Source != probe.SourceAssumed || r.Version != AssumedVersion || !strings.Contains(r.Why, c.why) {
				t.Errorf("resolver %+v", r)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func TestWhyAProcessIsRefused(t *testing.T) {
	p := Place{Self: 42}
	denied := &fs.PathError{Op: "open", Path: "/proc/1/root", Err: fs.ErrPermission}
	target := Choice{Process: Process{PID: 1, UID: 0}}
	for name, c := range map[string]struct {
		list []Process
		err  error
		want string
	}{
		"another user":    {[]Process{{PID: 42, UID: 65532}}, denied, "the target's process (pid 1) runs as user 0, the probe as user 65532, which may not read its files"},
		"more privileges": {[]Process{{PID: 42, UID: 0}}, denied, "the target's process (pid 1) has privileges that the probe has not"},
		"something else":  {nil, errors.New("input/output error"), "cannot be read: input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.refused(target, c.list, c.err); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

func TestAProcessThatHasJustEndedIsReplacedByItsStarter(t *testing.T) {
	w := newPodWorld(t, debian(debian12, nil))
	w.add(t, Process{PID: 1, Name: "sh", UID: 1000}, "/usr/bin/java", "")
	w.add(t, Process{PID: 7, PPID: 1, Name: "curl", UID: 1000}, "/usr/bin/java", "")
	remove(t, filepath.Join(w.proc, "7", "root"))
	if got := read(t, w.place()); got.PID != 1 || got.Source != SourceTarget {
		t.Errorf("pid %d of the %s, why %q", got.PID, got.Source, got.Why)
	}
}

func TestAgainReadsTheFilesAndKeepsTheLibc(t *testing.T) {
	w := newPodWorld(t, debian(debian12, nil))
	first := read(t, w.place())
	tree(t, w.root, map[string]string{"etc/resolv.conf": "nameserver 192.0.2.54\n"})
	remove(t, filepath.Join(w.proc, "1", "exe")) // Nobody looks for the libc again.
	second, err := w.place().Again(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if second.System.ResolvConf != "nameserver 192.0.2.54\n" || second.Resolver != first.Resolver || second.PID != 1 {
		t.Errorf("again: %q, %+v", second.System.ResolvConf, second.Resolver)
	}
	w.add(t, Process{PID: 5, Name: "java", UID: 1000}, "/usr/bin/java", "")
	remove(t, filepath.Join(w.proc, "1"))
	third, err := w.place().Again(t.Context(), second)
	if err != nil || third.PID != 5 || third.Resolver.Source != probe.SourceDetected {
		t.Errorf("after its process has ended: pid %d, %+v, %v", third.PID, third.Resolver, err)
	}
}

func TestAFileSystemThatHangsIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hangs := make(chan struct{})
	defer close(hangs)
	_, err := within(ctx, func() Truth { <-hangs; return Truth{} })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "they do not answer") {
		t.Errorf("got %v", err)
	}
}

func TestAnEnvironmentThatCannotBeReadIsNamed(t *testing.T) {
	w := newPodWorld(t, debian(debian12, nil))
	remove(t, filepath.Join(w.proc, "1", "environ"))
	tree(t, w.proc, map[string]string{"1/environ/": ""}) // Reading a folder fails for root too, unlike a file without rights.
	got := read(t, w.place())
	if len(got.Unknown) != 1 || !strings.HasPrefix(got.Unknown[0], "environment (") || got.Source != SourceTarget {
		t.Errorf("unknown %q from %s", got.Unknown, got.Source)
	}
}
