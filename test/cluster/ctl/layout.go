package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// The cluster is one per machine, so its names are constants: what a killed cluster has left can
// then be found without any record of it.
const (
	netnsName  = "dnsprobe"
	cgroupName = "dnsprobe-cluster"
	bridgeName = "dnsprobe0"
	podBridge  = "dnsprobe1"
	cniName    = "dnsprobe"
	nodeName   = "node-a"
)

// All addresses are from the benchmarking range of RFC 2544 and never leave the network namespace.
const (
	nodeAddress    = "198.18.0.1"
	outsideAddress = "198.18.0.2"
	podRange       = "198.18.16.0/20"
	podGateway     = "198.18.16.1"
	serviceRange   = "198.19.0.0/16"
	serviceAPI     = "198.19.0.1"
	serviceDNS     = "198.19.0.10"
	apiPort        = "6443"
	controlPort    = "8053"
)

// documentationRanges are where the outside world lives; the node owns them whole.
var documentationRanges = []string{"203.0.113.0/24", "198.51.100.0/24", "2001:db8::/32"}

// layout is where everything lies on this machine.
type layout struct {
	Source string // test/cluster in the tree
	Cache  string // built binaries and images, kept over `down`
	State  string // certificates, etcd, containerd, kubelet, logs; removed by `down`
	Run    string // sockets; short, as a socket's path has 107 bytes at most
	Netns  string // the bind mount that keeps the network namespace
}

func newLayout() (layout, error) {
	_, file, _, _ := runtime.Caller(0)
	source := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(filepath.Join(source, "binaries", "kubernetes", "go.mod")); err != nil {
		return layout{}, fmt.Errorf("look for the sources of the test cluster beside %s: %w; run it from the tree, with `go run ./ctl` in test/cluster", file, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return layout{}, fmt.Errorf("find a folder to keep built binaries in: %w; set XDG_CACHE_HOME", err)
	}
	return layout{
		Source: source,
		Cache:  filepath.Join(cache, "kubectl-dnsprobe", "testcluster"),
		State:  "/var/lib/dnsprobe-cluster",
		Run:    "/run/dnsprobe-cluster",
		Netns:  filepath.Join("/run/netns", netnsName),
	}, nil
}

func (l layout) state(parts ...string) string {
	return filepath.Join(append([]string{l.State}, parts...)...)
}

func (l layout) run(parts ...string) string {
	return filepath.Join(append([]string{l.Run}, parts...)...)
}

// bin is where the daemons' programs are linked to, whatever cache folder they come from.
func (l layout) bin(parts ...string) string {
	return l.state(append([]string{"bin"}, parts...)...)
}

func (l layout) kubeconfig(user string) string { return l.state(user + ".kubeconfig") }

func (l layout) containerdSocket() string { return l.run("containerd.sock") }
