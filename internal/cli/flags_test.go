package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// asked returns what a command line of askFlags and hosts asks for.
func asked(t *testing.T, line string) (asking, error) {
	t.Helper()
	var f askFlags
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.add(fs)
	if err := fs.Parse(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	return f.complete(fs.Args())
}

func TestAskingOfACommandLine(t *testing.T) {
	tests := []struct {
		line string
		want asking
	}{
		{"api.stripe.com", asking{hosts: []string{"api.stripe.com"}}},
		{"a b a --also c --also d,c", asking{hosts: []string{"a", "b"}, also: []string{"c", "d"}}},
		{"a --libc glibc", asking{hosts: []string{"a"}, libc: probe.Glibc}},
		{"a --libc glibc-2.31", asking{hosts: []string{"a"}, libc: probe.Glibc, libcVersion: "2.31"}},
		{"a --libc musl", asking{hosts: []string{"a"}, libc: probe.Musl}},
		{"a --libc musl:1.2.3", asking{hosts: []string{"a"}, libc: probe.Musl, libcVersion: "1.2.3"}},
		{"a --libc go-1.21", asking{hosts: []string{"a"}, libc: probe.Go, libcVersion: "1.21"}},
		{"a --libc all", asking{hosts: []string{"a"}, all: true}},
		{"a --type aaaa --bare --timeout 3s", asking{hosts: []string{"a"}, types: []probe.QueryType{probe.TypeAAAA}, bare: true, timeout: 3 * time.Second}},
		{"a --type A --type AAAA", asking{hosts: []string{"a"}}},
		{"a --set ndots=2 --set use-vc,timeout:1", asking{hosts: []string{"a"}, variants: []probe.Variant{
			{Name: "ndots:2", Options: []string{"ndots:2"}}, {Name: "use-vc timeout:1", Options: []string{"use-vc", "timeout:1"}},
		}}},
		{"a --set -edns0", asking{hosts: []string{"a"}, variants: []probe.Variant{{Name: "-edns0", Options: []string{"-edns0"}}}}},
		{"a --addrconfig", asking{hosts: []string{"a"}, addrConfig: true}},
		{"a --count 1", asking{hosts: []string{"a"}}},
		{"a --count 200 --interval 50ms", asking{hosts: []string{"a"}, count: 200, interval: 50 * time.Millisecond}},
	}
	for _, tt := range tests {
		got, err := asked(t, tt.line)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(asking{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestAskingThatMakesNoSense(t *testing.T) {
	for line, want := range map[string]string{
		"a --libc all-2":             `--libc "all-2"`,
		"a --libc musl-":             `--libc "musl-"`,
		"a --libc musl-new":          `"new" is not a version`,
		"a --libc muslin":            `--libc "muslin"`,
		"a --libc bionic":            `--libc "bionic"`,
		"a --type MX":                `--type "MX"`,
		"a --set ndots=99":           "0 to 15",
		"a --set ndots":              "ndots needs a number",
		"a --set ndots=x":            `not "x"`,
		"a --set speed=1":            `"speed:1" is not a resolv.conf option`,
		"a --set use-vc=1":           `"use-vc:1" is not a resolv.conf option`,
		"a --also b..c":              "nothing between two dots",
		"a --timeout -1s":            "negative",
		"a --count 0":                "1 to 1000",
		"a --count 1001":             "1 to 1000",
		"a --count 2 --interval -1s": "negative",
		"a --interval 1s":            "nothing to repeat",
		"http://a/":                  "not a host name",
		"a --set use-vc,ndot=2":      `"ndot:2" is not a resolv.conf option`,
	} {
		_, err := asked(t, line)
		if err == nil || exitCode(err) != ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, code %d, want %q", line, err, exitCode(err), want)
		}
	}
}

func TestResolverOfTheFlagStandsForTheDetectedOne(t *testing.T) {
	detected := probe.Event{Kind: probe.KindResolver, Resolver: &probe.Resolver{
		Libc: probe.Glibc, Version: "2.36", Build: "2.36-9", Source: probe.SourceDetected, Why: "read",
	}}
	for name, tt := range map[string]struct {
		a       asking
		version string
		source  probe.ResolverSource
	}{
		"no flag":             {asking{}, "2.36", probe.SourceDetected},
		"same libc":           {asking{libc: probe.Glibc}, "2.36", probe.SourceFlag},
		"another version":     {asking{libc: probe.Glibc, libcVersion: "2.31"}, "2.31", probe.SourceFlag},
		"another libc (test)": {asking{libc: probe.Musl}, "", probe.SourceFlag},
	} {
		got := tt.a.followed(detected).Resolver
		if got.Version != tt.version || got.Source != tt.source {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if detected.Resolver.Source != probe.SourceDetected {
		t.Error("the agent's event was changed")
	}
}
