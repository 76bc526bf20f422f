// Looks every name up with Go's package net and prints what it returned, for comparison with our resolver. It takes the
// arguments of getaddrinfo.c and prints the same lines:
//
//	START_NS END_NS CODE ADDRESS...
//
// CODE is 0, or the place from 1 of the error's text in the list below. Of the flags, 4 and 6 ask for one family; Go has none of
// the others. Addresses of both families are sorted: their order is that of two goroutines where they sort equal.
//
// It is kept to what Go 1.19 has, so that older releases can be compared with, too.
//
// With the single argument "version" it prints the version of Go.
package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

var texts = []string{
	"no such host", "server misbehaving", "lame referral", "i/o timeout", "cannot unmarshal DNS message", "invalid DNS response",
	"no answer from DNS server", "connection refused", "connection reset by peer", "no route to host", "network is unreachable",
	"connection timed out", "EOF", "no suitable address found", "cannot marshal DNS message", "invalid argument",
	"cannot assign requested address", "unexpected EOF", "broken pipe", "address family not supported by protocol",
	"insufficient data for calculated length type", "Temporary failure in name resolution",
	"Address family for hostname not supported", "Non-recoverable failure in name resolution",
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(strings.TrimPrefix(runtime.Version(), "go"))
		return
	}
	pause, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for i := 2; i+1 < len(os.Args); i += 2 {
		if i > 2 {
			time.Sleep(time.Duration(pause) * time.Millisecond)
		}
		if err := call(os.Args[i], os.Args[i+1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func call(flags, name string) error {
	network := "ip"
	switch {
	case strings.Contains(flags, "4"):
		network = "ip4"
	case strings.Contains(flags, "6"):
		network = "ip6"
	}
	start := time.Now()
	addrs, err := lookup(network, name)
	end := time.Now()
	code := 0
	if err != nil {
		if code = number(err.Error()); code == 0 {
			return fmt.Errorf("look up %q: an error without a number: %w", name, err)
		}
	}
	line := fmt.Sprintf("%d %d %d", start.UnixNano(), end.UnixNano(), code)
	for _, a := range addrs {
		line += " " + a.String()
	}
	_, err = fmt.Println(line)
	return err
}

func number(err string) int {
	for i, text := range texts {
		if err == text || strings.HasSuffix(err, ": "+text) {
			return i + 1
		}
	}
	return 0
}

func lookup(network, name string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	if network != "ip" {
		ips, err := net.DefaultResolver.LookupIP(context.Background(), network, name)
		for _, ip := range ips {
			a, _ := netip.AddrFromSlice(ip)
			addrs = append(addrs, a.Unmap())
		}
		return addrs, err
	}
	list, err := net.DefaultResolver.LookupIPAddr(context.Background(), name)
	for _, ip := range list {
		a, _ := netip.AddrFromSlice(ip.IP)
		addrs = append(addrs, a.Unmap().WithZone(ip.Zone))
	}
	sort.Slice(addrs, func(i, j int) bool { return addrs[i].Less(addrs[j]) })
	return addrs, err
}
