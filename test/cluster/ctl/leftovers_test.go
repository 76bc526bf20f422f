package main

import (
	"reflect"
	"testing"
)

const mountinfo = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:27 / /sys/fs/cgroup/freezer rw shared:9 - cgroup cgroup rw,freezer
31 22 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
32 22 0:29 / /sys/fs/cgroup/unified rw master:3 propagate_from:2 - cgroup2 cgroup2 rw
40 22 0:4 net:[4026532000] /run/netns/dnsprobe rw - nsfs nsfs rw
41 22 0:40 / /state/containerd/a\040b rw - overlay overlay rw,lowerdir=/l
42 41 0:41 / /state/containerd/a\040b/shm rw - tmpfs shm rw
43 22 0:42 / /stateful rw - tmpfs tmpfs rw
a broken line
`

func TestParseMountinfo(t *testing.T) {
	mounts := parseMountinfo(mountinfo)
	if len(mounts) != 8 {
		t.Fatalf("%d mounts read, want 8: %+v", len(mounts), mounts)
	}
	want := mountpoint{path: "/state/containerd/a b", kind: "overlay", options: "rw,lowerdir=/l"}
	if mounts[5] != want {
		t.Errorf("got %+v, want %+v", mounts[5], want)
	}
}

func TestMountsBelow(t *testing.T) {
	got := mountsBelow(parseMountinfo(mountinfo), "/state", "/run/netns/dnsprobe")
	want := []string{"/state/containerd/a b/shm", "/state/containerd/a b", "/run/netns/dnsprobe"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: the last mounted first, and no neighbour with a longer name", got, want)
	}
}

func TestHierarchies(t *testing.T) {
	found := hierarchies(parseMountinfo(mountinfo))
	if len(found) != 3 {
		t.Fatalf("got %+v, want three", found)
	}
	if !hasController(found[0], "freezer") || hasController(found[1], "freezer") || hasController(found[2], "freezer") {
		t.Errorf("the freezer is not found where it is: %+v", found)
	}
}

func TestInOurCgroup(t *testing.T) {
	cases := []struct {
		name, text string
		want       bool
	}{
		{"daemon", "9:name=systemd:/\n6:freezer:/dnsprobe-cluster/daemons\n", true},
		{"pod, version 2", "0::/dnsprobe-cluster/kubepods/pod1/c\n", true},
		{"the group itself", "0::/dnsprobe-cluster\n", true},
		{"longer name", "0::/dnsprobe-cluster2\n", false},
		{"deeper", "0::/user/dnsprobe-cluster\n", false},
		{"with a colon before", "1:name=a:/dnsprobe-cluster/daemons\n", true},
		{"empty", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := inOurCgroup(c.text); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestParentOf(t *testing.T) {
	for text, want := range map[string]int{
		"12 (bash) S 7 12 12 0":        7,
		"12 (a) S 1) (b) R 99 12 12 0": 99,
		"":                             0,
		"12 (x) S":                     0,
	} {
		if got := parentOf(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestParsePairs(t *testing.T) {
	values, err := parsePairs([]string{"delay=50ms", "drop=", "reset"})
	if err != nil || values.Get("delay") != "50ms" || !values.Has("drop") || !values.Has("reset") {
		t.Errorf("got %v, error %v", values, err)
	}
	if _, err := parsePairs([]string{"=1"}); err == nil {
		t.Error("a pair without a key was accepted")
	}
}
