// Command kubectl-dnsprobe is the kubectl plugin. Only the edge of the process is here: streams, signals, exit code.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cli"
)

// gcPercent lets the heap of a run grow to 16 MB before anything is collected. A run allocates some 10 MB and keeps 2; on a busy
// machine every collection costs it as much as a round trip to the cluster.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run())
}

func run() int {
	// A reader of our output that goes away is an error like others (EPIPE), so that the session in the pod is closed in
	// good order, instead of a death on the spot.
	signal.Ignore(syscall.SIGPIPE)

	// The first signal asks to stop; after it the default holds again, so that the second one kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	return cli.Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
}
