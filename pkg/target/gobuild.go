package target

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// goBuild is how a Go program was built (the text that `go version -m` shows).
type goBuild struct {
	// Version is the Go version ("1.26.8").
	Version string
	// Settings are the build settings ("CGO_ENABLED": "0"); empty before Go 1.18.
	Settings map[string]string
}

// The header of Go's build information (Go cmd/link/internal/ld/data.go, buildinfo; read as debug/buildinfo does).
const (
	buildMagic  = "\xff Go buildinf:"
	buildAlign  = 16
	buildHeader = 32
	buildInline = 2
	maxBuild    = 1 << 20
)

// goBuildOf finds a program's Go build information; false when it has none.
func goBuildOf(p program) (goBuild, bool) {
	left := int64(maxScan)
	for _, s := range p.segments {
		if s.flags&writable == 0 {
			continue
		}
		size := min(s.size, left)
		left -= size
		if at, ok := findAligned(io.NewSectionReader(p.file, s.off, size), []byte(buildMagic), buildAlign); ok {
			return readBuild(io.NewSectionReader(p.file, s.off+at, maxBuild)), true
		}
	}
	return goBuild{}, false
}

// findAligned finds what at a multiple of align in a stream.
func findAligned(in io.Reader, what []byte, align int64) (at int64, ok bool) {
	chunk := make([]byte, 64<<10)
	for base := int64(0); ; base += int64(len(chunk)) {
		// Chunks are multiples of align, so nothing that is aligned straddles two of them.
		n, err := io.ReadFull(in, chunk)
		for i := 0; i < n; i += int(align) {
			if bytes.HasPrefix(chunk[i:n], what) {
				return base + int64(i), true
			}
		}
		if err != nil {
			return 0, false
		}
	}
}

// readBuild reads the build information that starts at in. What is broken in it is left out.
func readBuild(in *io.SectionReader) goBuild {
	data, _ := io.ReadAll(in) // Bounded by maxBuild; the end of the file is no error here.
	b := goBuild{Settings: map[string]string{}}
	if len(data) < buildHeader || data[15]&buildInline == 0 {
		return b // Before Go 1.18 it is made of pointers, and has no settings.
	}
	version, rest := varString(data[buildHeader:])
	module, _ := varString(rest)
	b.Version = strings.TrimPrefix(cut(version, 64), "go")
	for line := range strings.Lines(module) {
		setting, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "build\t")
		if key, value, found := strings.Cut(setting, "="); ok && found {
			b.Settings[key] = cut(value, maxVariable)
		}
	}
	return b
}

func varString(data []byte) (string, []byte) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return "", nil
	}
	return string(data[n : n+int(size)]), data[n+int(size):]
}

// tag reports whether a build tag was set.
func (b goBuild) tag(want string) bool {
	for tag := range strings.SplitSeq(b.Settings["-tags"], ",") {
		if tag == want {
			return true
		}
	}
	return false
}

// pure returns why the program can only use Go's own resolver, empty when it can also use libc's. calls tells whether
// it calls libc's getaddrinfo at all.
func (b goBuild) pure(calls bool) string {
	switch {
	case b.Settings["CGO_ENABLED"] == "0":
		return "built with CGO_ENABLED=0"
	case b.tag("netgo"):
		return "built with -tags netgo"
	case !calls:
		return "built without a call of libc's getaddrinfo"
	}
	return ""
}

// netdns returns the resolver that GODEBUG or a build tag asks for: "go", "cgo", or empty for neither, and what asked.
func (b goBuild) netdns(env map[string]string) (mode, by string) {
	// The environment comes after what was built in, and the last one counts (Go runtime, godebugenv).
	for _, from := range []struct{ godebug, by string }{
		{env["GODEBUG"], "GODEBUG="}, {b.Settings["DefaultGODEBUG"], "a built-in GODEBUG "},
	} {
		for setting := range strings.SplitSeq(from.godebug, ",") {
			value, ok := strings.CutPrefix(setting, "netdns=")
			for part := range strings.SplitSeq(value, "+") {
				if ok && (part == "go" || part == "cgo") {
					mode, by = part, from.by+"netdns="+part
				}
			}
		}
		if mode != "" {
			return mode, by
		}
	}
	if b.tag("netcgo") {
		return "cgo", "-tags netcgo"
	}
	return "", ""
}
