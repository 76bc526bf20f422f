package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sort"
	"strings"
)

// imageFile is one file of an image's only layer.
type imageFile struct {
	path string // absolute, in the image
	from string // file to copy, on this machine; empty: text or link
	text string
	link string // target of a symbolic link
	dir  bool   // a folder, where its mode matters; others are made as needed
	mode int64  // 0: 0644
}

// imageConfig is the part of the OCI image configuration that our images use.
type imageConfig struct {
	Entrypoint []string `json:"Entrypoint,omitempty"`
	Cmd        []string `json:"Cmd,omitempty"`
	Env        []string `json:"Env,omitempty"`
	User       string   `json:"User,omitempty"`
}

// builtImage is what goes into the archive.
type builtImage struct {
	name   string
	config imageConfig
	files  []imageFile
}

const (
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
)

// descriptor points to a blob: OCI image specification, descriptor.md.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// writeArchive writes one OCI image layout with all images, so that one import brings them all. The
// same files give the same bytes.
func writeArchive(w io.Writer, images []builtImage) error {
	blobs := map[string][]byte{}
	add := func(mediaType string, blob []byte) descriptor {
		sum := sha256.Sum256(blob)
		digest := hex.EncodeToString(sum[:])
		blobs[digest] = blob
		return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(blob)}
	}
	var manifests []descriptor
	for _, image := range images {
		layer, err := layerOf(image.files)
		if err != nil {
			return fmt.Errorf("make the layer of %s: %w", image.name, err)
		}
		layerBlob := add(mediaLayer, layer)
		config, err := json.Marshal(map[string]any{
			"architecture": runtime.GOARCH, "os": "linux", "config": image.config,
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layerBlob.Digest}},
		})
		if err != nil {
			return fmt.Errorf("make the configuration of %s: %w", image.name, err)
		}
		manifest, err := json.Marshal(map[string]any{
			"schemaVersion": 2, "mediaType": mediaManifest, "config": add(mediaConfig, config), "layers": []descriptor{layerBlob},
		})
		if err != nil {
			return fmt.Errorf("make the manifest of %s: %w", image.name, err)
		}
		blob := add(mediaManifest, manifest)
		blob.Annotations = map[string]string{
			"io.containerd.image.name":          image.name,
			"org.opencontainers.image.ref.name": image.name[strings.LastIndex(image.name, ":")+1:],
		}
		manifests = append(manifests, blob)
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": manifests})
	if err != nil {
		return fmt.Errorf("make the index: %w", err)
	}
	return writeLayout(w, index, blobs)
}

func writeLayout(w io.Writer, index []byte, blobs map[string][]byte) error {
	out := tar.NewWriter(w)
	digests := make([]string, 0, len(blobs))
	for digest := range blobs {
		digests = append(digests, digest)
	}
	sort.Strings(digests)
	files := []struct {
		name string
		text []byte
	}{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", index}}
	for _, file := range files {
		if err := writeEntry(out, tar.Header{Name: file.name, Mode: 0o644}, file.text); err != nil {
			return err
		}
	}
	for _, digest := range digests {
		if err := writeEntry(out, tar.Header{Name: "blobs/sha256/" + digest, Mode: 0o644}, blobs[digest]); err != nil {
			return err
		}
	}
	return out.Close()
}

// layerOf is a tar of the files with all folders above them.
func layerOf(files []imageFile) ([]byte, error) {
	var layer bytes.Buffer
	out := tar.NewWriter(&layer)
	folders := map[string]bool{"/": true}
	for _, file := range files {
		for _, folder := range foldersAbove(file.path) {
			if folders[folder] {
				continue
			}
			folders[folder] = true
			header := tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(folder, "/") + "/", Mode: 0o755}
			if err := writeEntry(out, header, nil); err != nil {
				return nil, err
			}
		}
		header := tar.Header{Name: strings.TrimPrefix(file.path, "/"), Mode: file.mode}
		if header.Mode == 0 {
			header.Mode = 0o644
		}
		text := []byte(file.text)
		switch {
		case file.dir:
			folders[file.path] = true
			header.Typeflag, text = tar.TypeDir, nil
			header.Name += "/"
		case file.link != "":
			header.Typeflag, header.Linkname, text = tar.TypeSymlink, file.link, nil
		case file.from != "":
			var err error
			if text, err = os.ReadFile(file.from); err != nil {
				return nil, err
			}
		}
		if err := writeEntry(out, header, text); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return layer.Bytes(), nil
}

// foldersAbove lists the folders of an absolute path, the highest first.
func foldersAbove(file string) []string {
	var folders []string
	for folder := path.Dir(file); folder != "/"; folder = path.Dir(folder) {
		folders = append([]string{folder}, folders...)
	}
	return folders
}

func writeEntry(out *tar.Writer, header tar.Header, text []byte) error {
	if header.Typeflag == 0 {
		header.Typeflag = tar.TypeReg
	}
	header.Size = int64(len(text))
	if err := out.WriteHeader(&header); err != nil {
		return fmt.Errorf("archive %s: %w", header.Name, err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("archive %s: %w", header.Name, err)
	}
	return nil
}
