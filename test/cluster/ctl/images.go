package main

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// image is one image of the cluster; the key is what manifests call it.
type image struct{ key, name string }

var images = []image{
	{"pause", "localhost/pause:1"},
	{"payments", "localhost/payments:1"},
	{"checkout", "localhost/checkout:1"},
	{"cart", "localhost/cart:1"},
	{"ledger", "localhost/ledger:1"},
	{"coredns", "localhost/coredns:1"},
	{"busybox", "localhost/busybox:1.35"},
}

func imageName(key string) string {
	for _, i := range images {
		if i.key == key {
			return i.name
		}
	}
	return ""
}

// imagesFolder names the cache folder of the images by all that goes into them.
func imagesFolder(ctx context.Context, l layout, all []built) (string, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return "", fmt.Errorf("find busybox for its image: %w", err)
	}
	digest := sha256.New()
	fmt.Fprintln(digest, folderOf(all, "programs"), folderOf(all, "coredns"))
	inputs := []string{busybox, filepath.Join(l.Source, "ctl", "images.go"), filepath.Join(l.Source, "ctl", "archive.go")}
	for _, ask := range [][]string{{"gcc", "-print-file-name=libc.so.6"}, {"musl-gcc", "-print-file-name=libc.so"}} {
		library, err := outputOf(ctx, ask[0], ask[1])
		if err != nil {
			return "", err
		}
		inputs = append(inputs, strings.TrimSpace(string(library)))
	}
	for _, file := range inputs {
		if err := digestFile(digest, file); err != nil {
			return "", err
		}
	}
	return filepath.Join(l.Cache, "images-"+hex.EncodeToString(digest.Sum(nil))[:12]), nil
}

// makeImages returns the archive of all images, made on the spot from this machine's libraries and
// our programs, and kept until one of those changes.
func makeImages(ctx context.Context, l layout, all []built) (string, error) {
	folder, err := imagesFolder(ctx, l, all)
	if err != nil {
		return "", err
	}
	archive := filepath.Join(folder, "images.tar")
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	say("making the images")
	part, err := os.MkdirTemp(l.Cache, ".part-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the images: %w", err)
	}
	defer os.RemoveAll(part)
	parts, err := imageParts(ctx, l, all, part)
	if err != nil {
		return "", err
	}
	if err := writeArchiveFile(filepath.Join(part, "images.tar"), parts); err != nil {
		return "", err
	}
	if err := os.Rename(part, folder); err != nil {
		return "", fmt.Errorf("keep the images: %w", err)
	}
	return archive, nil
}

// digestFile leaves the folder out: two clones of the same tree share their images and clusters.
func digestFile(w io.Writer, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read what goes into the images: %w", err)
	}
	fmt.Fprintf(w, "%s %d\n%s", filepath.Base(file), len(text), text)
	return nil
}

func writeArchiveFile(path string, parts []builtImage) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the images: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return writeArchive(file, parts)
}

// imageParts compiles the C programs into work and lists what goes into which image.
func imageParts(ctx context.Context, l layout, all []built, work string) ([]builtImage, error) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("find busybox for its image: %w", err)
	}
	loop := filepath.Join(l.Source, "apps", "loop", "loop.c")
	pause := filepath.Join(l.Source, "apps", "pause", "pause.c")
	for _, c := range [][]string{
		{"gcc", "-O2", "-s", "-o", filepath.Join(work, "payments"), loop},
		{"musl-gcc", "-O2", "-s", "-o", filepath.Join(work, "checkout"), loop},
		{"musl-gcc", "-O2", "-s", "-static", "-o", filepath.Join(work, "pause"), pause},
	} {
		if err := runCommand(ctx, c[0], c[1:]...); err != nil {
			return nil, err
		}
	}
	glibc, err := sharedLibraries(ctx, filepath.Join(work, "payments"))
	if err != nil {
		return nil, err
	}
	musl, err := interpreter(filepath.Join(work, "checkout"))
	if err != nil {
		return nil, err
	}
	applets, err := outputOf(ctx, busybox, "--list")
	if err != nil {
		return nil, err
	}
	shell := busyboxFiles(busybox, string(applets))
	programs, coredns := folderOf(all, "programs"), folderOf(all, "coredns")
	payments := append(accounts(),
		imageFile{path: "/app/payments", from: filepath.Join(work, "payments"), mode: 0o755},
		imageFile{path: "/etc/nsswitch.conf", text: "passwd: files\ngroup: files\nhosts: files dns\n"},
		imageFile{path: "/etc/host.conf", text: "multi on\n"},
		imageFile{path: "/etc/os-release", from: "/etc/os-release"})
	payments = append(payments, glibc...)
	checkout := append(accounts(),
		imageFile{path: "/app/checkout", from: filepath.Join(work, "checkout"), mode: 0o755},
		imageFile{path: musl, from: musl, mode: 0o755})
	single := func(key, from string) builtImage {
		path := "/app/" + key
		return builtImage{
			name: imageName(key), config: imageConfig{Entrypoint: []string{path}},
			files: append(accounts(), imageFile{path: path, from: from, mode: 0o755}),
		}
	}
	return []builtImage{
		single("pause", filepath.Join(work, "pause")),
		{name: imageName("payments"), config: imageConfig{Entrypoint: []string{"/app/payments"}}, files: payments},
		// Like most musl images, this one has a shell.
		{
			name: imageName("checkout"), config: imageConfig{Entrypoint: []string{"/app/checkout"}, Env: []string{"PATH=/bin"}},
			files: append(checkout, shell...),
		},
		single("cart", filepath.Join(programs, "cart")),
		single("ledger", filepath.Join(programs, "ledger")),
		// CoreDNS and, beside it, what makes it a NodeLocal DNSCache.
		{name: imageName("coredns"), config: imageConfig{Entrypoint: []string{"/app/coredns"}}, files: append(accounts(),
			imageFile{path: "/app/coredns", from: filepath.Join(coredns, "coredns"), mode: 0o755},
			imageFile{path: "/app/nodecache", from: filepath.Join(programs, "nodecache"), mode: 0o755})},
		{name: imageName("busybox"), config: imageConfig{Cmd: []string{"sh"}, Env: []string{"PATH=/bin"}}, files: append(accounts(), shell...)},
	}, nil
}

func accounts() []imageFile {
	return []imageFile{
		{path: "/etc/passwd", text: "root:x:0:0:root:/:/bin/sh\napp:x:1000:1000:app:/:/bin/sh\n"},
		{path: "/etc/group", text: "root:x:0:\napp:x:1000:\n"},
		{path: "/tmp", dir: true, mode: 0o1777},
	}
}

// busyboxFiles is busybox with a link for each of its applets.
func busyboxFiles(busybox, applets string) []imageFile {
	files := []imageFile{{path: "/bin/busybox", from: busybox, mode: 0o755}}
	for applet := range strings.FieldsSeq(applets) {
		if applet != "busybox" {
			files = append(files, imageFile{path: "/bin/" + applet, link: "busybox"})
		}
	}
	return files
}

// sharedLibraries lists the loader and the libraries a program of this machine needs.
func sharedLibraries(ctx context.Context, program string) ([]imageFile, error) {
	output, err := outputOf(ctx, "ldd", program)
	if err != nil {
		return nil, err
	}
	paths := parseLdd(string(output))
	if len(paths) < 2 {
		return nil, fmt.Errorf("ldd %s: a loader and a C library were expected, found %v", program, paths)
	}
	var files []imageFile
	for _, path := range paths {
		files = append(files, imageFile{path: path, from: path, mode: 0o755})
	}
	return files, nil
}

// parseLdd takes the paths out of lines such as `libc.so.6 => /lib/libc.so.6 (0x...)`.
func parseLdd(text string) []string {
	var paths []string
	for line := range strings.Lines(text) {
		for _, field := range strings.Fields(line) {
			if strings.HasPrefix(field, "/") {
				paths = append(paths, field)
			}
		}
	}
	return paths
}

// interpreter is the loader that a dynamically linked program asks for; musl's is the whole libc.
func interpreter(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("read which loader %s needs: %w", program, err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(segment.Open())
			if err != nil {
				return "", fmt.Errorf("read which loader %s needs: %w", program, err)
			}
			return strings.TrimRight(string(name), "\x00"), nil
		}
	}
	return "", fmt.Errorf("read which loader %s needs: it is not dynamically linked", program)
}

// importImages brings an archive into containerd, where the kubelet looks for images.
func importImages(ctx context.Context, l layout, archive string) error {
	path, err := filepath.Abs(archive)
	if err != nil {
		return fmt.Errorf("import %s: %w", archive, err)
	}
	return runCommand(ctx, l.bin("ctr"), "--address", l.containerdSocket(), "--namespace", "k8s.io", "images", "import", path)
}
