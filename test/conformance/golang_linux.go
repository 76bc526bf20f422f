package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// NewGoBench is NewBench for Go without cgo, by the command that is given ("go").
func NewGoBench(ctx context.Context, folder string, parallel int, command string) (*Bench, error) {
	b := &Bench{
		Library: Library{Libc: probe.Go}, program: filepath.Join(folder, "lookup"),
		slots: make(chan struct{}, parallel), starts: make(chan struct{}, 2*runtime.NumCPU()),
	}
	build := exec.CommandContext(ctx, command, "build", "-o", b.program, "testdata/lookup.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile testdata/lookup.go with %s: %w: %s", command, err, out)
	}
	version, err := exec.CommandContext(ctx, b.program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask the program for its version of Go: %w", err)
	}
	b.Version = strings.TrimSpace(string(version))
	if err := b.keepStamping(); err != nil {
		return nil, errors.Join(fmt.Errorf("have packets stamped: %w", err), b.Close())
	}
	return b, nil
}
