// Command dnsprobe-agent is the program in the probe's container: the hub of a session as the container's main process, and
// the attach by which people join it. It must stay small; no Kubernetes package may come in.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
)

const usage = `usage:
  dnsprobe-agent hub [--idle 15m] [--keep-after-last 1m] [--target-container ID]
        serve a session until nobody has been attached for the idle limit
  dnsprobe-agent attach
        join the session of this container with stdin and stdout
  dnsprobe-agent once HOST...
        resolve once as the target does, and print the events as NDJSON
  dnsprobe-agent version
`

// Exit codes, as in the plugin: the tool could not do its work, and wrong usage.
const (
	exitFailed = 1
	exitUsage  = 2
)

// A pod has little memory to spare for a guest. The limit is soft: the collector works harder near it, nothing fails.
const (
	memoryLimit = 10 << 20
	gcPercent   = 25
)

func main() {
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) == 0 {
		return misused(errs, errors.New("no command given"))
	}
	var err error
	switch name, rest := args[0], args[1:]; name {
	case "hub":
		err = hub(ctx, rest, errs)
	case "attach":
		err = attach(ctx, rest, in, out)
	case "once":
		err = once(ctx, rest, out)
	case "version":
		_, err = io.WriteString(out, version.String()+"\n")
	case "help", "-h", "--help":
		_, err = io.WriteString(out, usage)
	default:
		err = usageError{errors.New("unknown command " + name)}
	}
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		return misused(errs, wrong)
	case err != nil:
		say(errs, err.Error())
		return exitFailed
	}
	return 0
}

// usageError is a command line that cannot be carried out.
type usageError struct{ error }

func misused(errs io.Writer, err error) int {
	say(errs, err.Error()+"\n"+usage)
	return exitUsage
}

// say writes a line to the container's log.
func say(errs io.Writer, line string) {
	_, _ = io.WriteString(errs, "dnsprobe-agent: "+line+"\n") // There is nowhere to report a log that cannot be written.
}

// flags returns a set of flags that reports errors instead of ending the process.
func flags(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}
