package target

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

const dpkgStatus = "Package: libc-bin\nVersion: 1.0\n\nPackage: libc6\nStatus: install ok installed\nVersion: 2.31-13+deb11u13\n\nPackage: zlib1g\nVersion: 9\n"

// alpine is an image with musl.
func alpine(more map[string]string) map[string]string {
	files := map[string]string{
		"usr/bin/java":              elf(muslLoader, nil, "getaddrinfo"),
		"lib/ld-musl-x86_64.so.1":   elf("", nil, "Name does not resolve", "127.0.0.1", "musl libc (x86_64)\nVersion %s\n", "1.2.5"),
		"lib/libc.musl-x86_64.so.1": "-> ld-musl-x86_64.so.1",
		"lib/apk/db/installed":      "C:Q1x=\nP:musl-utils\nV:9-r9\n\nC:Q1y=\nP:musl\nV:1.2.5-r9\nA:x86_64\n\n",
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

func TestDetectLibc(t *testing.T) {
	const maps = "7f00-7f01 r--p 00000000 fe:01 123   /usr/bin/java\n7f02-7f03 r--p 00000000 fe:01 124   "
	for name, c := range map[string]struct {
		files   map[string]string
		maps    string
		libc    probe.Libc
		version string
		build   string
		source  probe.ResolverSource
		why     string
	}{
		"Debian 12": {files: debian(debian12, nil), libc: probe.Glibc, version: "2.36", build: "2.36-9+deb12u14", source: probe.SourceDetected},
		"Ubuntu": {
			files: debian("GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8.6) stable release version 2.39.\n", nil),
			libc:  probe.Glibc, version: "2.39", build: "2.39-0ubuntu8.6", source: probe.SourceDetected,
		},
		"Fedora": {files: debian("GNU C Library (GNU libc) stable release version 2.34.\n", nil), libc: probe.Glibc, version: "2.34", source: probe.SourceDetected},
		"a development version": {
			files: debian("GNU C Library (GNU libc) development release version 2.42.9000.\n", nil),
			libc:  probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed, why: "of a version that could not be read",
		},
		"the banner says nothing, dpkg does": {
			files: debian("nothing", map[string]string{"var/lib/dpkg/status": dpkgStatus}),
			libc:  probe.Glibc, version: "2.31", build: "2.31-13+deb11u13", source: probe.SourceDetected,
		},
		"distroless": {
			files: debian("nothing", map[string]string{"var/lib/dpkg/status.d/libc6": "Package: libc6\nVersion: 2.36-9+deb12u10\n"}),
			libc:  probe.Glibc, version: "2.36", build: "2.36-9+deb12u10", source: probe.SourceDetected,
		},
		"the file that is mapped counts": {
			files: debian(debian12, map[string]string{"opt/libc-2.28.so": elf("", nil, "GNU C Library (GNU libc) stable release version 2.28.\n")}),
			maps:  maps + "/opt/libc-2.28.so (deleted)\n", libc: probe.Glibc, version: "2.28", source: probe.SourceDetected, why: "read from /opt/libc-2.28.so",
		},
		"no libc beside the loader": {
			files: debian(debian12, map[string]string{"usr/lib/x86_64-linux-gnu/libc.so.6": ""}),
			libc:  probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed, why: `no libc.so.6 beside "/lib64/ld-linux-x86-64.so.2"`,
		},
		"a libc that is no library": {
			files: debian(debian12, map[string]string{"usr/lib/x86_64-linux-gnu/libc.so.6": "/* GNU ld script */"}),
			libc:  probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed, why: "not an ELF program",
		},
		"arm64": {files: map[string]string{
			"usr/bin/java": elf("/lib/ld-linux-aarch64.so.1", nil), "lib/ld-linux-aarch64.so.1": elf("", nil),
			"lib/aarch64-linux-gnu/libc.so.6": elf("", nil, debian12),
		}, libc: probe.Glibc, version: "2.36", build: "2.36-9+deb12u14", source: probe.SourceDetected},
		"Nix": {
			files: map[string]string{
				"usr/bin/java": elf("/nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2", nil),
				"nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2": elf("", nil),
				"nix/store/abc-glibc-2.40/lib/libc.so.6":            elf("", nil, "GNU C Library (GNU libc) stable release version 2.40.\n"),
			},
			libc: probe.Glibc, version: "2.40", source: probe.SourceDetected,
		},
		"Alpine":         {files: alpine(nil), libc: probe.Musl, version: "1.2.5", build: "1.2.5-r9", source: probe.SourceDetected},
		"Alpine, mapped": {files: alpine(nil), maps: maps + "/lib/ld-musl-x86_64.so.1\n", libc: probe.Musl, version: "1.2.5", build: "1.2.5-r9", source: probe.SourceDetected},
		"glibc's loader on Alpine is musl in the end": {
			files: alpine(map[string]string{"usr/bin/java": elf(glibcLoader, nil)}),
			maps:  maps + "/lib/ld-musl-x86_64.so.1\n", libc: probe.Musl, version: "1.2.5", build: "1.2.5-r9", source: probe.SourceDetected,
		},
		"musl from git": {
			files: map[string]string{"usr/bin/java": elf(muslLoader, nil), "lib/ld-musl-x86_64.so.1": elf("", nil, "1.2.5-git-23-gb8c2a1")},
			libc:  probe.Musl, version: "1.2.5-git-23-gb8c2a1", source: probe.SourceDetected,
		},
		"musl of an unknown version": {
			files: map[string]string{"usr/bin/java": elf(muslLoader, nil)}, libc: probe.Musl, source: probe.SourceDetected,
			why: "its version could not be read",
		},
		"an unknown loader": {
			files: map[string]string{"usr/bin/java": elf("/system/bin/linker64", nil)}, libc: probe.Glibc, version: AssumedVersion,
			source: probe.SourceAssumed, why: `uses the loader "/system/bin/linker64"`,
		},
		"static with a new musl": {
			files: map[string]string{"usr/bin/java": elf("", nil, "Name does not resolve", "Name has no usable address")},
			libc:  probe.Musl, version: "1.2.4", source: probe.SourceDetected, why: "musl 1.2.4 or later",
		},
		"static with an old musl": {
			files: map[string]string{"usr/bin/java": elf("", nil, "Name does not resolve")}, libc: probe.Musl, source: probe.SourceDetected,
			why: "does not say its version",
		},
		"static with glibc": {
			files: map[string]string{"usr/bin/java": elf("", nil, "GLIBC_TUNABLES", "Name or service not known")},
			libc:  probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed, why: "carries glibc, which does not say its version",
		},
		"static with glibc's banner": {
			files: map[string]string{"usr/bin/java": elf("", nil, "GLIBC_TUNABLES", debian12)},
			libc:  probe.Glibc, version: "2.36", build: "2.36-9+deb12u14", source: probe.SourceDetected,
		},
		"static with nothing to see": {
			files: map[string]string{"usr/bin/java": elf("", nil)}, libc: probe.Glibc, version: AssumedVersion,
			source: probe.SourceAssumed, why: "whose libc could not be told",
		},
		"no ELF": {files: map[string]string{"usr/bin/java": "MZ"}, libc: probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed, why: "not an ELF program"},
		"no program": {
			files: map[string]string{"usr/": ""}, libc: probe.Glibc, version: AssumedVersion, source: probe.SourceAssumed,
			why: "the program of java (pid 1; pid 1 is the target container's) cannot be read",
		},
		"Go": {
			files: map[string]string{"usr/bin/java": elf("", goData("1.26.8", "CGO_ENABLED=0"))}, libc: probe.Go, version: "1.26.8", source: probe.SourceDetected,
			why: "is a Go program, built with CGO_ENABLED=0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPodWorld(t, c.files)
			tree(t, w.proc, map[string]string{"1/maps": c.maps})
			got := read(t, w.place()).Resolver
			why := got.Why
			got.Why = ""
			want := probe.Resolver{Libc: c.libc, Version: c.version, Build: c.build, Source: c.source}
			if c.libc != probe.Go && name != "no program" && name != "no ELF" {
				want.Runtime = "jvm"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !strings.Contains(why, c.why) {
				t.Errorf("why %q, want %q in it", why, c.why)
			}
		})
	}
}

func TestMuslVersionIsToldFromOtherNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		"1.2.3": true, "1.1.24": true, "0.9.15": true, "1.2.5-git-23-gb8c2": true,
		"127.0.0.1": false, "192.0.2": false, "1.2": false, "1.2.3 ": false, "v1.2.3": false, "1..3": false, "%d.%d.%d": false, "1.2.3-git-%s": false,
		"1.2.3-git-a b": false, "1.2.3456": false, strings.Repeat("1", 60): false,
	} {
		if _, got := muslVersion(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
