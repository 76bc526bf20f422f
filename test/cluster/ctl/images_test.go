package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"reflect"
	"testing"
)

func readTar(t *testing.T, blob []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	in := tar.NewReader(bytes.NewReader(blob))
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[header.Name]; twice {
			t.Errorf("%s is in the archive twice", header.Name)
		}
		files[header.Name] = text
		if header.Linkname != "" {
			files[header.Name] = []byte("-> " + header.Linkname)
		}
	}
}

func TestWriteArchive(t *testing.T) {
	images := []builtImage{
		{name: "localhost/one:1", config: imageConfig{Entrypoint: []string{"/app/one"}}, files: []imageFile{
			{path: "/app/one", text: "program", mode: 0o755}, {path: "/app/two", link: "one"},
		}},
		{name: "localhost/other:2", config: imageConfig{User: "1000"}, files: []imageFile{
			{path: "/tmp", dir: true, mode: 0o1777}, {path: "/tmp/a", text: "a"},
		}},
	}
	var first, second bytes.Buffer
	if err := errors.Join(writeArchive(&first, images), writeArchive(&second, images)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same images give different archives")
	}
	files := readTar(t, first.Bytes())
	for name, text := range files {
		if dir, digest := path.Split(name); dir == "blobs/sha256/" {
			sum := sha256.Sum256(text)
			if hex.EncodeToString(sum[:]) != digest {
				t.Errorf("the blob %s has another digest", name)
			}
		}
	}
	blob := func(digest string) []byte { return files["blobs/sha256/"+digest[len("sha256:"):]] }
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Manifests) != 2 || index.Manifests[1].Annotations["io.containerd.image.name"] != "localhost/other:2" {
		t.Fatalf("index %+v", index)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	if err := json.Unmarshal(blob(index.Manifests[0].Digest), &manifest); err != nil {
		t.Fatal(err)
	}
	layer := readTar(t, blob(manifest.Layers[0].Digest))
	want := map[string][]byte{"app/": {}, "app/one": []byte("program"), "app/two": []byte("-> one")}
	if !reflect.DeepEqual(layer, want) {
		t.Errorf("layer %q, want %q", layer, want)
	}
	var config struct {
		Config imageConfig
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(blob(manifest.Config.Digest), &config); err != nil {
		t.Fatal(err)
	}
	if config.Config.Entrypoint[0] != "/app/one" || config.Rootfs.DiffIDs[0] != manifest.Layers[0].Digest {
		t.Errorf("configuration %+v", config)
	}
}

func TestWriteArchiveNamesTheMissingFile(t *testing.T) {
	err := writeArchive(io.Discard, []builtImage{{name: "x:1", files: []imageFile{{path: "/a", from: "/no/such/file"}}}})
	if err == nil {
		t.Error("an image with a missing file was written")
	}
}

func TestParseLdd(t *testing.T) {
	const text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n"
	want := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}
	if got := parseLdd(text); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFoldersAbove(t *testing.T) {
	want := []string{"/a", "/a/b"}
	if got := foldersAbove("/a/b/c"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := foldersAbove("/c"); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}
