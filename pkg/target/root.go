package target

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Root is a file system seen as a process sees it whose root it is: links lead no further than its root, the absolute ones
// included. What is in it is hostile.
type Root struct {
	name string
	root *os.Root
}

// OpenRoot opens the folder name as a root.
func OpenRoot(name string) (*Root, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Root{name: name, root: root}, nil
}

// Close lets go of the root.
func (r *Root) Close() {
	_ = r.root.Close() // Nothing was written through it.
}

// mostLinks is how many links are followed for one path, as the kernel has it (MAXSYMLINKS). mostSteps bounds the components
// on the way, which links can make many of.
const (
	mostLinks = 40
	mostSteps = 512
)

// Resolve returns the path without links that name leads to, relative to the root ("etc/resolv.conf"). The last component
// need not exist.
func (r *Root) Resolve(name string) (string, error) {
	done, rest := "", name
	links := 0
	for step := 0; rest != ""; step++ {
		if step > mostSteps {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ENAMETOOLONG}
		}
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			// ".." of the root is the root, as after chroot.
			done = strings.TrimSuffix(strings.TrimPrefix(path.Dir("/"+done), "/"), "/")
			continue
		}
		next := path.Join(done, part)
		info, err := r.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && rest == "":
			return next, nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > mostLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		to, err := r.root.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(to) {
			done = ""
		}
		rest = to + "/" + rest
	}
	return done, nil
}

// Open opens a regular file. A pipe or a device is refused: opening one can wait for ever.
func (r *Root) Open(name string) (*os.File, error) {
	real, err := r.Resolve(name)
	if err != nil {
		return nil, err
	}
	if real == "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	// The file can be exchanged at any moment: O_NONBLOCK keeps a pipe from holding us up.
	f, err := r.root.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// errCut is returned with the start of a file that is longer than its bound.
var errCut = errors.New("longer than its bound")

// Read returns the text of a file, at most limit bytes of it. One that is longer is returned as far as the bound, with an
// error that wraps errCut.
func (r *Root) Read(name string, limit int64) (string, error) {
	f, err := r.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readAll(f, name, limit)
}

func readAll(in io.Reader, name string, limit int64) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return string(text[:limit]), fmt.Errorf("read %s: %w of %d bytes", name, errCut, limit)
	}
	return string(text), nil
}

// exists reports whether there is a regular file of this name.
func (r *Root) exists(name string) bool {
	real, err := r.Resolve(name)
	if err != nil {
		return false
	}
	info, err := r.root.Lstat(real)
	return err == nil && info.Mode().IsRegular()
}

// names lists at most limit names of a folder.
func (r *Root) names(name string, limit int) []string {
	real, err := r.Resolve(name)
	if err != nil {
		return nil
	}
	if real == "" {
		real = "."
	}
	f, err := r.root.Open(real)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(limit) // What was read before an error is good.
	return list
}
