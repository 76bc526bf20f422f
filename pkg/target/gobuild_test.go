package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// TestRealGoPrograms builds programs with the Go that runs this test.
func TestRealGoPrograms(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{
		"go.mod":  "module example.org/app\n\ngo 1.24\n",
		"main.go": "package main\n\nimport \"net\"\n\nfunc main() { net.LookupHost(\"localhost\") }\n",
	})
	version := goEnv(t, "GOVERSION")
	for name, c := range map[string]struct {
		args     []string
		settings map[string]string
	}{
		"static":          {settings: map[string]string{"CGO_ENABLED": "0"}},
		"stripped":        {args: []string{"-trimpath", "-ldflags=-s -w"}, settings: map[string]string{"CGO_ENABLED": "0"}},
		"relocatable":     {args: []string{"-buildmode=pie"}, settings: map[string]string{"CGO_ENABLED": "0", "-buildmode": "pie"}},
		"with build tags": {args: []string{"-tags=osusergo,netgo"}, settings: map[string]string{"CGO_ENABLED": "0", "-tags": "osusergo,netgo"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "app")
			build := exec.Command("go", append(append([]string{"build", "-o", out}, c.args...), ".")...)
			build.Dir = dir
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOWORK=off")
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			f, err := os.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			prog, err := readProgram(f)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := goBuildOf(prog)
			if !ok || "go"+got.Version != version {
				t.Fatalf("found %v, version %q; want %q", ok, got.Version, version)
			}
			for key, want := range c.settings {
				if got.Settings[key] != want {
					t.Errorf("%s = %q, want %q; all: %v", key, got.Settings[key], want, got.Settings)
				}
			}
			if why := got.pure(false); why == "" {
				t.Error("a program without cgo is not told from one with it")
			}
		})
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func TestWhichResolverAGoProgramUses(t *testing.T) {
	nss := func(text string) *string { return &text }
	const k8s = "nameserver 192.0.2.53\nsearch shop.svc.cluster.local svc.cluster.local\noptions ndots:5\n"
	for name, c := range map[string]struct {
		settings []string
		// silent programs do not call getaddrinfo.
		silent bool
		static bool
		sys    resolver.System
		libc   probe.Libc
		why    string
	}{
		"no cgo":                           {settings: []string{"CGO_ENABLED=0"}, libc: probe.Go, why: "CGO_ENABLED=0"},
		"no cgo, whatever GODEBUG says":    {settings: []string{"CGO_ENABLED=0"}, sys: resolver.System{Env: map[string]string{"GODEBUG": "netdns=cgo"}}, libc: probe.Go},
		"netgo":                            {settings: []string{"CGO_ENABLED=1", "-tags=a,netgo"}, libc: probe.Go, why: "-tags netgo"},
		"cgo for something else":           {settings: []string{"CGO_ENABLED=1"}, silent: true, libc: probe.Go, why: "without a call of libc's getaddrinfo"},
		"cgo":                              {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{ResolvConf: k8s}, libc: probe.Go, why: "uses Go's own resolver with these settings"},
		"static cgo":                       {settings: []string{"CGO_ENABLED=1"}, static: true, sys: resolver.System{ResolvConf: "options no-aaaa\n"}, libc: probe.Glibc, why: "carries glibc"},
		"netcgo":                           {settings: []string{"CGO_ENABLED=1", "-tags=netcgo"}, libc: probe.Glibc, why: "told by -tags netcgo"},
		"GODEBUG=netdns=cgo":               {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{Env: map[string]string{"GODEBUG": "a=b,netdns=cgo+2"}}, libc: probe.Glibc, why: "told by GODEBUG=netdns=cgo"},
		"GODEBUG beats a tag":              {settings: []string{"CGO_ENABLED=1", "-tags=netcgo"}, sys: resolver.System{Env: map[string]string{"GODEBUG": "netdns=go"}}, libc: probe.Go, why: "told by GODEBUG=netdns=go"},
		"the last netdns counts":           {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{Env: map[string]string{"GODEBUG": "netdns=cgo,netdns=go"}}, libc: probe.Go},
		"a built-in GODEBUG":               {settings: []string{"CGO_ENABLED=1", "DefaultGODEBUG=netdns=cgo"}, libc: probe.Glibc, why: "a built-in GODEBUG netdns=cgo"},
		"no-aaaa":                          {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{ResolvConf: k8s + "options no-aaaa\n"}, libc: probe.Glibc, why: `Go does not know the option "no-aaaa" in resolv.conf`},
		"a comment behind options":         {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{ResolvConf: "options ndots:5 # five\n"}, libc: probe.Glibc, why: `the option "#"`},
		"sortlist":                         {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{ResolvConf: "sortlist 10.0.0.0\n"}, libc: probe.Glibc, why: `the keyword "sortlist"`},
		"comments and known options":       {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{ResolvConf: "# x\n;y\n\n  \noptions rotate edns0 use-vc timeout:1 attempts:3 trust-ad single-request-reopen\r\n"}, libc: probe.Go},
		"LOCALDOMAIN, even empty":          {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{Env: map[string]string{"LOCALDOMAIN": ""}}, libc: probe.Glibc, why: "LOCALDOMAIN is set"},
		"RES_OPTIONS":                      {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{Env: map[string]string{"RES_OPTIONS": "ndots:1"}}, libc: probe.Glibc, why: "RES_OPTIONS is set"},
		"RES_OPTIONS, empty":               {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{Env: map[string]string{"RES_OPTIONS": ""}}, libc: probe.Go},
		"Debian's nsswitch.conf":           {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{NSSwitch: nss("passwd: files ldap\nhosts: files mdns4_minimal [NOTFOUND=return] dns myhostname\n")}, libc: probe.Go},
		"another source":                   {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{NSSwitch: nss("hosts: files resolve [!UNAVAIL=return] dns\n")}, libc: probe.Glibc, why: `the source "resolve"`},
		"a criterion":                      {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{NSSwitch: nss("hosts: dns [!UNAVAIL=return] files # no\n")}, libc: probe.Glibc, why: "a criterion after dns that is not the usual one"},
		"the last criterion may return":    {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{NSSwitch: nss("hosts: dns [NOTFOUND=return] files # no\n")}, libc: probe.Go},
		"a criterion that changes nothing": {settings: []string{"CGO_ENABLED=1"}, sys: resolver.System{NSSwitch: nss("hosts: dns [SUCCESS=return NOTFOUND=continue] files\n")}, libc: probe.Go},
	} {
		t.Run(name, func(t *testing.T) {
			texts := []string{"GLIBC_TUNABLES", debian12, "getaddrinfo", "Name or service not known"}
			if c.silent {
				texts = texts[:2]
			}
			interp := glibcLoader
			if c.static {
				interp = ""
			}
			prog, err := readProgram(strings.NewReader(elf(interp, goData("1.26.8", c.settings...), texts...)))
			if err != nil {
				t.Fatal(err)
			}
			got := describe("app (pid 1)", prog, libcFile{libc: probe.Glibc, path: "/lib/libc.so.6", version: "2.36"}, c.sys)
			if got.Libc != c.libc || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s because %q; want %s, %q", got.Libc, got.Why, c.libc, c.why)
			}
			if want := map[probe.Libc]string{probe.Go: "1.26.8", probe.Glibc: "2.36"}[c.libc]; got.Version != want {
				t.Errorf("version %q, want %q", got.Version, want)
			}
		})
	}
}

func TestBuildInformationThatIsBroken(t *testing.T) {
	whole := string(goData("1.26.8", "CGO_ENABLED=0"))
	for name, data := range map[string]string{
		"cut off":               whole[:len(whole)-40],
		"only the magic":        buildMagic,
		"before Go 1.18":        buildMagic + "\x08\x00" + strings.Repeat("\x00", 40),
		"a length of 2^63":      buildMagic + "\x08\x02" + strings.Repeat("\x00", 16) + strings.Repeat("\xff", 9) + "\x01x",
		"a length past the end": buildMagic + "\x08\x02" + strings.Repeat("\x00", 16) + "\x7fgo1.26",
	} {
		prog, err := readProgram(strings.NewReader(elf("", []byte(data))))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := goBuildOf(prog)
		if !ok || len(got.Settings) != 0 {
			t.Errorf("%s: found %v, %+v", name, ok, got)
		}
	}
	if diff := cmp.Diff(0, strings.Count(whole, "\x1b")); diff != "" {
		t.Error(diff)
	}
}
