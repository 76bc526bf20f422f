package target

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
)

// AssumedVersion is the glibc that is assumed when the libc cannot be told: that of Debian 12, which most images have.
const AssumedVersion = "2.36"

// assumed is the resolver when the libc could not be told.
func assumed(why string) probe.Resolver {
	return probe.Resolver{
		Libc: probe.Glibc, Version: AssumedVersion, Source: probe.SourceAssumed,
		Why: "glibc " + AssumedVersion + " is assumed: " + why,
	}
}

// processLibc finds the libc that a process uses.
func (p Place) processLibc(c Choice, root *Root, sys resolver.System) probe.Resolver {
	dir := path.Join(p.Proc, strconv.Itoa(c.PID))
	exe, err := os.Open(path.Join(dir, "exe"))
	if err != nil {
		return assumed("the program of " + c.who() + " cannot be read: " + reason(err))
	}
	defer exe.Close()
	prog, err := readProgram(exe)
	if err != nil {
		return assumed("the program of " + c.who() + " cannot be read: " + reason(err))
	}
	mapped, _ := readFile(path.Join(dir, "maps"), maxMaps) // Where it is hidden, the usual places have to do.
	r := describe(c.who(), prog, findLibc(root, prog, mappedLibc(mapped)), sys)
	if name, err := os.Readlink(path.Join(dir, "exe")); err == nil && r.Libc != probe.Go && r.Cgo == nil {
		r.Runtime = runtimeOf(name)
	}
	return r
}

// maxMaps bounds what is read of /proc/PID/maps. Libraries come early in it.
const maxMaps = 4 << 20

// who names a process for people.
func (c Choice) who() string {
	return fmt.Sprintf("%s (pid %d; %s)", cmp.Or(printable.Text(c.Name, 15), "the process"), c.PID, c.Why)
}

func reason(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	return printable.Text(err.Error(), 200)
}

func quote(s string) string { return strconv.Quote(cut(s, 60)) }

// machineLibc finds the libc of this machine's programs: that of its shell.
func machineLibc(root *Root) probe.Resolver {
	const shell = "/bin/sh"
	f, err := root.Open(shell)
	if err != nil {
		return assumed(shell + " of this machine cannot be read: " + reason(err))
	}
	defer f.Close()
	prog, err := readProgram(f)
	if err != nil {
		return assumed(shell + " of this machine cannot be read: " + reason(err))
	}
	return describe(shell+" of this machine", prog, findLibc(root, prog, ""), resolver.System{})
}

// libcFile is a libc found as a file.
type libcFile struct {
	libc           probe.Libc
	path           string
	version, build string
	// missing says why the file could not be read, empty when it could.
	missing string
}

// findLibc finds the libc of a dynamic program: the file that is mapped if that is known, else where its loader looks.
func findLibc(root *Root, prog program, mapped string) libcFile {
	if prog.interp == "" {
		return libcFile{}
	}
	found := libcFile{libc: byName(mapped), path: mapped}
	if found.libc == "" {
		found = byLoader(root, prog.interp)
	}
	if found.libc == "" || found.path == "" {
		return found
	}
	found.version, found.build, found.missing = libcVersion(root, found)
	if found.build == "" {
		found.build = packaged(root, found)
	}
	if found.version == "" {
		// "2.36-9+deb12u14" begins with the upstream version.
		if upstream, _, ok := strings.Cut(found.build, "-"); ok {
			found.version = upstream
		}
	}
	return found
}

// mappedLibc finds the path of the libc in the text of /proc/PID/maps.
func mappedLibc(maps string) string {
	for line := range strings.Lines(maps) {
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		file := strings.TrimSuffix(strings.TrimSpace(line[at:]), " (deleted)")
		if byName(file) != "" {
			return file
		}
	}
	return ""
}

// byName tells a libc by the name of its file.
func byName(file string) probe.Libc {
	switch name := path.Base(file); {
	case name == "libc.so.6", strings.HasPrefix(name, "libc-2.") && strings.HasSuffix(name, ".so"):
		return probe.Glibc
	case strings.HasPrefix(name, "ld-musl-"), strings.HasPrefix(name, "libc.musl-"):
		return probe.Musl
	case name == "libc.so" && strings.Contains(file, "-musl/"):
		// Debian keeps musl's loader as /lib/x86_64-linux-musl/libc.so and links to it.
		return probe.Musl
	}
	return ""
}

// byLoader finds the libc that belongs to a dynamic loader.
func byLoader(root *Root, loader string) libcFile {
	name := path.Base(loader)
	if strings.HasPrefix(name, "ld-musl-") {
		return libcFile{libc: probe.Musl, path: loader}
	}
	if !strings.HasPrefix(name, "ld-linux") && !strings.HasPrefix(name, "ld64.so") && name != "ld.so.1" {
		return libcFile{}
	}
	found := libcFile{libc: probe.Glibc}
	real, err := root.Resolve(loader)
	if err != nil {
		found.missing = reason(err)
		return found
	}
	dirs := []string{path.Dir(real), path.Dir(loader)}
	for _, lib := range []string{"lib", "usr/lib"} {
		dirs = append(dirs, lib+"64")
		for _, arch := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu"} {
			if strings.Contains(name, strings.TrimSuffix(strings.ReplaceAll(arch, "_", "-"), "-linux-gnu")) {
				dirs = append(dirs, path.Join(lib, arch))
			}
		}
		dirs = append(dirs, lib)
	}
	for _, dir := range dirs {
		if file := path.Join(dir, "libc.so.6"); root.exists(file) {
			found.path = "/" + strings.TrimPrefix(file, "/")
			return found
		}
	}
	found.missing = "no libc.so.6 beside " + quote(loader)
	return found
}

// libcVersion reads the version out of a libc's file.
func libcVersion(root *Root, l libcFile) (version, build, missing string) {
	f, err := root.Open(l.path)
	if err != nil {
		return "", "", reason(err)
	}
	defer f.Close()
	prog, err := readProgram(f)
	if err != nil {
		return "", "", reason(err)
	}
	if l.libc == probe.Musl {
		prog.texts(func(text []byte) bool {
			version, _ = muslVersion(string(text))
			return version == ""
		})
	} else {
		prog.textsAt(glibcLibcMark, func(text []byte) bool {
			version, build, _ = glibcBanner(string(text))
			return version == ""
		})
	}
	if version == "" {
		missing = "its version is not in " + quote(l.path)
	}
	return version, build, missing
}

// packaged asks the image's package database for a libc's version. It decides behaviour: distributions carry fixes of their
// own.
func packaged(root *Root, l libcFile) string {
	const limit = 8 << 20
	if l.libc == probe.Musl {
		db, _ := root.Read("lib/apk/db/installed", limit) // Other distributions have none.
		return packageVersion(db, "musl", "P:", "V:")
	}
	for _, file := range append([]string{"var/lib/dpkg/status"}, distroless(root)...) {
		db, _ := root.Read(file, limit) // Other distributions have none.
		if v := packageVersion(db, "libc6", "Package: ", "Version: "); v != "" {
			return v
		}
	}
	return ""
}

// distroless returns the files in which images without dpkg keep what dpkg would.
func distroless(root *Root) []string {
	const dir = "var/lib/dpkg/status.d"
	var files []string
	for _, name := range root.names(dir, 1000) {
		if name == "libc6" || strings.HasPrefix(name, "libc6.") {
			files = append(files, path.Join(dir, name))
		}
	}
	return files
}

// describe puts together what was found about a program into the resolver that it uses.
func describe(who string, prog program, found libcFile, sys resolver.System) probe.Resolver {
	if build, ok := goBuildOf(prog); ok {
		return describeGo(who, build, callsLibc(prog), fromLibc(who, prog, found), sys)
	}
	return fromLibc(who, prog, found)
}

// callsLibc reports whether a program calls libc's getaddrinfo: by name in a dynamic one, by its messages in a static one.
func callsLibc(prog program) bool {
	calls := false
	prog.texts(func(text []byte) bool {
		if prog.interp != "" {
			calls = equal(text, []byte("getaddrinfo"))
		} else {
			calls = equal(text, glibcGaiMark) || equal(text, muslGaiMark)
		}
		return !calls
	})
	return calls
}

// describeGo decides between Go's own resolver and libc's.
func describeGo(who string, b goBuild, calls bool, libc probe.Resolver, sys resolver.System) probe.Resolver {
	r := probe.Resolver{Libc: probe.Go, Version: b.Version, Source: probe.SourceDetected}
	if why := b.pure(calls); why != "" {
		r.Why = fmt.Sprintf("%s is a Go program, %s", who, why)
		return r
	}
	switch mode, by := b.netdns(sys.Env); mode {
	case "go":
		r.Why = fmt.Sprintf("%s is a Go program, told by %s to use Go's resolver", who, by)
		return r
	case "cgo":
		libc.Why = fmt.Sprintf("a Go program, told by %s to use libc's resolver; %s", by, libc.Why)
		return libc
	}
	return golang.Decide(&probe.CgoProgram{Program: who, GoVersion: b.Version, Libc: libc}, sys, "")
}

// fromLibc describes the libc of a program that is no Go program, or leaves resolving to it.
func fromLibc(who string, prog program, found libcFile) probe.Resolver {
	if prog.interp == "" {
		return fromStatic(who, prog)
	}
	if found.libc == "" {
		return assumed(fmt.Sprintf("%s uses the loader %s, which is none of glibc or musl", who, quote(prog.interp)))
	}
	r := probe.Resolver{
		Libc: found.libc, Version: found.version, Build: found.build, Source: probe.SourceDetected,
		Why: fmt.Sprintf("read from %s, the libc of %s", printable.Text(found.path, 200), who),
	}
	if found.version != "" {
		return r
	}
	if found.libc == probe.Glibc {
		return assumed(fmt.Sprintf("%s uses glibc, but of a version that could not be read: %s", who, found.missing))
	}
	r.Why = fmt.Sprintf("%s uses musl's loader; its version could not be read: %s", who, found.missing)
	return r
}

// fromStatic tells the libc that a static program carries by its messages.
func fromStatic(who string, prog program) probe.Resolver {
	var glibc, musl, newMusl bool
	version, build := "", ""
	prog.texts(func(text []byte) bool {
		if v, b, ok := glibcBanner(string(text)); ok {
			version, build = v, b
		}
		glibc = glibc || equal(text, glibcMark)
		musl = musl || equal(text, muslGaiMark) || bytes.HasPrefix(text, muslLibcMark)
		newMusl = newMusl || equal(text, musl124Mark)
		return true
	})
	switch {
	case version != "":
		return probe.Resolver{
			Libc: probe.Glibc, Version: version, Build: build, Source: probe.SourceDetected,
			Why: who + " is a static program that carries glibc",
		}
	case glibc:
		return assumed(who + " is a static program that carries glibc, which does not say its version")
	case musl:
		r := probe.Resolver{Libc: probe.Musl, Source: probe.SourceDetected, Why: who + " is a static program that carries musl, which does not say its version"}
		if newMusl {
			r.Version, r.Why = "1.2.4", who+" is a static program that carries musl 1.2.4 or later"
		}
		return r
	}
	return assumed(who + " is a static program whose libc could not be told")
}
