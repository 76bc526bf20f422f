//go:build linux

package conformance

import (
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

var flagNode = flag.String("node", "node", "the command of Node")

// nodeShare is how many cases of other libraries take as long as one of Node, whose start takes a twentieth of a second of a
// processor.
const nodeShare = 4

// TestNode compares with dns.lookup, which is getaddrinfo of glibc with hints.
func TestNode(t *testing.T) {
	t.Parallel()
	libc := bench(t).Version
	b, err := NewNodeBench(t.Context(), room(), *flagNode, libc)
	endIfCannot(t, err)
	t.Cleanup(func() { _ = b.Close() })
	excluded := map[string]int{}
	c := comparison{name: "node", apart: true, again: startedLate}
	n := c.run(t, b, nodeFixedCases(t, b, excluded), randomCases(t, b.Library, (*flagRandom+nodeShare-1)/nodeShare))
	n.print("dns.lookup of node "+b.Node+" with glibc "+b.Version+" (packets, errors and addresses, with both families, one, ADDRCONFIG and V4MAPPED)", excluded)
}

// startedLate picks processes that were killed while they waited for ever: the start of Node takes so long on a busy machine that
// the kernel repeats a SYN less often before the limit.
func startedLate(r *ran) bool { return r.real.Killed && r.ours.Killed }

// nodeFixedCases returns the scenarios recorded with glibc, called by dns.lookup.
func nodeFixedCases(t *testing.T, b *Bench, excluded map[string]int) []*ran {
	t.Helper()
	return recordedCases(t, scenario.LibraryGlibc, excluded, func(_ scenario.Observed, _ scenario.Recording, c *Case) string {
		*c = lookupByNode(*c)
		if !c.isASCII() {
			return NodeConverts
		}
		p, err := Predict(c, b.Library, -1, disturbance{})
		if err != nil {
			t.Fatal(err)
		}
		return b.unpredictable(p)
	}, func(string) bool { return false })
}

// TestNodeAddresses: what Node takes for an address is never looked up.
func TestNodeAddresses(t *testing.T) {
	for host, want := range map[string]bool{
		"1.2.3.4": true, "127.0.0.1": true, "::1": true, "fe80::1%lo": true, "::ffff:1.2.3.4": true,
		"1.2.3": false, "01.2.3.4": false, "1.2.3.4.": false, "256.1.1.1": false, "1.2.3.4.5": false, "0x7f.1": false, "[::1]": false, "": false, "::1%": false,
	} {
		if _, ok := nodeAddress(host); ok != want {
			t.Errorf("%q: an address %t, want %t", host, ok, want)
		}
	}
}

// TestNodeProcess: a host that no buffer holds, and an empty one, never come to the libc.
func TestNodeProcess(t *testing.T) {
	p := Library{Libc: "glibc", Version: "2.36", Node: "20.0.0"}.process(resolver.System{})
	for host, want := range map[string]string{"": "", strings.Repeat("a.", 128): "EINVAL"} {
		res, err := p.Resolve(context.Background(), nil, resolver.Request{Host: host}, nil)
		if err != nil || res.Code != want || len(res.Addresses) != 0 {
			t.Errorf("%.10q: %v %v, want code %q", host, res, err, want)
		}
	}
}
