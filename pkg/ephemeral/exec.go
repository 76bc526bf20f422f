package ephemeral

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
)

// Place is a container of a pod.
type Place struct{ Namespace, Pod, Container string }

// Exec starts command in a container and returns its stdin and stdout as one stream. Reads end with io.EOF when the command
// ends well, else with an error that has the end of its stderr. Closing the stream ends the command's input, and soon after the
// connection.
func Exec(ctx context.Context, config *rest.Config, client kubernetes.Interface, at Place, command []string) (io.ReadWriteCloser, error) {
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(at.Namespace).Name(at.Pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: at.Container, Command: command, Stdin: true, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec).URL()
	what := fmt.Sprintf("exec into container %s of pod %s", at.Container, at.Pod)
	old, err := remotecommand.NewSPDYExecutor(config, "POST", url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	// Since Kubernetes 1.31 WebSocket is the way; SPDY is for older servers and for proxies that spoil the upgrade.
	websocket, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	executor, err := remotecommand.NewFallbackExecutor(websocket, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return open(ctx, executor, what), nil
}

// streamer is what Exec needs of a remotecommand.Executor.
type streamer interface {
	StreamWithContext(ctx context.Context, options remotecommand.StreamOptions) error
}

// open runs an executor in the background and returns its stream.
func open(ctx context.Context, executor streamer, what string) io.ReadWriteCloser {
	ctx, cancel := context.WithCancel(ctx)
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	s := &stream{in: in, out: out, cancel: cancel}
	var stderr tail
	go func() {
		defer cancel()
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: &stderr})
		if err != nil {
			err = &ExecError{What: what, Stderr: stderr.String(), Err: err}
		}
		// A nil error is the end of the stream. Writers learn it too, instead of waiting for a reader for ever.
		_ = stdout.CloseWithError(err)
		_ = stdin.CloseWithError(errors.Join(io.ErrClosedPipe, err))
	}()
	return s
}

// ExecError says how a command in a container ended.
type ExecError struct {
	What string
	// Stderr is the end of what the command wrote there.
	Stderr string
	Err    error
}

func (e *ExecError) Error() string {
	if e.Stderr != "" {
		return fmt.Sprintf("%s: %s (%s)", e.What, e.Stderr, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.What, e.Err)
}

func (e *ExecError) Unwrap() error { return e.Err }

// NextStep is what to do about it.
func (e *ExecError) NextStep() string {
	return "run the command again; if it stays so, see what may be in between: kubectl dnsprobe preflight TARGET"
}

// stream is the two ends of a command.
type stream struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	once   sync.Once
}

func (s *stream) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// partWithin is how long a command gets to end after its input has.
const partWithin = 300 * time.Millisecond

// Close ends the command's input, and the connection when the command does not end by itself. It does not wait for that: the
// way of the exit code through the container runtime is nothing that a person at the other end should wait for. Where this
// process ends first, the connection ends with it.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.in.Close()  // Closing a pipe cannot fail.
		_ = s.out.Close() // Nobody reads any more: a command that still writes must not wait for it.
		time.AfterFunc(partWithin, s.cancel)
	})
	return nil
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailBytes is enough for a sentence, and bounds what a broken image can make us keep.
const tailBytes = 1024

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
