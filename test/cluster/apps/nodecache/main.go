// Command nodecache stands for cmd/node-cache of k8s.io/dns, the program of NodeLocal DNSCache, which is a CoreDNS of its own build:
// it takes the addresses of -localip on the node's network, and then becomes the CoreDNS beside it, with the Corefile of -conf.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	addresses := flag.String("localip", "169.254.20.10", "addresses to take, separated by commas")
	corefile := flag.String("conf", "/etc/Corefile", "the Corefile")
	flag.Parse()
	fmt.Fprintf(os.Stderr, "nodecache: %v\n", run(strings.Split(*addresses, ","), *corefile))
	os.Exit(1)
}

// run ends only when something fails.
func run(addresses []string, corefile string) error {
	for i, address := range addresses {
		if err := take(fmt.Sprintf("lo:nodelocal%d", i), address); err != nil {
			return fmt.Errorf("take the address %s: %w", address, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the CoreDNS beside this program: %w", err)
	}
	coredns := filepath.Join(filepath.Dir(self), "coredns")
	return fmt.Errorf("run %s: %w", coredns, unix.Exec(coredns, []string{coredns, "-conf", corefile}, os.Environ()))
}

// take gives an address to the node, as a further one of the loopback device. To take it again changes nothing.
func take(label, address string) error {
	ip := net.ParseIP(address).To4()
	if ip == nil {
		return fmt.Errorf("no IPv4 address")
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	for _, set := range []struct {
		request uint
		value   []byte
	}{{unix.SIOCSIFADDR, ip}, {unix.SIOCSIFNETMASK, net.CIDRMask(32, 32)}} {
		request, err := unix.NewIfreq(label)
		if err != nil {
			return err
		}
		if err := request.SetInet4Addr(set.value); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, set.request, request); err != nil {
			return err
		}
	}
	return nil
}
