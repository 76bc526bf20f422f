//go:build unix

package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// serve runs a hub on a real Unix socket below dirs until the test ends.
func serve(t *testing.T, dirs []string, cfg Config) *Hub {
	t.Helper()
	l, err := Listen(dirs)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(cfg)
	h.Start()
	ended := make(chan error, 1)
	go func() {
		_, err := h.Serve(context.Background(), l)
		ended <- err
	}()
	t.Cleanup(func() {
		h.End("the test is over")
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return h
}

// stdio is an exec: what the client writes to and reads from.
type stdio struct {
	io.Reader
	io.WriteCloser
}

// bridged dials the hub as an exec of attach does.
func bridgedClient(t *testing.T, dirs []string, opts Options) (*Client, <-chan error) {
	t.Helper()
	conn, err := Connect(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	stdinR, stdinW := io.Pipe()
	stdoutR, stdoutW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Bridge(stdinR, stdoutW, conn)
		stdoutW.Close()
		ended <- err
	}()
	c, err := Dial(t.Context(), stdio{stdoutR, stdinW}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c, ended
}

func TestManyClientsOverRealSockets(t *testing.T) {
	dirs := []string{t.TempDir()}
	h := serve(t, dirs, Config{Version: "v1", Engine: &scripted{}})
	const clients, each = 5, 20
	recorders := make([]recorder, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c, ended := bridgedClient(t, dirs, recorders[i].options("same name for all"))
			for range each {
				r, err := c.Resolve(t.Context(), probe.Ask{Host: "ledger"})
				if err != nil || r.Outcome != probe.OK {
					t.Errorf("Resolve = %+v, %v", r, err)
				}
			}
			if err := c.Read(t.Context()); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("attach: %v", err)
			}
		})
	}
	wg.Wait()
	for i := range recorders {
		got := recorders[i].seqs()
		if diff := cmp.Diff(upTo(int64(len(got))), got); diff != "" {
			t.Errorf("client %d lost or doubled events (-want +got):\n%s", i, diff)
		}
	}
	var late recorder
	c, _ := bridgedClient(t, dirs, late.options("late"))
	if err := c.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := int64(2 + clients*(each*2+2) + 2)
	if diff := cmp.Diff(upTo(want), late.seqs()); diff != "" {
		t.Errorf("the late one (-want +got):\n%s", diff)
	}
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-h.Ended()
}

func TestTheSocketIsPrivate(t *testing.T) {
	dir := t.TempDir()
	serve(t, []string{dir}, Config{Engine: &scripted{}})
	for path, want := range map[string]os.FileMode{
		folder(dir):                            os.ModeDir | 0o700,
		filepath.Join(folder(dir), socketName): os.ModeSocket | 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestWhereTheHubListens(t *testing.T) {
	t.Run("one hub a user", func(t *testing.T) {
		dirs := []string{t.TempDir(), t.TempDir()}
		serve(t, dirs, Config{Engine: &scripted{}})
		if _, err := Listen(dirs); !errors.Is(err, ErrRunning) {
			t.Errorf("a second hub: %v", err)
		}
	})
	t.Run("the next folder when one cannot be written", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dirs := []string{file, t.TempDir()}
		serve(t, dirs, Config{Engine: &scripted{}})
		conn, err := Connect(t.Context(), dirs)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})
	t.Run("where a killed hub was", func(t *testing.T) {
		dirs := []string{t.TempDir()}
		l, err := Listen(dirs)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
		serve(t, dirs, Config{Engine: &scripted{}})
	})
	t.Run("never in a folder that others can enter", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(folder(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen([]string{dir}); err == nil || !strings.Contains(err.Error(), "lets others in") {
			t.Errorf("Listen: %v", err)
		}
	})
	t.Run("never through a link", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(t.TempDir(), folder(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen([]string{dir}); err == nil || !strings.Contains(err.Error(), "is no folder") {
			t.Errorf("Listen: %v", err)
		}
	})
}

func TestConnectWaitsForTheHub(t *testing.T) {
	dirs := []string{t.TempDir()}
	type result struct {
		conn net.Conn
		err  error
	}
	connected := make(chan result, 1)
	go func() {
		conn, err := Connect(t.Context(), dirs)
		connected <- result{conn, err}
	}()
	serve(t, dirs, Config{Engine: &scripted{}})
	r := <-connected
	if r.err != nil {
		t.Fatal(r.err)
	}
	r.conn.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := Connect(ctx, []string{t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "find the hub of this container") {
		t.Errorf("without a hub: %v", err)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	dirs := []string{t.TempDir()}
	l, err := Listen(dirs)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(Config{Engine: &scripted{}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() {
		reason, _ := h.Serve(ctx, l) // It cannot fail to accept: the context ends first.
		ended <- reason
	}()
	c, _ := bridgedClient(t, dirs, Options{})
	cancel()
	if got := <-ended; got != "the probe was told to stop" {
		t.Errorf("reason %q", got)
	}
	<-c.Done()
	var cut *CutError
	if !errors.As(c.Err(), &cut) || cut.Reason != "the probe was told to stop" {
		t.Errorf("the client was told %v", c.Err())
	}
}

func TestTheBridgeEndsWithItsClient(t *testing.T) {
	dirs := []string{t.TempDir()}
	serve(t, dirs, Config{Engine: &scripted{}})
	conn, err := Connect(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	// The client says hello, asks, and its side of the exec ends at once, as when it is killed.
	in := `{"type":"hello","hello":{"protocol":1,"version":"x"}}` + "\n" + `{"type":"ping","id":"1"}` + "\n"
	if err := Bridge(strings.NewReader(in), &out, conn); err != nil {
		t.Errorf("Bridge: %v", err)
	}
	for _, want := range []Type{TypeHello, TypePong, TypeBye} {
		if !strings.Contains(out.String(), `{"type":"`+string(want)+`"`) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}
