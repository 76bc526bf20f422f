package conformance

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// Musl says where the real musl is.
type Musl struct {
	// Compiler is musl's wrapper around gcc ("musl-gcc").
	Compiler string
	// Version is that of its library; empty asks dpkg for the one that is installed.
	Version string
}

// CannotRun says what is missing on this machine to compare with musl, nil when nothing is.
func (m Musl) CannotRun() error {
	if err := CannotRun(); err != nil {
		return err
	}
	if _, err := exec.LookPath(m.Compiler); err != nil {
		return fmt.Errorf("it needs %s, to compile the program that calls the real musl (Debian: apt-get install musl-tools)", m.Compiler)
	}
	return nil
}

// NewMuslBench is NewBench for musl, whose program is linked statically.
func NewMuslBench(ctx context.Context, folder string, room *Room, m Musl) (*Bench, error) {
	if m.Version == "" {
		out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", "musl-dev").Output()
		if err != nil {
			return nil, fmt.Errorf("ask dpkg for the version of musl (say it with -musl-version where there is no dpkg): %w", err)
		}
		m.Version = strings.TrimSpace(string(out))
	}
	if _, ok := resolvconf.ParseMuslVersion(m.Version); !ok {
		return nil, fmt.Errorf("%q is no version of musl", m.Version)
	}
	b := &Bench{
		Library: Library{Libc: probe.Musl, Version: m.Version}, program: filepath.Join(folder, "getaddrinfo-musl"),
		room: room,
	}
	build := exec.CommandContext(ctx, m.Compiler, "-static", "-O2", "-Wall", "-Werror", "-Itestdata/musl", "-o", b.program, "testdata/getaddrinfo.c")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile testdata/getaddrinfo.c with %s: %w: %s", m.Compiler, err, out)
	}
	if err := b.keepStamping(); err != nil {
		return nil, errors.Join(fmt.Errorf("have packets stamped: %w", err), b.Close())
	}
	return b, nil
}
