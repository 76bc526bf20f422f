package scenario

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestBuiltins(t *testing.T) {
	names := BuiltinNames()
	if len(names) < 3 || names[0] != "classic" {
		t.Fatalf("built-in scenarios: %v", names)
	}
	for _, name := range names {
		s, err := Builtin(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name || s.Title == "" || s.Target.Pod == "" || s.Target.Via != "model" || len(s.World.Servers) == 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := Builtin("../file.go"); err == nil {
		t.Error("read something that is no scenario")
	}
}

func TestRead(t *testing.T) {
	s, err := Read([]byte(`
name: n
settings:
  resolvConf: "nameserver 10.0.0.1\n"
  addresses: [127.0.0.1, 10.1.1.1, "fe80::1"]
libc: musl-1.2.5
hosts: [x]
servers: [{address: 10.0.0.1, delay: 1.5ms}]
rules:
- {name: "*", type: A, server: 10.0.0.1, transport: udp, nth: [2], do: [drop]}
facts: {dnsPolicy: ClusterFirst, nodeLocal: {unknown: no permission}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Libc != probe.Musl || s.LibcVersion != "1.2.5" || s.World.Servers[0].Delay != 1500*time.Microsecond || !s.World.Truncate ||
		!slices.Equal(s.World.Rules[0].Nth, []int{2}) || s.System.NoResolvConf || s.System.NSSwitch != nil {
		t.Errorf("%+v", s)
	}
	if s.Facts["dnsPolicy"].Value != "ClusterFirst" || s.Facts["nodeLocal"].Unknown != "no permission" {
		t.Errorf("facts: %+v", s.Facts)
	}
	for dst, want := range map[string]string{"203.0.113.7": "10.1.1.1", "127.0.0.1": "127.0.0.1", "2001:db8::1": "invalid IP"} {
		if got := s.System.SourceFor(netip.MustParseAddr(dst)).String(); got != want {
			t.Errorf("source towards %s: %s, want %s", dst, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"not YAML":      "\t{",
		"no hosts":      "name: x",
		"unknown field": "hosts: [x]\nserver: []",
		"twice":         "hosts: [x]\nhosts: [y]",
		"libc":          "hosts: [x]\nlibc: bsd",
		"caller":        "hosts: [x]\ncaller: somebody",
		"count":         "hosts: [x]\ncount: 1001",
		"negative":      "hosts: [x]\ncount: -1",
		"action":        "hosts: [x]\nrules: [{name: x, do: [explode]}]",
		"delay":         "hosts: [x]\ndelay: 5",
		"long delay":    "hosts: [x]\ndelay: 5h",
		"address":       "hosts: [x]\nservers: [{address: nowhere}]",
		"no address":    "hosts: [x]\nservers: [{delay: 1ms}]",
		"fact":          "hosts: [x]\nfacts: {a: [1]}",
		"many hosts":    "hosts: [" + strings.Repeat("x,", MaxNames+1) + "]",
		"size":          "title: " + strings.Repeat("x", MaxFile),
	} {
		if s, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: taken as %+v", name, s)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range BuiltinNames() {
		data, err := builtin.ReadFile("builtin/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("hosts: [x]\nrules: [{do: ['pad:4096', 'loss:0.5']}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(data)
		if err != nil {
			return
		}
		if err := s.World.Check(); err != nil {
			t.Errorf("Read let through a world that is out of bounds: %v", err)
		}
		if len(s.Hosts) == 0 || len(s.Hosts) > MaxNames || len(s.Facts) > maxFacts {
			t.Errorf("out of bounds: %d hosts, %d facts", len(s.Hosts), len(s.Facts))
		}
	})
}
