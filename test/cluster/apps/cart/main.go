// Command cart is the Go counterpart of apps/loop: it resolves each NAME:PORT given and connects
// to it, forever, with Go's own resolver (it is built without cgo). A line is printed only when the
// outcome for a name changes.
//
//	cart [--once] NAME:PORT...
//	cart --libc
//
// With --once it makes one round and exits 0 if every name could be resolved, else 1. With --libc it
// says which Go it was built with.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	targets := os.Args[1:]
	once := len(targets) > 0 && targets[0] == "--once"
	switch {
	case len(targets) == 1 && targets[0] == "--libc":
		fmt.Println("go", strings.TrimPrefix(runtime.Version(), "go"))
		return
	case once:
		targets = targets[1:]
	}
	if !run(targets, once) {
		os.Exit(1)
	}
}

// run goes round after round until it is stopped, or makes one. It reports whether every name could be resolved in the last one.
func run(targets []string, once bool) bool {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	last := map[string]string{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		all := true
		for _, target := range targets {
			outcome, resolved := attempt(ctx, target)
			all = all && resolved
			if outcome != last[target] {
				fmt.Println(target, outcome)
				last[target] = outcome
			}
		}
		if once {
			return all
		}
		select {
		case <-ctx.Done():
			return true
		case <-tick.C:
		}
	}
}

// attempt resolves and connects apart from each other, as net.Dial would hide which of the two failed.
func attempt(ctx context.Context, target string) (outcome string, resolved bool) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return err.Error(), false
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "not resolved: " + err.Error(), false
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(addresses[0], port))
	if err != nil {
		return addresses[0] + " " + err.Error(), true
	}
	conn.Close()
	return addresses[0] + " connected", true
}
