package conformance

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// NewNodeBench is NewBench for dns.lookup of Node, by the command that is given ("node"). glibc is the version of the libc here,
// which Node calls.
func NewNodeBench(ctx context.Context, room *Room, command, glibc string) (*Bench, error) {
	script, err := filepath.Abs("testdata/lookup.js")
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath(command)
	if err != nil {
		return nil, fmt.Errorf("it needs %s, to call dns.lookup (Debian: apt-get install nodejs)", command)
	}
	// One thread calls glibc, so that what glibc keeps in a thread comes with every call.
	b := &Bench{program: program, args: []string{script}, env: []string{"UV_THREADPOOL_SIZE=1"}, room: room}
	b.Library, err = nodeLibrary(ctx, program, script, glibc)
	if err != nil {
		return nil, err
	}
	if err := b.keepStamping(); err != nil {
		return nil, errors.Join(fmt.Errorf("have packets stamped: %w", err), b.Close())
	}
	return b, nil
}

func nodeLibrary(ctx context.Context, program, script, glibc string) (l Library, err error) {
	version, err := exec.CommandContext(ctx, program, script, "version").Output()
	if err != nil {
		return l, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	return Library{Libc: probe.Glibc, Version: glibc, Node: strings.TrimSpace(string(version))}, nil
}
