package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRequiredVersion(t *testing.T) {
	const gomod = "module x\n\nrequire example.com/single v1.2.3\n\nrequire (\n\texample.com/listed v0.4.0\n\texample.com/listed/sub v9.0.0 // indirect\n)\n"
	cases := []struct{ name, module, want string }{
		{"single line", "example.com/single", "v1.2.3"},
		{"in a block", "example.com/listed", "v0.4.0"},
		{"indirect", "example.com/listed/sub", "v9.0.0"},
		{"absent", "example.com/list", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := requiredVersion(gomod, c.module)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, error %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestExpandFlags(t *testing.T) {
	got := expandFlags(" -X a.version=VERSION -X a.minor=MINOR", "v1.37.2")
	if want := "-s -w -X a.version=v1.37.2 -X a.minor=37"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResolveNamesEveryComponentByVersion(t *testing.T) {
	l, err := newLayout()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range components {
		b, err := c.resolve(l)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		parts := strings.Split(strings.TrimPrefix(filepath.Base(b.folder), c.name+"-"), "-")
		if len(parts) < 2 || (c.module != "" && !strings.HasPrefix(parts[0], "v")) {
			t.Errorf("%s: the cache folder %s does not name a version", c.name, b.folder)
		}
	}
}

func TestResolveFollowsTheSources(t *testing.T) {
	l := layout{Source: t.TempDir(), Cache: t.TempDir()}
	c := component{name: "x", dir: ".", sources: []string{"."}}
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(l.Source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := c.resolve(l)
		if err != nil {
			t.Fatal(err)
		}
		return b.folder
	}
	first := write("main.go", "package main")
	if again := write("main.go", "package main"); again != first {
		t.Errorf("the same sources went to %s, then to %s", first, again)
	}
	if other := write("main.go", "package main // changed"); other == first {
		t.Errorf("changed sources still go to %s", first)
	}
	write("main.go", "package main")
	if tested := write("main_test.go", "package main"); tested != first {
		t.Errorf("a test moved the folder from %s to %s", first, tested)
	}
}

func TestMissing(t *testing.T) {
	packages := []debianPackage{{"runc", "runc"}, {"iproute2", "ip"}, {"nftables", "nft"}}
	got := missing(packages, func(program string) bool { return program == "ip" })
	if want := []string{"runc", "nftables"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
