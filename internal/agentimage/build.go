package agentimage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// Build builds the agent for a GOARCH, static and without anything that differs from machine to machine, and returns the
// binary. It runs the go command in the current module.
func Build(ctx context.Context, arch, ldflags string) (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "dnsprobe-image-")
	if err != nil {
		return nil, fmt.Errorf("build the agent: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil && gone != nil {
			err = gone
		}
	}()
	out := filepath.Join(dir, "dnsprobe-agent")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= "+ldflags, "-o", out, module()+"/cmd/dnsprobe-agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the agent for %s: %w\n%s", arch, err, text)
	}
	return os.ReadFile(out)
}

// module is this module's path.
func module() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		return info.Main.Path
	}
	return "github.com/kubectl-dnsprobe/kubectl-dnsprobe"
}
