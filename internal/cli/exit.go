package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The exit codes. "Could not test" (1) is never mixed up with "DNS is broken" (3).
const (
	// ExitOK: every host resolved, and no finding at or above --fail-on.
	ExitOK = 0
	// ExitFailed: the tool could not do its work.
	ExitFailed = 1
	// ExitUsage: the command line is wrong.
	ExitUsage = 2
	// ExitUnresolved: a host did not resolve.
	ExitUnresolved = 3
	// ExitFindings: all resolved, with findings at or above --fail-on.
	ExitFindings = 4
	// ExitInterrupted: somebody pressed Ctrl-C.
	ExitInterrupted = 130
)

// exitError ends the program with Code. Err is printed once, at the edge, with Next on a line of its own; a nil Err prints
// nothing.
type exitError struct {
	code int
	err  error
	next string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// NextStep is what to do about the error.
func (e *exitError) NextStep() string { return e.next }

// usageError says that the command line is wrong, and what to type instead.
func usageError(next, format string, args ...any) error {
	return &exitError{code: ExitUsage, err: fmt.Errorf(format, args...), next: next}
}

// nextStepper is an error that knows what to do about it; the packages below have their own types.
type nextStepper interface {
	error
	NextStep() string
}

// exitCode returns the exit code for what a command returned.
func exitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if errors.Is(err, context.Canceled) {
		return ExitInterrupted
	}
	return ExitFailed
}

// printError writes the one message about err: "error: ..." and, below it, the next step. An interruption and a reader that
// went away need no message.
func printError(w io.Writer, err error) {
	if e, ok := errors.AsType[*exitError](err); ok && e.err == nil {
		return
	}
	if errors.Is(err, context.Canceled) || isBrokenPipe(err) {
		return
	}
	// Errors quote API servers and pods.
	fmt.Fprintf(w, "error: %s\n", strings.Join(printable.Lines(err.Error(), mostLines, printable.MaxText), "\n"))
	if n, ok := errors.AsType[nextStepper](err); ok && n.NextStep() != "" {
		fmt.Fprintln(w, strings.Join(printable.Lines(n.NextStep(), mostLines, printable.MaxText), "\n"))
	}
}

// mostLines bounds a message that quotes others.
const mostLines = 20

// isBrokenPipe says whether err means that nobody reads our output any more.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// verdict returns the exit code of a run that came to its end. hosts are the hosts asked for on the command line: the
// resolutions of others (names that must keep working, what-if) decide nothing.
func verdict(run probe.Run, hosts []string, failOn probe.Severity) int {
	first := map[string]probe.Outcome{}
	for _, r := range run.Resolutions {
		if _, seen := first[r.Host]; !seen && r.Variant == probe.VariantNow {
			first[r.Host] = r.Outcome
		}
	}
	code := ExitOK
	for _, h := range hosts {
		switch first[h] {
		case probe.OK:
		case "":
			return ExitFailed
		default:
			code = ExitUnresolved
		}
	}
	if code == ExitOK && failOn != "" {
		for _, f := range run.Findings {
			if severityRank(f.Severity) >= severityRank(failOn) {
				return ExitFindings
			}
		}
	}
	return code
}

func severityRank(s probe.Severity) int {
	switch s {
	case probe.Info:
		return 1
	case probe.Warning:
		return 2
	case probe.Critical:
		return 3
	}
	return 0
}
