package scenario

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/caller"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Bounds of a scenario file.
const (
	// MaxFile is in bytes.
	MaxFile = 1 << 20
	// MaxNames bounds the hosts, and the names in Also.
	MaxNames = 64
	maxFacts = 256
	// maxRuntime is in bytes.
	maxRuntime = 64
	// MaxCount bounds how often a host is resolved.
	MaxCount = 1000
)

// Scenario is a run on modelled servers: the target's settings and libc, what is asked, what the servers do, what is known
// about the cluster.
type Scenario struct {
	Name, Title string
	Target      probe.Target
	// DNSConfig is that of the pod template, nil when it has none.
	DNSConfig   *DNSConfig
	System      resolver.System
	Libc        probe.Libc
	LibcVersion string
	// Caller names who calls the libc, and how (pkg/caller); empty for a plain getaddrinfo.
	Caller string
	// Runtime is what the target's program runs on ("node", probe.Resolver.Runtime), empty where that does not matter.
	Runtime string
	// Hosts are asked for; Also must keep working when a setting changes.
	Hosts, Also []string
	World       simnet.World
	Facts       map[string]probe.Fact
	// Case is what several scenarios have in common that are one incident on several targets; empty for one that stands alone.
	Case string
	// Count is how often each host is resolved; 0 means once.
	Count int
	// Expect is what a run has to say, nil where nobody wrote it down.
	Expect *Expect
}

// DNSConfig is what a pod template says about its resolver (k8s.io/api core/v1 PodDNSConfig), as far as a patch has to know.
type DNSConfig struct {
	Nameservers []string    `json:"nameservers"`
	Searches    []string    `json:"searches"`
	Options     []DNSOption `json:"options"`
}

func (d *DNSConfig) size() int {
	if d == nil {
		return 0
	}
	return len(d.Nameservers) + len(d.Searches) + len(d.Options)
}

// DNSOption is an entry of dnsConfig.options.
type DNSOption struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"`
}

// file is a scenario as people write it; docs/scenarios.md describes it.
type file struct {
	Name     string                     `json:"name"`
	Title    string                     `json:"title"`
	Target   fileTarget                 `json:"target"`
	Settings fileSettings               `json:"settings"`
	Libc     string                     `json:"libc"`
	Caller   string                     `json:"caller"`
	Runtime  string                     `json:"runtime"`
	Hosts    []string                   `json:"hosts"`
	Also     []string                   `json:"also"`
	Servers  []fileServer               `json:"servers"`
	Rules    []fileRule                 `json:"rules"`
	Delay    delay                      `json:"delay"`
	SOA      uint32                     `json:"soaMinimum"`
	Zones    []string                   `json:"zones"`
	Truncate *bool                      `json:"truncate"`
	Loss     float64                    `json:"loss"`
	PairRace float64                    `json:"pairRace"`
	Facts    map[string]json.RawMessage `json:"facts"`
	Case     string                     `json:"case"`
	Count    int                        `json:"count"`
	Expect   *fileExpect                `json:"expect"`
}

type fileTarget struct {
	Namespace string       `json:"namespace"`
	Pod       string       `json:"pod"`
	Container string       `json:"container"`
	Node      string       `json:"node"`
	Owner     *probe.Owner `json:"owner"`
	DNSConfig *DNSConfig   `json:"dnsConfig"`
}

type fileSettings struct {
	ResolvConf  *string           `json:"resolvConf"`
	Hosts       string            `json:"hosts"`
	NSSwitch    *string           `json:"nsswitch"`
	Env         map[string]string `json:"env"`
	HostAliases string            `json:"hostAliases"`
	GaiConf     string            `json:"gaiConf"`
	Hostname    string            `json:"hostname"`
	Addresses   []netip.Addr      `json:"addresses"`
}

type fileServer struct {
	Address   netip.Addr `json:"address"`
	Delay     delay      `json:"delay"`
	Silent    bool       `json:"silent"`
	NoTCP     bool       `json:"noTCP"`
	SilentTCP bool       `json:"silentTCP"`
}

type fileRule struct {
	Name      string          `json:"name"`
	Type      probe.QueryType `json:"type"`
	Server    netip.Addr      `json:"server"`
	Transport probe.Transport `json:"transport"`
	Port      string          `json:"port"`
	EDNS      *bool           `json:"edns"`
	Nth       []int           `json:"nth"`
	Cycle     int             `json:"cycle"`
	Over      int             `json:"over"`
	Do        []string        `json:"do"`
}

// delay is a duration with its unit ("0.4ms").
type delay time.Duration

func (d *delay) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a delay is written with its unit, such as 0.4ms, not %.20s", data)
	}
	v, err := time.ParseDuration(text)
	*d = delay(v)
	return err
}

// Read reads a scenario file: YAML, or JSON. A field that does not exist is an error, so that a typing error does not pass
// for a setting.
func Read(data []byte) (Scenario, error) {
	if len(data) > MaxFile {
		return Scenario{}, fmt.Errorf("read the scenario: it has %d bytes, at most %d are allowed", len(data), MaxFile)
	}
	var f file
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		return Scenario{}, fmt.Errorf("read the scenario: %w", err)
	}
	s, err := f.scenario()
	if err != nil {
		return Scenario{}, fmt.Errorf("read the scenario: %w", err)
	}
	return s, nil
}

func (f *file) scenario() (Scenario, error) {
	s := Scenario{
		Name: f.Name, Title: f.Title, Hosts: f.Hosts, Also: f.Also, Caller: f.Caller, Runtime: f.Runtime, Case: f.Case, Count: f.Count,
		Target: probe.Target{
			Namespace: f.Target.Namespace, Pod: f.Target.Pod, Container: f.Target.Container, Node: f.Target.Node,
			Owner: f.Target.Owner, Via: "model",
		},
		DNSConfig: f.Target.DNSConfig, System: f.Settings.system(),
	}
	switch {
	case f.Target.DNSConfig.size() > MaxNames:
		return s, fmt.Errorf("at most %d entries in dnsConfig are allowed", MaxNames)
	case len(f.Hosts) == 0:
		return s, errors.New("it has no hosts to ask for")
	case len(f.Hosts) > MaxNames || len(f.Also) > MaxNames:
		return s, fmt.Errorf("at most %d hosts, and %d names in also, are allowed", MaxNames, MaxNames)
	case len(f.Runtime) > maxRuntime:
		return s, fmt.Errorf("runtime has %d bytes, at most %d are allowed", len(f.Runtime), maxRuntime)
	case f.Count < 0 || f.Count > MaxCount:
		return s, fmt.Errorf("count %d lies outside of 0 to %d", f.Count, MaxCount)
	}
	if _, known := caller.Of(f.Caller); f.Caller != "" && !known {
		return s, fmt.Errorf("caller %.40q is none of %s", f.Caller, strings.Join(caller.Words(), ", "))
	}
	var err error
	if s.Expect, err = f.Expect.expect(); err != nil {
		return s, err
	}
	if s.Libc, s.LibcVersion, err = parseLibc(f.Libc); err != nil {
		return s, err
	}
	if s.World, err = f.world(); err != nil {
		return s, err
	}
	s.Facts, err = f.facts()
	return s, err
}

// parseLibc reads "glibc-2.36"; without a libc it is the glibc that most images have.
func parseLibc(text string) (probe.Libc, string, error) {
	if text == "" {
		return probe.Glibc, "2.36", nil
	}
	name, version, _ := strings.Cut(text, "-")
	libc := probe.Libc(name)
	if !slices.Contains([]probe.Libc{probe.Glibc, probe.Musl, probe.Go, probe.CAres}, libc) {
		return "", "", fmt.Errorf("libc %.40q is none of glibc, musl, go, cares", text)
	}
	return libc, version, nil
}

// system returns what the modelled process reads. Its kernel has a route to everything of a family of which it has an address
// that is neither loopback nor link-local.
func (f *fileSettings) system() resolver.System {
	sys := resolver.System{
		NoResolvConf: f.ResolvConf == nil, Hosts: f.Hosts, NSSwitch: f.NSSwitch, Env: f.Env, HostAliases: f.HostAliases,
		GaiConf: f.GaiConf, Hostname: f.Hostname, Addresses: f.Addresses,
	}
	if f.ResolvConf != nil {
		sys.ResolvConf = *f.ResolvConf
	}
	sys.SourceFor = func(dst netip.Addr) netip.Addr {
		for _, a := range sys.Addresses {
			if a.Is4() == dst.Is4() && a.IsLoopback() == dst.IsLoopback() && a.IsLinkLocalUnicast() == dst.IsLinkLocalUnicast() {
				return a
			}
		}
		return netip.Addr{}
	}
	return sys
}

func (f *file) world() (simnet.World, error) {
	w := simnet.World{
		Delay: time.Duration(f.Delay), SOAMinimum: f.SOA, Zones: f.Zones, Truncate: f.Truncate == nil || *f.Truncate,
		Loss: f.Loss, PairRace: f.PairRace,
	}
	if len(f.Zones) > MaxNames {
		return w, fmt.Errorf("at most %d zones are allowed", MaxNames)
	}
	for _, srv := range f.Servers {
		w.Servers = append(w.Servers, simnet.Server{
			Addr: srv.Address, Silent: srv.Silent, NoTCP: srv.NoTCP, SilentTCP: srv.SilentTCP, Delay: time.Duration(srv.Delay),
		})
	}
	for i, r := range f.Rules {
		actions, err := simnet.ParseActions(r.Do)
		if err != nil {
			return w, fmt.Errorf("rule %d (%.80s): %w", i+1, r.Name, err)
		}
		w.Rules = append(w.Rules, simnet.Rule{
			Name: r.Name, Type: r.Type, Server: r.Server, Transport: r.Transport, Port: r.Port, EDNS: r.EDNS, Nth: r.Nth,
			Cycle: r.Cycle, Over: r.Over, Do: actions,
		})
	}
	return w, w.Check()
}

// facts reads each fact, either its value or a whole fact.
func (f *file) facts() (map[string]probe.Fact, error) {
	if len(f.Facts) > maxFacts {
		return nil, fmt.Errorf("at most %d facts are allowed", maxFacts)
	}
	facts := make(map[string]probe.Fact, len(f.Facts))
	for name, raw := range f.Facts {
		fact := probe.Fact{Source: "scenario"}
		if err := json.Unmarshal(raw, &fact.Value); err != nil {
			if err := json.Unmarshal(raw, &fact); err != nil {
				return nil, fmt.Errorf("fact %.80q is neither a text nor {value, unknown, source}", name)
			}
		}
		facts[name] = fact
	}
	return facts, nil
}

//go:embed builtin/*.yaml
var builtin embed.FS

// BuiltinNames returns the names of the built-in scenarios, the one that demo shows first.
func BuiltinNames() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "classic") != (b == "classic") {
			if a == "classic" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}

// Builtin returns a built-in scenario.
func Builtin(name string) (Scenario, error) {
	if !slices.Contains(BuiltinNames(), name) {
		return Scenario{}, fmt.Errorf("no built-in scenario %.80q; there are %s", name, strings.Join(BuiltinNames(), ", "))
	}
	data, err := builtin.ReadFile(path.Join("builtin", name+".yaml"))
	if err != nil {
		return Scenario{}, err
	}
	return Read(data)
}
