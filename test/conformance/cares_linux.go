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

// CAres says where the real c-ares is.
type CAres struct {
	// Flags are what gcc gets to compile with its headers and library ("-lcares").
	Flags string
}

// NewCAresBench is NewBench for c-ares.
func NewCAresBench(ctx context.Context, folder string, room *Room, a CAres) (*Bench, error) {
	b := &Bench{Library: Library{Libc: probe.CAres}, program: filepath.Join(folder, "cares"), room: room}
	args := append([]string{"-O2", "-Wall", "-Werror", "-Wno-deprecated-declarations", "-o", b.program, "testdata/cares.c"}, strings.Fields(a.Flags)...)
	if out, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile testdata/cares.c (Debian: apt-get install libc-ares-dev): %w: %s", err, out)
	}
	version, err := exec.CommandContext(ctx, b.program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the program for the version of c-ares: %w", err)
	}
	if b.Version = strings.TrimSpace(string(version)); b.Version == "" {
		return nil, errors.New("the program tells no version of c-ares")
	}
	if _, ok := resolvconf.ParseVersion(b.Version); !ok {
		return nil, fmt.Errorf("%q is no version of c-ares", b.Version)
	}
	if err := b.keepStamping(); err != nil {
		return nil, errors.Join(fmt.Errorf("have packets stamped: %w", err), b.Close())
	}
	return b, nil
}
