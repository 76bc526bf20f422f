// Command cmd writes the agent's image to an archive.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/agentimage"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agentimage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("agentimage", flag.ContinueOnError)
	file := flags.String("o", "agent-image.tar", "archive to write")
	tag := flags.String("tag", version.Image(), "full reference of the image")
	arch := flags.String("arch", runtime.GOARCH, "GOARCH of the image")
	agent := flags.String("agent", "", "binary of the agent; built from this module when empty")
	ldflags := flags.String("ldflags", "", "more flags for the linker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var binary []byte
	var err error
	if *agent != "" {
		binary, err = os.ReadFile(*agent)
	} else {
		binary, err = agentimage.Build(ctx, *arch, *ldflags)
	}
	if err != nil {
		return err
	}
	img, err := agentimage.Image(binary, *arch)
	if err != nil {
		return err
	}
	if err := write(*file, func(w io.Writer) error { return agentimage.Save(w, img, *tag) }); err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	size, err := layers[0].Size()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s, linux/%s, %.2f MiB compressed, in %s\n", *tag, digest, *arch, float64(size)/(1<<20), *file)
	return err
}

// write writes a file whole or not at all.
func write(file string, content func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".agent-image-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // It is gone already when all went well.
	if err := content(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
