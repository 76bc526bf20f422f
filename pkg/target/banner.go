package target

import (
	"bytes"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
)

// glibcBanner reads the banner that every libc.so.6 of glibc carries (csu/version.c): "GNU C Library (Debian GLIBC
// 2.36-9+deb12u14) stable release version 2.36." build is the distribution's version, empty where the banner names none.
func glibcBanner(text string) (version, build string, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	rest, ok := strings.CutPrefix(line, "GNU C Library (")
	if !ok {
		return "", "", false
	}
	vendor, rest, ok := strings.Cut(rest, ")")
	if !ok {
		return "", "", false
	}
	_, version, ok = strings.Cut(rest, "version ")
	version = strings.TrimSuffix(version, ".")
	if !ok || !isVersion(version, 2) {
		return "", "", false
	}
	// "Debian GLIBC 2.36-9+deb12u14", but "GNU libc" on Fedora.
	if words := strings.Fields(vendor); len(words) > 0 {
		if last := words[len(words)-1]; strings.HasPrefix(last, version) && last != version {
			build = last
		}
	}
	return version, build, true
}

// muslVersion reads the version that musl's loader carries as a text of its own ("1.2.3", "1.2.5-git-23-gb8c2").
func muslVersion(text string) (string, bool) {
	number, git, _ := strings.Cut(text, "-git-")
	if !isVersion(number, 3) || len(text) > 40 || !printable.Safe([]rune(text)[0]) || strings.ContainsAny(git, " /%") {
		return "", false
	}
	// musl is at 1.2; an address or another library's version would not begin like this.
	if major, _, _ := strings.Cut(number, "."); major != "0" && major != "1" && major != "2" {
		return "", false
	}
	return text, true
}

// isVersion reports whether s is made of parts numbers of at most three digits with dots between them.
func isVersion(s string, parts int) bool {
	list := strings.Split(s, ".")
	if len(list) != parts {
		return false
	}
	for _, p := range list {
		if p == "" || len(p) > 3 || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return true
}

// packageVersion finds the version of a package in the database of dpkg or apk: blocks of "Package: libc6" and "Version: ..."
// lines, or of "P:musl" and "V:..." ones, with an empty line between blocks.
func packageVersion(db, name, nameKey, versionKey string) string {
	for block := range strings.SplitSeq(db, "\n\n") {
		if !strings.Contains(block, nameKey+name+"\n") {
			continue
		}
		right, version := false, ""
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if line == nameKey+name {
				right = true
			}
			if v, ok := strings.CutPrefix(line, versionKey); ok {
				version = v
			}
		}
		if right && version != "" {
			return cut(version, 100)
		}
	}
	return ""
}

// marks are texts by which a static program gives away the libc that it carries.
var (
	glibcMark     = []byte("GLIBC_TUNABLES")            // elf/dl-tunables.c
	glibcGaiMark  = []byte("Name or service not known") // sysdeps/posix/gai_strerror.c
	muslGaiMark   = []byte("Name does not resolve")     // src/network/gai_strerror.c
	musl124Mark   = []byte("Name has no usable address")
	muslLibcMark  = []byte("musl libc (")
	glibcLibcMark = []byte("GNU C Library (")
)

func equal(a, b []byte) bool { return bytes.Equal(a, b) }
