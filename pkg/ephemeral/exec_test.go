package ephemeral

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/client-go/tools/remotecommand"
)

// executorFunc is a command that runs here instead of in a pod.
type executorFunc func(ctx context.Context, o remotecommand.StreamOptions) error

func (f executorFunc) StreamWithContext(ctx context.Context, o remotecommand.StreamOptions) error {
	return f(ctx, o)
}

func TestStreamCarriesBothWays(t *testing.T) {
	s := open(t.Context(), executorFunc(func(_ context.Context, o remotecommand.StreamOptions) error {
		line, err := bufio.NewReader(o.Stdin).ReadString('\n')
		if err != nil {
			return err
		}
		_, err = io.WriteString(o.Stdout, "heard "+line)
		return err
	}), "exec")
	if _, err := io.WriteString(s, "hello\n"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s)
	if err != nil || string(got) != "heard hello\n" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestStreamEndsWithTheCommandsLastWords(t *testing.T) {
	cause := errors.New("command terminated with exit code 1")
	s := open(t.Context(), executorFunc(func(_ context.Context, o remotecommand.StreamOptions) error {
		_, _ = io.WriteString(o.Stderr, strings.Repeat("noise ", 1000)+"no hub is running here\n")
		return cause
	}), "exec into container c of pod p")
	_, err := io.ReadAll(s)
	e, ok := errors.AsType[*ExecError](err)
	if !ok || !errors.Is(err, cause) || !strings.HasSuffix(e.Stderr, "no hub is running here") || len(e.Stderr) > tailBytes {
		t.Fatalf("error %v", err)
	}
	if _, err := s.Write([]byte("x")); !errors.Is(err, cause) {
		t.Errorf("writing to it: %v", err)
	}
}

func TestClosingEndsTheCommandsInput(t *testing.T) {
	sawEnd := make(chan struct{})
	s := open(t.Context(), executorFunc(func(_ context.Context, o remotecommand.StreamOptions) error {
		_, _ = io.Copy(io.Discard, o.Stdin)
		close(sawEnd)
		return nil
	}), "exec")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-sawEnd
}

func TestClosingDoesNotWaitForACommandThatHangs(t *testing.T) {
	cut := make(chan struct{})
	s := open(t.Context(), executorFunc(func(ctx context.Context, _ remotecommand.StreamOptions) error {
		<-ctx.Done()
		close(cut)
		return ctx.Err()
	}), "exec")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-cut
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
