package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// commandTimeout is for helper programs that end by themselves.
const commandTimeout = 30 * time.Second

// networkCommands make the network of the node, from inside its namespace. Nothing has a default
// route: an address nobody owns is refused at once instead of waited for.
func networkCommands() [][]string {
	commands := [][]string{
		{"ip", "link", "set", "lo", "up"},
		{"ip", "link", "add", bridgeName, "type", "bridge"},
		{"ip", "address", "add", nodeAddress + "/24", "dev", bridgeName},
		{"ip", "address", "add", outsideAddress + "/24", "dev", bridgeName},
		{"ip", "link", "set", bridgeName, "up"},
		// Without a route a packet to a service is refused before kube-proxy's rules can redirect it.
		{"ip", "route", "add", serviceRange, "dev", bridgeName},
		kernelCommand("net/ipv4/ip_forward", "1"),
	}
	for _, addresses := range documentationRanges {
		commands = append(commands, []string{"ip", "route", "add", "local", addresses, "dev", "lo"})
	}
	return commands
}

// makeNetwork makes the network namespace, held by a bind mount, and fills it.
func makeNetwork(ctx context.Context, l layout) error {
	if err := os.MkdirAll(filepath.Dir(l.Netns), 0o755); err != nil {
		return fmt.Errorf("make the folder for the network namespace: %w", err)
	}
	if err := os.WriteFile(l.Netns, nil, 0o444); err != nil {
		return fmt.Errorf("make the file for the network namespace: %w", err)
	}
	// `ip netns add` would turn /run/netns into a mount of its own that stays behind.
	if err := runCommand(ctx, "unshare", "--net="+l.Netns, "true"); err != nil {
		return err
	}
	for _, command := range networkCommands() {
		if err := runCommand(ctx, "nsenter", append([]string{"--net=" + l.Netns}, command...)...); err != nil {
			return err
		}
	}
	// Pods on one bridge talk to each other through services, so bridged packets have to pass
	// kube-proxy's rules. The file is absent where the kernel does not filter bridges.
	const bridged = "net/bridge/bridge-nf-call-iptables"
	if _, err := os.Stat("/proc/sys/" + bridged); err == nil {
		return runCommand(ctx, "nsenter", append([]string{"--net=" + l.Netns}, kernelCommand(bridged, "1")...)...)
	}
	return nil
}

// kernelCommand sets a kernel setting of the network namespace it runs in.
func kernelCommand(name, value string) []string {
	return []string{"/bin/sh", "-c", "echo " + value + " >/proc/sys/" + name}
}

// runCommand runs a helper program; the error has its output.
func runCommand(ctx context.Context, name string, args ...string) error {
	_, err := outputOf(ctx, name, args...)
	return err
}

func outputOf(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return output, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return output, nil
}

// dialInside opens a connection from inside the network namespace. The socket is made on a thread
// of its own that has entered the namespace; the thread ends with the goroutine, as it stays locked.
func dialInside(netns string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		type result struct {
			conn net.Conn
			err  error
		}
		done := make(chan result, 1)
		go func() {
			runtime.LockOSThread()
			conn, err := func() (net.Conn, error) {
				file, err := os.Open(netns)
				if err != nil {
					return nil, err
				}
				defer file.Close()
				if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
					return nil, fmt.Errorf("enter %s: %w", netns, err)
				}
				var dialer net.Dialer
				return dialer.DialContext(ctx, network, address)
			}()
			done <- result{conn, err}
		}()
		r := <-done
		return r.conn, r.err
	}
}
