package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"strconv"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Whose files were read, as probe.Settings.Source has it.
const (
	SourceTarget  = "target"
	SourceSandbox = "sandbox"
	SourceMachine = "machine"
)

// Place is where a target's inputs are read. Its functions are fields so that tests can bring their own world.
type Place struct {
	// Proc is where the kernel shows processes ("/proc").
	Proc string
	// Own is our own root ("/"), whose files stand in for the target's when those cannot be read.
	Own string
	// Self is our own pid.
	Self int
	// Container is the id of the target's container, without the runtime's name in front; empty when it is not known.
	Container string
	// Machine reads the inputs of programs on this machine, not those of a container.
	Machine bool
	// Environ is the environment of programs on this machine.
	Environ []string

	Hostname  func() (string, error)
	Addresses func() ([]netip.Addr, error)
	SourceFor func(netip.Addr) netip.Addr
	// Interfaces returns the names of the interfaces and the networks that they are in; nil when unknown.
	Interfaces func() (links []string, prefixes []netip.Prefix)
}

// Pod returns the place in which a probe's container finds its target. container may be empty.
func Pod(container string) Place {
	return Place{
		Proc: "/proc", Own: "/", Self: os.Getpid(), Container: container,
		Hostname: os.Hostname, Addresses: addresses, SourceFor: sourceFor, Interfaces: interfaces,
	}
}

// Machine returns this machine as the place: its files, this process's environment, the libc of its programs.
func Machine() Place {
	return Place{
		Proc: "/proc", Own: "/", Self: os.Getpid(), Machine: true, Environ: os.Environ(),
		Hostname: os.Hostname, Addresses: addresses, SourceFor: sourceFor, Interfaces: interfaces,
	}
}

// Truth is what was found.
type Truth struct {
	System resolver.System
	// Source and Why are those of probe.Settings.
	Source, Why string
	// Unknown names the inputs that could not be read, and why.
	Unknown []string
	// Resolver is the libc that the target's process uses.
	Resolver probe.Resolver
	// PID is the process that was read, 0 when none could be.
	PID int

	choice Choice
}

// Describe adds what the files do not say to the settings made of them.
func (t Truth) Describe(s probe.Settings) probe.Settings {
	s.Source, s.Why, s.Unknown = t.Source, t.Why, t.Unknown
	s.Hosts = cut(s.Hosts, shownHosts)
	if s.NSSwitch != nil {
		text := cut(*s.NSSwitch, shownNSSwitch)
		s.NSSwitch = &text
	}
	return s
}

// How much of a file goes into the settings that people see; the resolver gets all of it.
const (
	shownHosts    = 32 << 10
	shownNSSwitch = 8 << 10
)

func cut(s string, limit int) string { return s[:min(len(s), limit)] }

// Read finds the target's process and reads everything: the inputs, and the libc. It always returns what there is, unless ctx
// ends first: a file system that hangs must not hang us.
func (p Place) Read(ctx context.Context) (Truth, error) { return within(ctx, p.read) }

// Again reads the inputs of the process of an earlier Read as they are now, and keeps what was found about its libc, which
// does not change while a process lives. A process that has ended is looked for anew.
func (p Place) Again(ctx context.Context, before Truth) (Truth, error) {
	return within(ctx, func() Truth {
		var now Truth
		switch before.Source {
		case SourceTarget:
			t, err := p.process(before.choice, false)
			if err != nil {
				return p.read()
			}
			now = t
		case SourceMachine:
			now = p.machine(false)
		default:
			now = p.sandbox(before.Why)
		}
		now.Resolver = before.Resolver
		return now
	})
}

// within gives up waiting for work when ctx ends. The work cannot be stopped: a system call on a dead file system goes on.
func within(ctx context.Context, work func() Truth) (Truth, error) {
	done := make(chan Truth, 1)
	go func() { done <- work() }()
	select {
	case t := <-done:
		return t, nil
	case <-ctx.Done():
		return Truth{}, fmt.Errorf("read the target's files: they do not answer: %w", ctx.Err())
	}
}

func (p Place) read() Truth {
	if p.Machine {
		return p.machine(true)
	}
	list, err := processes(p.Proc)
	if err != nil {
		return p.sandbox(fmt.Sprintf("the processes cannot be listed: %v", err))
	}
	choices, err := choose(list, p.Self, p.Container)
	if err != nil {
		return p.sandbox(err.Error())
	}
	why := ""
	for _, c := range choices {
		t, err := p.process(c, true)
		if err == nil {
			return t
		}
		why = p.refused(c, list, err)
	}
	return p.sandbox(why)
}

// process reads the inputs of a process of the target.
func (p Place) process(c Choice, libc bool) (Truth, error) {
	dir := path.Join(p.Proc, strconv.Itoa(c.PID))
	root, err := OpenRoot(path.Join(dir, "root"))
	if err != nil {
		return Truth{}, err
	}
	defer root.Close()
	// The folder opens even where nothing in it may be read, so the first real look decides.
	if _, err := root.root.Lstat("etc"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Truth{}, err
	}
	t := Truth{Source: SourceTarget, PID: c.PID, choice: c}
	env, err := readFile(path.Join(dir, "environ"), maxEnviron)
	if err != nil && !errors.Is(err, errCut) {
		t.unknown("environment", err)
	}
	cwd, err := os.Readlink(path.Join(dir, "cwd"))
	if err != nil {
		cwd = "/"
	}
	p.files(&t, root, variables(env), cwd)
	if libc {
		t.Resolver = p.processLibc(c, root, t.System)
	}
	return t, nil
}

// refused says why a process could not be read, and what would help.
func (p Place) refused(c Choice, list []Process, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the target's process (pid %d) has just ended", c.PID)
	case !errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("the files of the target's process (pid %d) cannot be read: %v", c.PID, err)
	}
	for _, self := range list {
		if self.PID == p.Self && self.UID != c.UID {
			return fmt.Sprintf("the target's process (pid %d) runs as user %d, the probe as user %d, which may not read its files",
				c.PID, c.UID, self.UID)
		}
	}
	return fmt.Sprintf("the target's process (pid %d) has privileges that the probe has not, which may therefore not read its files", c.PID)
}

// sandbox reads our own container's files. The kubelet gives all containers of a pod the same resolv.conf and hosts; the rest
// is the image's and stays unknown.
func (p Place) sandbox(why string) Truth {
	t := Truth{Source: SourceSandbox, Why: why, Unknown: []string{"nsswitch.conf", "gai.conf", "environment", "libc"}}
	root, err := OpenRoot(p.Own)
	if err != nil {
		t.unknown("resolv.conf", err)
		t.unknown("hosts", err)
		t.System.NoResolvConf = true
	} else {
		defer root.Close()
		t.resolvConf(root)
		t.hosts(root)
	}
	p.kernel(&t)
	t.Resolver = assumed("the target's program cannot be read: " + why)
	return t
}

// machine reads this machine's own files.
func (p Place) machine(libc bool) Truth {
	t := Truth{Source: SourceMachine, PID: p.Self}
	root, err := OpenRoot(p.Own)
	if err != nil {
		t.Why = err.Error()
		t.unknown("all files", err)
		t.Resolver = assumed(err.Error())
		return t
	}
	defer root.Close()
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "/"
	}
	p.files(&t, root, wanted(p.Environ), cwd)
	if libc {
		t.Resolver = machineLibc(root)
	}
	return t
}
