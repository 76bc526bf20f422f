package scenario

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

//go:embed testdata/observed-traces.json
var observedTraces string

// Libraries that were run on the recorded scenarios.
const (
	LibraryGlibc    = "glibc-2.36-deb12u14"
	LibraryMusl124  = "musl-1.1.24"
	LibraryMusl123  = "musl-1.2.3"
	LibraryMusl125  = "musl-1.2.5"
	LibraryGo       = "go-1.26.8-nocgo"
	LibraryCAres134 = "c-ares-1.34.8"
	LibraryCAres118 = "c-ares-1.18.1"
)

// Observed is a scenario on which real libraries were run, and what they did.
type Observed struct {
	Name  string
	World simnet.World
	// System is what the process read. Its resolv.conf changes as Script says.
	System resolver.System
	// Calls are made one after the other in one process.
	Calls []Call
	// Pause is the time between the end of a call and the start of the next.
	Pause time.Duration
	// Script changes resolv.conf while the process runs, in order of time.
	Script []Change
	// Limit is when a process that had not ended was killed; 0 when nothing came near one.
	Limit      time.Duration
	Recordings map[string]Recording
}

// Call is one call of getaddrinfo.
type Call struct {
	resolver.Request
	// NullHints is a call without hints: addresses come once for each socket type.
	NullHints bool
	// IDN is AI_IDN.
	IDN bool
}

// Change replaces resolv.conf.
type Change struct {
	// At is the time since the start of the process.
	At         time.Duration
	ResolvConf string
}

// Recording is what one library did with a scenario.
type Recording struct {
	Library string
	// Results are those of the calls, as far as the process came.
	Results []CallResult
	// Killed is set when the process had not ended within the limit; Exit is its exit status, negative for a signal.
	Killed  bool
	Exit    int
	Elapsed time.Duration
	Packets []Packet
}

// CallResult is what one call returned, as its program printed it.
type CallResult struct {
	Host string
	// Code is getaddrinfo's return code (EAI_NONAME is -2), c-ares's status; for Go 0 or -1.
	Code      int
	Elapsed   time.Duration
	Addresses []netip.Addr
	Canonical string
	// Text is the error in words.
	Text string
}

// ObservedAll returns the recorded scenarios in order of name.
func ObservedAll() ([]Observed, error) { return readObserved([]byte(observedTraces)) }

type traceFile map[string]struct {
	Scenario traceScenario            `json:"scenario"`
	Observed map[string]traceObserved `json:"observed"`
}

type traceScenario struct {
	Resolv   string               `json:"resolv"`
	Args     []string             `json:"args"`
	Rules    []traceRule          `json:"rules"`
	Servers  []netip.Addr         `json:"servers"`
	Setup    []string             `json:"setup"`
	Timeout  float64              `json:"timeout"`
	Hosts    *string              `json:"hosts"`
	Script   [][2]json.RawMessage `json:"script"`
	NoTCP    bool                 `json:"notcp"`
	Env      map[string]string    `json:"env"`
	NSSwitch *string              `json:"nsswitch"`
	// AD made the recording server set AD; no resolver here looks at it.
	AD bool `json:"ad"`
}

type traceRule struct {
	Name  string          `json:"name"`
	Do    []string        `json:"do"`
	Type  probe.QueryType `json:"type"`
	NS    netip.Addr      `json:"ns"`
	Proto probe.Transport `json:"proto"`
	Nth   []int           `json:"nth"`
}

type traceObserved struct {
	Result  string        `json:"result"`
	RC      int           `json:"rc"`
	Elapsed float64       `json:"elapsed_s"`
	Wire    []tracePacket `json:"wire"`
}

type tracePacket struct {
	T         float64         `json:"t_s"`
	Transport string          `json:"transport"`
	Server    netip.Addr      `json:"server"`
	Socket    string          `json:"socket"`
	ID        string          `json:"id"`
	Type      json.RawMessage `json:"type"`
	Name      string          `json:"name"`
	Flags     string          `json:"flags"`
	Len       int             `json:"len"`
}

func readObserved(data []byte) ([]Observed, error) {
	var file traceFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read the recorded scenarios: %w", err)
	}
	var all []Observed
	for name, entry := range file {
		o, err := entry.Scenario.observed(name)
		if err != nil {
			return nil, fmt.Errorf("read the recorded scenario %s: %w", name, err)
		}
		for library, rec := range entry.Observed {
			if o.Recordings[library], err = rec.recording(library); err != nil {
				return nil, fmt.Errorf("read the recorded scenario %s, library %s: %w", name, library, err)
			}
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Observed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (s traceScenario) observed(name string) (Observed, error) {
	o := Observed{Name: name, Limit: seconds(s.Timeout), Recordings: map[string]Recording{}}
	var err error
	if o.World, err = s.world(); err != nil {
		return o, err
	}
	if o.System, err = s.system(); err != nil {
		return o, err
	}
	if o.Calls, o.Pause, err = calls(s.Args); err != nil {
		return o, err
	}
	for _, step := range s.Script {
		var at float64
		var c Change
		if err := json.Unmarshal(step[0], &at); err != nil {
			return o, err
		}
		if err := json.Unmarshal(step[1], &c.ResolvConf); err != nil {
			return o, err
		}
		c.At = seconds(at)
		o.Script = append(o.Script, c)
	}
	return o, nil
}

func (s traceScenario) world() (simnet.World, error) {
	servers := s.Servers
	if servers == nil {
		servers = []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	}
	// The recording server answered every message, also those that musl builds for "search .".
	w := simnet.World{Undecodable: resolver.RcodeNXDomain}
	for _, addr := range servers {
		w.Servers = append(w.Servers, simnet.Server{Addr: addr, NoTCP: s.NoTCP})
	}
	for _, r := range s.Rules {
		actions, err := simnet.ParseActions(r.Do)
		if err != nil {
			return w, err
		}
		w.Rules = append(w.Rules, simnet.Rule{Name: r.Name, Type: r.Type, Server: r.NS, Transport: r.Proto, Nth: r.Nth, Do: actions})
	}
	return w, w.Check()
}

// What the recording machine had where a scenario says nothing.
const (
	observedHosts    = "127.0.0.1 localhost\n::1 localhost\n"
	observedNSSwitch = "hosts: files dns\n"
	observedAliases  = "x alias.example\n"
)

func (s traceScenario) system() (resolver.System, error) {
	nsswitch := observedNSSwitch
	sys := resolver.System{
		ResolvConf: s.Resolv, Hosts: observedHosts, NSSwitch: &nsswitch, Env: s.Env, Hostname: "recorder",
		Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()},
	}
	if s.Hosts != nil {
		sys.Hosts = *s.Hosts
	}
	if s.NSSwitch != nil {
		sys.NSSwitch = s.NSSwitch
	}
	if _, ok := s.Env["HOSTALIASES"]; ok {
		sys.HostAliases = observedAliases
	}
	var routes []netip.Prefix
	for _, step := range s.Setup {
		words := strings.Fields(step)
		switch {
		case strings.Contains(step, "hostname "):
			sys.Hostname = words[len(words)-1]
		case strings.Contains(step, "disable_ipv6=1"):
			sys.Addresses = slices.DeleteFunc(sys.Addresses, netip.Addr.Is6)
		case strings.HasPrefix(step, "ip addr add "):
			p, err := netip.ParsePrefix(words[3])
			if err != nil {
				return sys, err
			}
			sys.Addresses, routes = append(sys.Addresses, p.Addr()), append(routes, p)
		case strings.HasPrefix(step, "sleep "):
			// The interfaces had the time to get their link-local addresses.
			sys.Addresses = append(sys.Addresses, netip.MustParseAddr("fe80::9"))
		case strings.HasPrefix(step, "ip link "):
		default:
			return sys, fmt.Errorf("setup step %q is not understood", step)
		}
	}
	sys.SourceFor = func(dst netip.Addr) netip.Addr { return source(sys.Addresses, routes, dst) }
	return sys, nil
}

// source is the kernel's choice on a machine whose only routes are those to its own networks.
func source(addresses []netip.Addr, routes []netip.Prefix, dst netip.Addr) netip.Addr {
	if dst = dst.Unmap(); dst.IsLoopback() {
		for _, a := range addresses {
			if a.IsLoopback() && a.Is4() == dst.Is4() {
				return a
			}
		}
	}
	for _, r := range routes {
		if r.Contains(dst) {
			return r.Addr()
		}
	}
	return netip.Addr{}
}

// calls reads the arguments of the recording program: options before the first name, as getopt takes them.
func calls(args []string) (list []Call, pause time.Duration, err error) {
	c := Call{Request: resolver.Request{Family: resolver.Unspec}}
	for len(args) > 0 && len(args[0]) == 2 && args[0][0] == '-' {
		switch args[0] {
		case "-a":
			c.AddrConfig = true
		case "-c":
			c.CanonName = true
		case "-4":
			c.Family = resolver.Inet
		case "-6":
			c.Family = resolver.Inet6
		case "-m":
			c.V4Mapped = true
		case "-n":
			// Without hints glibc acts as with these two flags.
			c.NullHints, c.AddrConfig, c.V4Mapped = true, true, true
		case "-I":
			c.IDN = true
		case "-s":
			if len(args) < 2 {
				return nil, 0, fmt.Errorf("-s has no number")
			}
			n, err := strconv.ParseFloat(args[1], 64)
			if err != nil {
				return nil, 0, err
			}
			pause, args = seconds(n), args[1:]
		default:
			return nil, 0, fmt.Errorf("option %s is not understood", args[0])
		}
		args = args[1:]
	}
	for _, host := range args {
		c.Host = host
		list = append(list, c)
	}
	return list, pause, nil
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

var (
	libcLine = regexp.MustCompile(`^(.*) rc=(-?\d+)\((.*)\) t=([\d.]+)(.*)$`)
	goLine   = regexp.MustCompile(`^(.*) t=([\d.]+) \[(.*)\] err=(.*)$`)
	aresLine = regexp.MustCompile(`^(.*) st=(\d+)\((.*)\) timeouts=\d+(.*) t=([\d.]+)(.*)$`)
)

func (t traceObserved) recording(library string) (Recording, error) {
	rec := Recording{Library: library, Exit: t.RC, Elapsed: seconds(t.Elapsed)}
	for line := range strings.SplitSeq(t.Result, "\n") {
		switch line = strings.TrimSpace(line); line {
		case "":
			continue
		case "<TIMEOUT>":
			rec.Killed = true
			continue
		}
		r, err := parseResult(line)
		if err != nil {
			return rec, err
		}
		rec.Results = append(rec.Results, r)
	}
	var err error
	rec.Packets, err = packets(t.Wire)
	return rec, err
}

func parseResult(line string) (CallResult, error) {
	var r CallResult
	var code, elapsed, rest string
	if m := libcLine.FindStringSubmatch(line); m != nil {
		r.Host, code, r.Text, elapsed, rest = m[1], m[2], m[3], m[4], m[5]
	} else if m := aresLine.FindStringSubmatch(line); m != nil {
		r.Host, code, r.Text, rest, elapsed = m[1], m[2], m[3], m[4]+" "+m[6], m[5]
	} else if m := goLine.FindStringSubmatch(line); m != nil {
		r.Host, elapsed, rest, r.Text = m[1], m[2], m[3], m[4]
		code = "0"
		if r.Text != "<nil>" {
			code = "-1"
		}
	} else {
		return r, fmt.Errorf("result %.80q is not understood", line)
	}
	var err error
	if r.Code, err = strconv.Atoi(code); err != nil {
		return r, err
	}
	t, err := strconv.ParseFloat(elapsed, 64)
	if err != nil {
		return r, err
	}
	r.Elapsed = seconds(t)
	for _, word := range strings.Fields(rest) {
		if canon, ok := strings.CutPrefix(word, "canon="); ok {
			r.Canonical = canon
			continue
		}
		addr, err := netip.ParseAddr(word)
		if err != nil {
			return r, fmt.Errorf("address in result %.80q: %w", line, err)
		}
		r.Addresses = append(r.Addresses, addr)
	}
	return r, nil
}

func packets(wire []tracePacket) ([]Packet, error) {
	sockets, ids := classes[string]{}, classes[string]{}
	var out []Packet
	for _, w := range wire {
		p := Packet{
			At: seconds(w.T), Transport: probe.Transport(strings.ToLower(w.Transport)), Server: w.Server.Unmap(),
			Socket: sockets.of(w.Socket), Name: w.Name, Size: w.Len,
		}
		if p.Transport != SYN {
			p.ID = ids.of(w.ID)
			// A malformed query has -1 here; its bytes are among the flags.
			_ = json.Unmarshal(w.Type, &p.Type)
		}
		for _, flag := range strings.Fields(w.Flags) {
			if err := p.flag(flag); err != nil {
				return nil, err
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// clientCookieBytes is the size of an option with a client cookie and nothing else, the only one that a recorded library sent.
const clientCookieBytes = 12

// flag reads "ad", "edns1232+opt12" (payload size and the size of the options) or "RAW=" and the message in hexadecimal.
func (p *Packet) flag(flag string) error {
	if flag == "ad" {
		p.AD = true
		return nil
	}
	if raw, ok := strings.CutPrefix(flag, "RAW="); ok {
		data, err := hex.DecodeString(raw)
		if err != nil || len(data) < 2 {
			return fmt.Errorf("flag %.40q is not understood", flag)
		}
		p.Raw, p.Name, p.Type = string(data[2:]), "", ""
		return nil
	}
	edns, ok := strings.CutPrefix(flag, "edns")
	if !ok {
		return fmt.Errorf("flag %.40q is not understood", flag)
	}
	parts := strings.Split(edns, "+opt")
	size, err := strconv.ParseUint(parts[0], 10, 16)
	if err != nil {
		return err
	}
	p.EDNSSize = uint16(size)
	for _, size := range parts[1:] {
		if n, err := strconv.Atoi(size); err != nil || n != clientCookieBytes {
			return fmt.Errorf("flag %.40q: options of %s bytes are not understood", flag, size)
		}
		p.EDNSOptions = append(p.EDNSOptions, optionCookie)
	}
	return nil
}
