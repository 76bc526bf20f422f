//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Dirs returns the folders in which a hub's socket may be, the best first: the one for temporary files (/tmp unless TMPDIR
// says otherwise), and the memory file system that every container has, for those whose own file system is read-only.
func Dirs() []string { return []string{os.TempDir(), "/dev/shm"} }

// socketName is the hub's socket in its folder.
const socketName = "hub.sock"

// folder is the folder of a user's hub below dir. Its name is fixed so that an attach finds it.
func folder(dir string) string { return filepath.Join(dir, "dnsprobe-"+strconv.Itoa(os.Getuid())) }

// Listen opens the hub's Unix socket, mode 0600, in a folder of its own, mode 0700, below the first of dirs that can be
// written. It fails with ErrRunning when a hub listens there already.
func Listen(dirs []string) (net.Listener, error) {
	var failed []error
	for _, dir := range dirs {
		l, err := listen(folder(dir))
		if err == nil || errors.Is(err, ErrRunning) {
			return l, err
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("open the hub's socket: %w; give the container a writable /tmp", errors.Join(failed...))
}

// ErrRunning is returned by Listen when there is a hub already.
var ErrRunning = errors.New("a hub is running here already: attach to it")

func listen(own string) (net.Listener, error) {
	if err := os.Mkdir(own, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := private(own); err != nil {
		return nil, err
	}
	path := filepath.Join(own, socketName)
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, ErrRunning
	}
	// What a hub that was killed has left. Its folder is ours alone, so nobody else's file is removed.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// private makes sure that a folder is ours and closed to others: in a folder that all may write, somebody else can have
// made it first.
func private(own string) error {
	info, err := os.Lstat(own)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no folder: remove it", own)
	case !ok || stat.Uid != uint32(os.Getuid()):
		return fmt.Errorf("%s belongs to another user: remove it", own)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("%s has mode %#o, which lets others in: remove it", own, info.Mode().Perm())
	}
	return nil
}

// Connect connects to the hub's socket below one of dirs. It waits for one to appear until ctx ends, since an attach can
// come before the hub is up.
func Connect(ctx context.Context, dirs []string) (net.Conn, error) {
	const every = 20 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		conn, err := connect(ctx, dirs)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("find the hub of this container: %w; it may have ended: add a new probe", err)
		case <-tick.C:
		}
	}
}

func connect(ctx context.Context, dirs []string) (net.Conn, error) {
	var failed []error
	for _, dir := range dirs {
		own := folder(dir)
		err := private(own)
		if err == nil {
			var conn net.Conn
			var d net.Dialer
			if conn, err = d.DialContext(context.WithoutCancel(ctx), "unix", filepath.Join(own, socketName)); err == nil {
				return conn, nil
			}
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}
