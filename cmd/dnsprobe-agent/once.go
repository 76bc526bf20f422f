package main

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// once resolves hosts one after the other and writes the event stream, for where nobody can attach.
func once(ctx context.Context, args []string, out io.Writer) error {
	set := flags("once")
	container := set.String("target-container", "", "")
	if err := set.Parse(args); err != nil {
		return usageError{err}
	}
	if set.NArg() == 0 {
		return usageError{errors.New("once needs a host")}
	}
	return stream(ctx, &engineHere{place: target.Pod(*container), network: realNetwork}, set.Args(), out)
}

// stream writes a whole event stream of resolving hosts.
func stream(ctx context.Context, e *engineHere, hosts []string, out io.Writer) error {
	enc := probe.NewEncoder(out)
	var failed error
	emit := func(ev probe.Event) {
		if err := enc.Encode(ev); err != nil && failed == nil {
			failed = err
		}
	}
	emit(probe.Event{Kind: probe.KindRun, Run: &probe.Header{
		Schema: probe.Schema, Tool: probe.Tool{Version: version.Version, Agent: version.Version}, Target: probe.Target{Via: "agent"},
	}})
	if err := e.Read(ctx, emit); err != nil {
		return err
	}
	for i, host := range hosts {
		if err := e.Resolve(ctx, strconv.Itoa(i+1), probe.Ask{Host: host}, emit); err != nil {
			return err
		}
	}
	return failed
}
