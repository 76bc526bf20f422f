package conformance

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Case is one process with its surroundings: what it reads, the servers it meets, the calls it makes. Its JSON form is that
// of the files in testdata/regressions.
type Case struct {
	Name string `json:"name"`
	// Why says what the case once uncovered; for regressions.
	Why string `json:"why,omitempty"`

	ResolvConf   string  `json:"resolvConf"`
	NoResolvConf bool    `json:"noResolvConf,omitempty"`
	Hosts        string  `json:"hosts"`
	NSSwitch     *string `json:"nsswitch,omitempty"`
	GaiConf      string  `json:"gaiConf,omitempty"`
	// HostConf is /etc/host.conf; without one it has what Debian's has.
	HostConf    *string           `json:"hostConf,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	HostAliases string            `json:"hostAliases,omitempty"`
	Hostname    string            `json:"hostname"`

	// NoIPv6 switches IPv6 off; Addresses are added to the loopback interface: libcs look at addresses, not at interfaces.
	NoIPv6    bool           `json:"noIPv6,omitempty"`
	Addresses []netip.Prefix `json:"addresses,omitempty"`

	Servers  []Server `json:"servers"`
	Rules    []Rule   `json:"rules,omitempty"`
	Zones    []string `json:"zones,omitempty"`
	Truncate bool     `json:"truncate,omitempty"`

	Calls       []Call   `json:"calls"`
	PauseMillis int      `json:"pauseMs,omitempty"`
	Script      []Change `json:"script,omitempty"`
	// LimitMillis is when a process that has not ended is killed.
	LimitMillis int `json:"limitMs"`
}

// Server is simnet.Server.
type Server struct {
	Addr        netip.Addr `json:"addr"`
	Silent      bool       `json:"silent,omitempty"`
	NoTCP       bool       `json:"noTCP,omitempty"`
	SilentTCP   bool       `json:"silentTCP,omitempty"`
	DelayMillis int        `json:"delayMs,omitempty"`
}

// Rule is simnet.Rule, with its actions as words.
type Rule struct {
	Name      string          `json:"name,omitempty"`
	Type      probe.QueryType `json:"type,omitempty"`
	Server    *netip.Addr     `json:"server,omitempty"`
	Transport probe.Transport `json:"transport,omitempty"`
	Nth       []int           `json:"nth,omitempty"`
	Do        []string        `json:"do"`
}

// Call is one call of getaddrinfo.
type Call struct {
	Host       string          `json:"host"`
	Family     resolver.Family `json:"family"`
	AddrConfig bool            `json:"addrConfig,omitempty"`
	CanonName  bool            `json:"canonName,omitempty"`
	V4Mapped   bool            `json:"v4Mapped,omitempty"`
	// NullHints passes no hints at all; glibc then acts as with AddrConfig and V4Mapped.
	NullHints bool `json:"nullHints,omitempty"`
	// IDN is AI_IDN.
	IDN bool `json:"idn,omitempty"`
}

// Change replaces resolv.conf while the process runs.
type Change struct {
	AtMillis   int    `json:"atMs"`
	ResolvConf string `json:"resolvConf"`
}

// aliasesPath is where a case finds the file that HOSTALIASES names.
const aliasesPath = "/etc/aliases"

func (c *Case) hostConf() string {
	if c.HostConf == nil {
		return "multi on\n"
	}
	return *c.HostConf
}

// World returns the servers of the case.
func (c *Case) World() (simnet.World, error) {
	w := simnet.World{Zones: c.Zones, Truncate: c.Truncate}
	for _, s := range c.Servers {
		w.Servers = append(w.Servers, simnet.Server{
			Addr: s.Addr, Silent: s.Silent, NoTCP: s.NoTCP, SilentTCP: s.SilentTCP, Delay: millis(s.DelayMillis),
		})
	}
	for _, r := range c.Rules {
		do, err := simnet.ParseActions(r.Do)
		if err != nil {
			return w, fmt.Errorf("rule for %q: %w", r.Name, err)
		}
		rule := simnet.Rule{Name: r.Name, Type: r.Type, Transport: r.Transport, Nth: r.Nth, Do: do}
		if r.Server != nil {
			rule.Server = *r.Server
		}
		w.Rules = append(w.Rules, rule)
	}
	return w, w.Check()
}

// Request is what our resolver is asked for.
func (c Call) Request() resolver.Request {
	r := resolver.Request{
		Host: c.Host, Family: c.Family, AddrConfig: c.AddrConfig, CanonName: c.CanonName, V4Mapped: c.V4Mapped, IDN: c.IDN,
	}
	if c.NullHints {
		r.AddrConfig, r.V4Mapped = true, true
	}
	return r
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Limits of the recorded cases.
const (
	// hangLimit is when a call that the recordings show hanging is taken as hanging; the recorder waited 20 s.
	hangLimit = 6 * time.Second
	// slack is added to how long a recorded process took.
	slack = 20 * time.Second
)

// FromObserved returns the case that was recorded. Its interfaces become addresses of the loopback.
func FromObserved(o scenario.Observed, library string) Case {
	rec := o.Recordings[library]
	c := Case{
		Name: o.Name, ResolvConf: o.System.ResolvConf, NoResolvConf: o.System.NoResolvConf, Hosts: o.System.Hosts,
		NSSwitch: o.System.NSSwitch, GaiConf: o.System.GaiConf, HostAliases: o.System.HostAliases, Hostname: o.System.Hostname,
		Env: map[string]string{}, NoIPv6: !slices.Contains(o.System.Addresses, netip.IPv6Loopback()),
		Zones: o.World.Zones, Truncate: o.World.Truncate, PauseMillis: int(o.Pause / time.Millisecond),
		LimitMillis: int((rec.Elapsed + slack) / time.Millisecond),
	}
	if rec.Killed {
		c.LimitMillis = int(hangLimit / time.Millisecond)
	}
	for name, value := range o.System.Env {
		if name == "HOSTALIASES" {
			value = aliasesPath
		}
		c.Env[name] = value
	}
	for _, a := range o.System.Addresses {
		switch {
		case a.IsLoopback():
		case a.Is4():
			c.Addresses = append(c.Addresses, netip.PrefixFrom(a, 24))
		default:
			c.Addresses = append(c.Addresses, netip.PrefixFrom(a, 64))
		}
	}
	for _, s := range o.World.Servers {
		c.Servers = append(c.Servers, Server{
			Addr: s.Addr, Silent: s.Silent, NoTCP: s.NoTCP, SilentTCP: s.SilentTCP, DelayMillis: int(s.Delay / time.Millisecond),
		})
	}
	for _, r := range o.World.Rules {
		rule := Rule{Name: r.Name, Type: r.Type, Transport: r.Transport, Nth: r.Nth}
		if r.Server.IsValid() {
			rule.Server = &r.Server
		}
		for _, a := range r.Do {
			rule.Do = append(rule.Do, a.String())
		}
		c.Rules = append(c.Rules, rule)
	}
	for _, call := range o.Calls {
		c.Calls = append(c.Calls, Call{
			Host: call.Host, Family: call.Family, AddrConfig: call.AddrConfig && !call.NullHints, CanonName: call.CanonName,
			V4Mapped: call.V4Mapped && !call.NullHints, NullHints: call.NullHints, IDN: call.IDN,
		})
	}
	for _, s := range o.Script {
		c.Script = append(c.Script, Change{AtMillis: int(s.At / time.Millisecond), ResolvConf: s.ResolvConf})
	}
	return c
}

// ReadCases reads the cases in a folder, in order of name.
func ReadCases(folder string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Case
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var c Case
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("read the case in %s: %w", name, err)
		}
		if c.Name == "" {
			c.Name = strings.TrimSuffix(filepath.Base(name), ".json")
		}
		all = append(all, c)
	}
	return all, nil
}

// Text returns the case as it goes into testdata/regressions.
func (c Case) Text() string {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}
