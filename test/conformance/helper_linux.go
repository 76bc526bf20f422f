package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/dnstest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Side says who resolves.
type Side string

// The two sides.
const (
	Real Side = "real"
	Ours Side = "ours"
)

// Order is what the parent asks of the helper that runs one side of a case in fresh namespaces.
type Order struct {
	Side Side
	Case Case
	// Program calls the real library. Args come before those of the case, and Env goes with the environment of the case.
	Program   string
	Args, Env []string
	// Library is the real one, for our resolver.
	Library Library
	// RotateStart is the index of the first server of `options rotate`; -1 leaves it to chance.
	RotateStart int
}

// niceness is the priority of a helper and its C program.
const niceness = -15

// ready is what the helper writes when its surroundings stand.
const ready = "ready\n"

// Help runs as the helper: an Order comes on in, the Outcome goes to out.
func Help(in io.Reader, out io.Writer) error {
	var o Order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	outcome, err := o.run(out)
	if err != nil {
		outcome.Err = err.Error()
	}
	return json.NewEncoder(out).Encode(outcome)
}

func (o Order) run(out io.Writer) (Outcome, error) {
	world, err := o.Case.World()
	if err != nil {
		return Outcome{}, err
	}
	if err := settle(&o.Case); err != nil {
		return Outcome{}, err
	}
	// Times are compared to some tens of milliseconds, and other work on the machine must not spoil them.
	// By group, since by process Linux means one thread.
	if err := unix.Setpriority(unix.PRIO_PGRP, 0, niceness); err != nil {
		return Outcome{}, fmt.Errorf("raise the priority: %w", err)
	}
	servers, err := dnstest.Start(world, dnstest.Options{Port: dnsPort})
	if err != nil {
		return Outcome{}, err
	}
	defer servers.Shut()
	snif, err := sniff()
	if err != nil {
		return Outcome{}, err
	}
	defer snif.close()
	if _, err := io.WriteString(out, ready); err != nil {
		return Outcome{}, err
	}
	ctx, stop := context.WithTimeout(context.Background(), millis(o.Case.LimitMillis))
	defer stop()
	script := o.Case.follow(ctx)
	waited, err := waitedAll()
	if err != nil {
		return Outcome{}, err
	}
	var outcome Outcome
	var start time.Time
	if o.Side == Real {
		outcome, start, err = o.real(ctx)
	} else {
		outcome, start, err = o.ours(ctx)
	}
	stop()
	after, waitedErr := waitedAll()
	if err := errors.Join(err, waitedErr, <-script); err != nil {
		return outcome, err
	}
	outcome.Waited += after - waited
	frames, err := snif.frames()
	if err != nil {
		return outcome, err
	}
	outcome.Packets, outcome.Shared = packetsOf(queriesOf(frames), start, o.Library.oneSocket())
	outcome.Packets = o.Library.settle(outcome.Packets)
	return outcome, nil
}

// follow changes resolv.conf as the case's script says, until ctx ends.
func (c *Case) follow(ctx context.Context) <-chan error {
	start := time.Now()
	done := make(chan error, 1)
	go func() {
		for _, change := range c.Script {
			timer := time.NewTimer(time.Until(start.Add(millis(change.AtMillis))))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				done <- nil
				return
			}
			if err := os.WriteFile(filepath.Join(etc, "resolv.conf"), []byte(change.ResolvConf), 0o644); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}

// real runs the C program. start is when its first call began.
func (o Order) real(ctx context.Context) (out Outcome, start time.Time, err error) {
	args := append(slices.Clone(o.Args), strconv.Itoa(o.Case.PauseMillis))
	for _, call := range o.Case.Calls {
		args = append(args, call.letters(), call.Host)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, o.Program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = "/"
	// An empty list would inherit ours.
	cmd.Env = append([]string{"PATH=/usr/bin:/bin"}, o.Env...)
	for name, value := range o.Case.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	start = time.Now()
	if err := cmd.Start(); err != nil {
		return out, start, fmt.Errorf("run the C program: %w", err)
	}
	// Its statistics are there until it is waited for.
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	waited, statErr := waitedFor(fmt.Sprintf("/proc/%d/schedstat", cmd.Process.Pid))
	out.Waited = waited
	err = errors.Join(cmd.Wait(), statErr)
	out.Killed = ctx.Err() != nil
	if exit := (*exec.ExitError)(nil); !out.Killed && errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			out.Crashed = true
			out.Notes = append(out.Notes, fmt.Sprintf("%s %s", ws.Signal(), bytes.TrimSpace(stderr.Bytes())))
		}
	}
	if err != nil && !out.Killed && !out.Crashed {
		return out, start, fmt.Errorf("run the C program: %w: %s", err, stderr.Bytes())
	}
	for line := range strings.Lines(stdout.String()) {
		began, result, err := readResult(line)
		if err != nil {
			return out, start, err
		}
		if len(out.Calls) == 0 {
			start = began
		}
		result.Start = began.Sub(start)
		out.Calls = append(out.Calls, result)
	}
	return out, start, nil
}

// waitedAll returns how long the threads of this process have waited for a processor.
func waitedAll() (total time.Duration, err error) {
	threads, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0, err
	}
	for _, name := range threads {
		waited, err := waitedFor(name)
		if err != nil {
			return 0, err
		}
		total += waited
	}
	return total, nil
}

// waitedFor reads the second number of a schedstat file, in nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
func waitedFor(name string) (time.Duration, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		// The thread is gone.
		return 0, nil
	}
	words := strings.Fields(string(text))
	if err != nil || len(words) != 3 {
		return 0, fmt.Errorf("read %s: %q: %w", name, text, err)
	}
	ns, err := strconv.ParseInt(words[1], 10, 64)
	return time.Duration(ns), err
}

func (c Call) letters() string {
	word := "-"
	for _, l := range []struct {
		on     bool
		letter string
	}{
		{c.Family == resolver.Inet, "4"},
		{c.Family == resolver.Inet6, "6"},
		{c.AddrConfig, "a"},
		{c.CanonName, "c"},
		{c.V4Mapped, "m"},
		{c.IDN, "i"},
		{c.NullHints, "n"},
	} {
		if l.on {
			word += l.letter
		}
	}
	return word
}

// readResult reads a line of the C program.
func readResult(line string) (start time.Time, r Result, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return start, r, fmt.Errorf("the C program wrote %q", line)
	}
	began, err1 := strconv.ParseInt(words[0], 10, 64)
	ended, err2 := strconv.ParseInt(words[1], 10, 64)
	code, err3 := strconv.Atoi(words[2])
	if err := errors.Join(err1, err2, err3); err != nil {
		return start, r, fmt.Errorf("the C program wrote %q: %w", line, err)
	}
	r.Code, r.Elapsed = code, time.Duration(ended-began)
	for _, word := range words[3:] {
		if name, ok := strings.CutPrefix(word, "="); ok {
			if r.Canonical, err = url.PathUnescape(name); err != nil {
				return start, r, fmt.Errorf("the C program wrote %q: %w", line, err)
			}
			continue
		}
		addr, err := netip.ParseAddr(word)
		if err != nil {
			return start, r, fmt.Errorf("the C program wrote %q: %w", line, err)
		}
		r.Addresses = append(r.Addresses, addr)
	}
	return time.Unix(0, began), r, nil
}

// codes are the return codes of netdb.h.
var codes = map[string]int{
	"": 0, "EAI_BADFLAGS": -1, "EAI_NONAME": -2, "EAI_AGAIN": -3, "EAI_FAIL": -4, "EAI_NODATA": -5, "EAI_FAMILY": -6,
	"EAI_SOCKTYPE": -7, "EAI_SERVICE": -8, "EAI_ADDRFAMILY": -9, "EAI_MEMORY": -10, "EAI_SYSTEM": -11, "EAI_OVERFLOW": -12,
	"EAI_IDN_ENCODE": -105,
}

// code is what the real side's program prints for a code of ours.
func (l Library) code(name string) (code int, known bool) {
	if l.Node != "" {
		code, known = nodeCodes[name]
		return code, known
	}
	switch l.Libc {
	case probe.CAres:
		code, known = caresCodes[name]
		return code, known
	case probe.Go:
		return goCode(name)
	}
	code, known = codes[name]
	return code, known
}

// ours runs our resolver in this process.
func (o Order) ours(ctx context.Context) (out Outcome, start time.Time, err error) {
	sys, err := o.Case.system()
	if err != nil {
		return out, start, err
	}
	real, err := dnsnet.New(ctx, dnsnet.Options{})
	if err != nil {
		return out, start, err
	}
	defer real.Shut()
	var n resolver.Network = real
	if o.RotateStart >= 0 {
		n = &loaded{Network: real, start: o.RotateStart, servers: o.servers(sys)}
	}
	r := o.Library.process(sys)
	for i, call := range o.Case.Calls {
		if i > 0 {
			time.Sleep(millis(o.Case.PauseMillis))
			if sys.ResolvConf, err = o.Case.resolvConf(); err != nil {
				return out, start, err
			}
			r.SetSystem(sys)
		}
		began := time.Now()
		if i == 0 {
			start = began
		}
		res, err := r.Resolve(ctx, n, o.Library.request(call), func(ev probe.Event) {
			if ev.Kind == probe.KindNote {
				out.Notes = append(out.Notes, ev.Note)
			}
		})
		if ctx.Err() != nil {
			out.Killed = true
			return out, start, nil
		}
		if err != nil {
			return out, start, fmt.Errorf("resolve %q: %w", call.Host, err)
		}
		if res.Outcome == probe.Fail && res.Code == "" {
			// The call does not come back: the libc has ended the process.
			out.Crashed = true
			return out, start, nil
		}
		code, known := o.Library.code(res.Code)
		if !known {
			return out, start, fmt.Errorf("resolve %q: unknown code %q", call.Host, res.Code)
		}
		out.Calls = append(out.Calls, Result{
			Code: code, Addresses: res.Addresses, Canonical: res.Canonical, Start: began.Sub(start), Elapsed: time.Since(began),
		})
	}
	return out, start, nil
}

// servers returns how many name servers our resolver would use.
func (o Order) servers(sys resolver.System) int {
	conf := o.Library.process(sys).Config()
	return len(conf.Nameservers)
}

func (c *Case) resolvConf() (string, error) {
	if c.NoResolvConf && len(c.Script) == 0 {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(etc, "resolv.conf"))
	return string(text), err
}

// system is what our resolver gets to read.
func (c *Case) system() (resolver.System, error) {
	hostConf := c.hostConf()
	sys := resolver.System{
		ResolvConf: c.ResolvConf, NoResolvConf: c.NoResolvConf, Hosts: c.Hosts, NSSwitch: c.NSSwitch, GaiConf: c.GaiConf,
		Env: c.Env, HostConf: &hostConf, HostAliases: c.HostAliases, Hostname: c.Hostname, SourceFor: sourceFor,
	}
	links, err := net.Interfaces()
	if err != nil {
		return sys, err
	}
	for _, l := range links {
		sys.Links = append(sys.Links, l.Name)
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return sys, err
	}
	for _, a := range list {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			return sys, err
		}
		sys.Addresses, sys.Prefixes = append(sys.Addresses, p.Addr()), append(sys.Prefixes, p)
	}
	return sys, nil
}

// sourceFor asks the kernel for the source address towards dst; to connect a UDP socket sends nothing.
func sourceFor(dst netip.Addr) netip.Addr {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(dst, dnsPort)))
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
}

// loaded is a Network whose dice are loaded: every number is start modulo servers, so that rotate begins there. Ids stay random
// enough.
type loaded struct {
	resolver.Network
	start, servers int
}

func (l *loaded) Random16() uint16 {
	n := int(l.Network.Random16())
	n = n - n%l.servers + l.start
	if n > 0xffff {
		n -= l.servers
	}
	return uint16(n)
}
