// Package agentimage makes the agent's image: from scratch, one layer, the same bytes for the same binary on every machine.
package agentimage

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Binary is the agent's path in the image.
const Binary = "/dnsprobe-agent"

// User is whom the container runs as where the pod says nothing else: numeric, so that runAsNonRoot can be checked
// (k8s.io/api core/v1 SecurityContext.RunAsNonRoot).
const User = "65532:65532"

// epoch is the time of everything in the image, so that it depends on nothing but the binary.
var epoch = time.Unix(0, 0).UTC()

// Image returns the image of the agent's binary for a GOARCH.
func Image(agent []byte, arch string) (v1.Image, error) {
	content, err := layer(agent)
	if err != nil {
		return nil, fmt.Errorf("make the image's layer: %w", err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithCompressionLevel(9))
	if err != nil {
		return nil, fmt.Errorf("make the image's layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		return nil, fmt.Errorf("put the layer into the image: %w", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: epoch}
	config.Config = v1.Config{User: User, Entrypoint: []string{Binary}, Cmd: []string{"hub"}, WorkingDir: "/"}
	for i := range config.History {
		config.History[i] = v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "kubectl-dnsprobe"}
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return nil, fmt.Errorf("write the image's configuration: %w", err)
	}
	return img, nil
}

// layer returns the image's files as a tar archive: the binary, and a /tmp for the hub's socket.
func layer(agent []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	headers := []tar.Header{
		{Typeflag: tar.TypeReg, Name: Binary[1:], Mode: 0o555, Size: int64(len(agent))},
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
	}
	for _, h := range headers {
		h.ModTime, h.Format = epoch, tar.FormatUSTAR
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(agent); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Save writes an image as an archive that `ctr images import` and `docker load` take, under a full reference.
func Save(w io.Writer, img v1.Image, reference string) error {
	ref, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("save the image as %q: %w; give a reference like ghcr.io/owner/name:tag", reference, err)
	}
	if err := tarball.Write(ref, img, w); err != nil {
		return fmt.Errorf("save the image as %q: %w", reference, err)
	}
	return nil
}
