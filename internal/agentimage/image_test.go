package agentimage

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func image(t *testing.T, agent string) v1.Image {
	t.Helper()
	img, err := Image([]byte(agent), "arm64")
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestTheImageIsWhatARestrictedPodNeeds(t *testing.T) {
	const reference = "ghcr.io/example/agent:v1"
	file := filepath.Join(t.TempDir(), "image.tar")
	var archive bytes.Buffer
	if err := Save(&archive, image(t, "agent"), reference); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tarball.ImageFromPath(file, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := loaded.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{User: "65532:65532", Entrypoint: []string{"/dnsprobe-agent"}, Cmd: []string{"hub"}, WorkingDir: "/"}
	if diff := cmp.Diff(want, config.Config); diff != "" || config.OS != "linux" || config.Architecture != "arm64" {
		t.Errorf("%s/%s, configuration (-want +got):\n%s", config.OS, config.Architecture, diff)
	}
	layers, err := loaded.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	files := map[string]string{}
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h.FileInfo().Mode().String() + " " + string(text)
		if !h.ModTime.Equal(epoch) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s: modified %s by %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
	}
	if diff := cmp.Diff(map[string]string{"dnsprobe-agent": "-r-xr-xr-x agent", "tmp/": "dtrwxrwxrwx "}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestTheImageDependsOnTheBinaryAlone(t *testing.T) {
	digest := func(agent string) string {
		h, err := image(t, agent).Digest()
		if err != nil {
			t.Fatal(err)
		}
		return h.String()
	}
	if a, b := digest("agent"), digest("agent"); a != b {
		t.Errorf("two images of one binary: %s and %s", a, b)
	}
	if a, b := digest("agent"), digest("other"); a == b {
		t.Errorf("two binaries have the image %s", a)
	}
	// It may only change on purpose, since it makes every node pull anew.
	if got := digest("agent"); got != known {
		t.Errorf("digest %s, want %s", got, known)
	}
}

// known is the digest of the image whose binary is the text "agent", for arm64.
const known = "sha256:0b5954a087faab52bed9f39e7fe797ce7424bcf09ff1273156bac68913ea0d7f"

func TestSaveRefusesAReferenceThatIsNone(t *testing.T) {
	for _, reference := range []string{"", "agent", "UPPER/case:v1", "ghcr.io/x/y"} {
		if err := Save(io.Discard, image(t, "agent"), reference); err == nil || !strings.Contains(err.Error(), "give a reference like") {
			t.Errorf("%q: %v", reference, err)
		}
	}
}

func TestTheAgentIsBuiltTheSameTwice(t *testing.T) {
	first, err := Build(t.Context(), "amd64", "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Build(t.Context(), "amd64", "")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two builds differ")
	}
	program, err := elf.NewFile(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the agent is no static program: it has a %s", p.Type)
		}
	}
	if _, err := Build(t.Context(), "pdp11", ""); err == nil || !strings.Contains(err.Error(), "build the agent for pdp11") {
		t.Errorf("another machine: %v", err)
	}
}
