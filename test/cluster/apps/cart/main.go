// Command cart is the Go counterpart of apps/loop: it resolves each NAME:PORT given and connects
// to it, forever, with Go's own resolver (it is built without cgo). A line is printed only when the
// outcome for a name changes.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	last := map[string]string{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, target := range os.Args[1:] {
			outcome := attempt(ctx, target)
			if outcome != last[target] {
				fmt.Println(target, outcome)
				last[target] = outcome
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// attempt resolves and connects apart from each other, as net.Dial would hide which of the two failed.
func attempt(ctx context.Context, target string) string {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return err.Error()
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "not resolved: " + err.Error()
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(addresses[0], port))
	if err != nil {
		return addresses[0] + " " + err.Error()
	}
	conn.Close()
	return addresses[0] + " connected"
}
