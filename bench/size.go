package main

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"os"
	"runtime"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/agentimage"
)

// sizes weighs the agent: its binary, that binary compressed, and the one layer of its image.
func sizes(path string) ([]figure, error) {
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w; build it first: make image", err)
	}
	kind, err := linkage(binary)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	img, err := agentimage.Image(binary, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	var layer int64
	for _, l := range layers {
		n, err := l.Size()
		if err != nil {
			return nil, err
		}
		layer += n
	}
	in := func(n int64) float64 { return float64(n) / mib }
	return []figure{
		{Name: "agent's binary", Value: in(int64(len(binary))), Unit: unitMiB, How: kind + " ELF file"},
		{Name: "agent's binary, gzip -9", Value: in(int64(packed.Len())), Unit: unitMiB, Goal: 3, How: "compress/gzip, best compression"},
		{Name: "agent's image, compressed", Value: in(layer), Unit: unitMiB, Goal: 3, How: fmt.Sprintf("%d layer", len(layers))},
	}, nil
}

// linkage says whether an ELF file is static (it names no interpreter) and stripped (it has no symbol table), see elf(5).
func linkage(binary []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return "", err
	}
	kind := "static"
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			kind = "dynamic"
		}
	}
	if f.SectionByType(elf.SHT_SYMTAB) != nil {
		return kind + ", not stripped", nil
	}
	return kind + ", stripped", nil
}
