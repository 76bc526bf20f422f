package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// HelperEnv in the environment makes the test program a helper.
const HelperEnv = "DNSPROBE_CONFORMANCE_HELPER"

// Bench runs cases.
type Bench struct {
	// Library is the real libc ("2.36-9+deb12u14" is glibc's version).
	Library
	program string
	// args come before those of a case, env goes with the environment of a case.
	args, env []string
	room      *Room
	// stamps keeps the kernel stamping packets.
	stamps *net.UDPConn
}

// CannotRun says what is missing on this machine, nil when nothing is.
func CannotRun() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("it needs Linux, this is %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return errors.New("it needs root, to make network and mount namespaces and a packet socket")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return errors.New("it needs gcc, to compile the program that calls the real libc (Debian: apt-get install gcc libc6-dev)")
	}
	return nil
}

// NewBench compiles the C program into folder and finds out which libc it runs with.
func NewBench(ctx context.Context, folder string, room *Room) (*Bench, error) {
	b := &Bench{Library: Library{Libc: probe.Glibc}, program: filepath.Join(folder, "getaddrinfo"), room: room}
	build := exec.CommandContext(ctx, "gcc", "-O2", "-Wall", "-Werror", "-o", b.program, "testdata/getaddrinfo.c")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile testdata/getaddrinfo.c: %w: %s", err, out)
	}
	version, err := exec.CommandContext(ctx, b.program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the C program for the libc's version: %w", err)
	}
	b.Version = strings.TrimSpace(string(version))
	// The distribution's build says which fixes are in it. Systems without dpkg have none to tell.
	if full, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", "libc6").Output(); err == nil && bytes.HasPrefix(full, []byte(b.Version)) {
		b.Version = string(full)
	}
	if err := b.keepStamping(); err != nil {
		return nil, fmt.Errorf("have packets stamped: %w", err)
	}
	return b, nil
}

// stampTries bounds the datagrams that are sent until the kernel stamps them.
const stampTries = 200

// keepStamping makes the kernel stamp every packet as it passes. Otherwise it would begin some time after a packet socket asks
// for it, and stamp the packets before that when they are read. The switch is one for all namespaces.
func (b *Bench) keepStamping() error {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	b.stamps = conn
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var fd int
	if err := raw.Control(func(f uintptr) { fd = int(f) }); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	const held = 5 * time.Millisecond
	for range stampTries {
		if _, err := conn.WriteToUDP([]byte("x"), conn.LocalAddr().(*net.UDPAddr)); err != nil {
			return err
		}
		sent := time.Now()
		time.Sleep(held)
		oob := make([]byte, 256)
		_, n, _, _, err := conn.ReadMsgUDP(make([]byte, 16), oob)
		if err != nil {
			return err
		}
		if at, ok := stamp(oob[:n]); ok && at.Sub(sent) < held/2 {
			return nil
		}
	}
	return errors.New("the kernel does not stamp packets when they pass")
}

// Close ends what the bench holds.
func (b *Bench) Close() error { return b.stamps.Close() }

// Both runs a case on both sides, the real one first. It waits until there is room.
func (b *Bench) Both(ctx context.Context, c *Case) (real, ours Outcome, err error) {
	if err := b.room.enter(ctx, 1); err != nil {
		return real, ours, err
	}
	defer b.room.leave(1)
	return b.both(ctx, c)
}

// both is Both where there is room.
func (b *Bench) both(ctx context.Context, c *Case) (real, ours Outcome, err error) {
	real, err = b.run(ctx, Order{Side: Real, Case: *c, Program: b.program, Args: b.args, Env: b.env, Library: b.Library, RotateStart: -1})
	if err != nil {
		return real, ours, fmt.Errorf("case %s, real libc: %w", c.Name, err)
	}
	// Of several starts the one counts with which ours is nearest.
	nearest := -1
	for _, start := range b.rotateStarts(c, real) {
		outcome, err := b.run(ctx, Order{Side: Ours, Case: *c, Library: b.Library, RotateStart: start})
		if err != nil {
			return real, ours, fmt.Errorf("case %s, our resolver: %w", c.Name, err)
		}
		differences := Differences(c, real, outcome)
		if n := len(withoutTimes(differences)); nearest < 0 || n < nearest {
			ours, nearest = outcome, n
		}
		if len(differences) == 0 {
			return real, outcome, nil
		}
	}
	return real, ours, nil
}

// config is what the libc makes of the case's settings at its start.
func (b *Bench) config(c *Case) resolvconf.Config {
	return b.process(resolver.System{
		ResolvConf: c.ResolvConf, NoResolvConf: c.NoResolvConf, Env: c.Env, Hostname: c.Hostname,
	}).Config()
}

// rotateStarts returns the servers with which the real libc may have begun, the likeliest first, when that was left to chance;
// else only -1. The first packet tells, unless it went nowhere because a server has no route.
func (b *Bench) rotateStarts(c *Case, real Outcome) []int {
	conf := b.config(c)
	if !conf.Rotate || len(conf.Nameservers) < 2 || len(real.Packets) == 0 {
		return []int{-1}
	}
	starts := make([]int, len(conf.Nameservers))
	for i := range starts {
		starts[i] = i
	}
	first := slices.IndexFunc(conf.Nameservers, func(a netip.Addr) bool { return a.Unmap() == real.Packets[0].Server })
	if first > 0 {
		starts[0], starts[first] = starts[first], starts[0]
	}
	return starts
}

// helperSlack is what a helper may take beyond the case's limit.
const helperSlack = 30 * time.Second

// run runs one side in fresh namespaces. Nothing of it is left when it returns: the namespaces end with the helper, which is
// their first process.
func (b *Bench) run(ctx context.Context, o Order) (Outcome, error) {
	ctx, stop := context.WithTimeout(ctx, millis(o.Case.LimitMillis)+helperSlack)
	defer stop()
	order, err := json.Marshal(o)
	if err != nil {
		return Outcome{}, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = []string{HelperEnv + "=1", "PATH=" + os.Getenv("PATH"), "GOMAXPROCS=2"}
	cmd.Stdin = bytes.NewReader(order)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Outcome{}, err
	}
	if err := b.room.begin(ctx); err != nil {
		return Outcome{}, err
	}
	lines := bufio.NewReader(stdout)
	err = cmd.Start()
	if err == nil {
		var first string
		if first, err = lines.ReadString('\n'); err == nil && first != ready {
			// The outcome came instead: it says why.
			lines = bufio.NewReader(io.MultiReader(strings.NewReader(first), lines))
		}
	}
	b.room.begun()
	if cmd.Process == nil {
		return Outcome{}, fmt.Errorf("start the helper in fresh namespaces: %w", err)
	}
	var outcome Outcome
	if err == nil {
		err = json.NewDecoder(lines).Decode(&outcome)
	}
	if waitErr := cmd.Wait(); err != nil || waitErr != nil {
		return outcome, fmt.Errorf("helper: %w: %s", errors.Join(err, waitErr, ctx.Err()), stderr.Bytes())
	}
	if outcome.Err != "" {
		return outcome, errors.New(outcome.Err)
	}
	return outcome, nil
}

// byDuration orders cases so that the long ones start first.
func byDuration(cases []*Case, expected func(*Case) time.Duration) []*Case {
	sorted := slices.Clone(cases)
	slices.SortStableFunc(sorted, func(a, b *Case) int { return int(expected(b) - expected(a)) })
	return sorted
}
