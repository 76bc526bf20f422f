package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// NewGoBench is NewBench for Go, by the command that is given ("go"). libc is the version of the glibc that the program with cgo
// calls; empty builds one without.
func NewGoBench(ctx context.Context, folder string, room *Room, command, libc string) (*Bench, error) {
	cgo := "CGO_ENABLED=0"
	if libc != "" {
		cgo = "CGO_ENABLED=1"
	}
	b := &Bench{Library: Library{Libc: probe.Go}, program: filepath.Join(folder, "lookup"), room: room}
	if err := buildLookup(ctx, folder, b.program, command, cgo); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, b.program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the program for its version of Go: %w", err)
	}
	if b.Version = strings.TrimSpace(string(version)); libc != "" {
		b.Version += withGlibc + libc
	}
	if err := b.keepStamping(); err != nil {
		return nil, errors.Join(fmt.Errorf("have packets stamped: %w", err), b.Close())
	}
	return b, nil
}

// buildLookup compiles testdata/lookup.go in a module of its own: that of this repository asks for a newer Go than command may be.
func buildLookup(ctx context.Context, folder, program, command string, env ...string) error {
	text, err := os.ReadFile("testdata/lookup.go")
	if err != nil {
		return err
	}
	module := filepath.Join(folder, "lookup-module")
	if err := os.MkdirAll(module, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"go.mod": []byte("module example.org/lookup\n\ngo 1.19\n"), "main.go": text} {
		if err := os.WriteFile(filepath.Join(module, name), data, 0o644); err != nil {
			return err
		}
	}
	build := exec.CommandContext(ctx, command, "build", "-o", program, ".")
	build.Dir = module
	// The language version of go.mod decides defaults of GODEBUG; this keeps those of the release.
	build.Env = append(append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-buildvcs=false"), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("compile testdata/lookup.go with %s: %w: %s", command, err, out)
	}
	return nil
}
