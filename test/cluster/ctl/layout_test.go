package main

import (
	"strings"
	"testing"
)

// The kernel refuses longer socket paths (unix(7)): containerd puts a digest of 64 digits below its socket folder.
func TestSocketPathsAreShortEnough(t *testing.T) {
	l, err := newLayout()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{l.containerdSocket(), l.run("s", strings.Repeat("0", 64)), l.run("containerd.sock.ttrpc")} {
		if len(path) > 107 {
			t.Errorf("%s has %d bytes, more than the 107 of a socket path", path, len(path))
		}
	}
}
