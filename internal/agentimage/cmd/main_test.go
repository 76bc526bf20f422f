package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestTheArchiveIsWrittenWhole(t *testing.T) {
	dir := t.TempDir()
	agent, archive := filepath.Join(dir, "agent"), filepath.Join(dir, "image.tar")
	if err := os.WriteFile(agent, []byte("agent"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-agent", agent, "-o", archive, "-tag", "localhost/agent:1", "-arch", "arm64"}, &out); err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.ConfigName()
	if err != nil || digest.Hex == "" {
		t.Errorf("the archive's image: %v, %v", digest, err)
	}
	for _, want := range []string{"localhost/agent:1\n", "linux/arm64", archive} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it says %q, want %q in it", out.String(), want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
}

func TestWhatFailsLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	agent, archive := filepath.Join(dir, "agent"), filepath.Join(dir, "image.tar")
	if err := os.WriteFile(agent, []byte("agent"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no binary":    {[]string{"-agent", filepath.Join(dir, "nothing"), "-o", archive}, "nothing"},
		"no reference": {[]string{"-agent", agent, "-o", archive, "-tag", "agent"}, "give a reference like"},
		"no folder":    {[]string{"-agent", agent, "-o", filepath.Join(dir, "no", "image.tar")}, "no such file or directory"},
	} {
		if err := run(t.Context(), c.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
}
