package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// screen collects what a program writes and lets a test wait for a text in it.
type screen struct {
	mu      sync.Mutex
	changed *sync.Cond
	buf     bytes.Buffer
	closed  bool
}

func newScreen() *screen {
	s := &screen{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
	return s.buf.Write(p)
}

// close ends all waiting.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

// wait returns once text was written, and fails when that takes too long.
func (s *screen) wait(t *testing.T, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(ansi.Strip(s.buf.String()), text) {
		if s.closed {
			t.Fatalf("%q was never written, but:\n%s", text, ansi.Strip(s.buf.String()))
		}
		s.changed.Wait()
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// result is what Run returned.
type result struct {
	run probe.Run
	err error
}

// start runs a program over a channel, with pipes as its terminal.
func start(t *testing.T, ctx context.Context, o Options) (keys io.Writer, s *screen, done <-chan result) {
	t.Helper()
	in, keysIn := io.Pipe()
	s = newScreen()
	o.In, o.Out = in, s
	if o.Getenv == nil {
		o.Getenv = func(name string) string { return map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color"}[name] }
	}
	ch := make(chan result, 1)
	go func() {
		run, err := Run(ctx, o)
		s.close()
		ch <- result{run, err}
	}()
	return keysIn, s, ch
}

func send(t *testing.T, keys io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(keys, text); err != nil {
		t.Fatal(err)
	}
}

func TestWholeProgram(t *testing.T) {
	events := make(chan probe.Event)
	keys, s, done := start(t, t.Context(), Options{Events: events, Title: "dnsprobe\x1b]0;"})
	all := viewtest.Classic().Events
	for _, ev := range all[:20] {
		events <- ev
	}
	s.wait(t, "resolving")
	for _, ev := range all[20:] {
		events <- ev
	}
	close(events)
	s.wait(t, "a patch was found")
	send(t, keys, "p")
	s.wait(t, "Take it back")
	send(t, keys, "c")
	s.wait(t, "also printed when you quit")
	send(t, keys, "?")
	s.wait(t, "shift+tab")
	send(t, keys, "q")
	got := <-done
	if got.err != nil || len(got.run.Resolutions) != 1 || got.run.Patch == nil {
		t.Fatalf("Run = %d resolutions, %v", len(got.run.Resolutions), got.err)
	}
	_, left, found := strings.Cut(s.text(), "\x1b[?1049l")
	if !found {
		t.Fatal("the alternate screen was not left")
	}
	left = ansi.Strip(left)
	for _, want := range []string{"api.stripe.com.shop.svc.cluster.local.", "Findings", "kubectl -n shop patch deployment payments"} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is not in the text left behind:\n%s", want, left)
		}
	}
	if strings.Contains(s.text(), "dnsprobe\x1b]0;") {
		t.Error("the title carries escapes of its own")
	}
}

func TestLeavingARunThatGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       error
	}{
		{"q", "q", nil},
		{"ctrl-c", "\x03", ErrInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := make(chan probe.Event)
			cancelled := make(chan struct{})
			keys, s, done := start(t, t.Context(), Options{Events: events, OnCancel: func() { close(cancelled) }})
			for _, ev := range viewtest.InProgress().Events {
				events <- ev
			}
			s.wait(t, "api.stripe.com.ec2.internal.")
			send(t, keys, c.keys)
			got := <-done
			if !errors.Is(got.err, c.want) {
				t.Errorf("Run = %v, want %v", got.err, c.want)
			}
			if c.want != nil && !errors.Is(got.err, context.Canceled) {
				t.Errorf("%v is no context.Canceled", got.err)
			}
			<-cancelled
			// Whoever still sends does not hang.
			events <- probe.Event{Kind: probe.KindNote}
			close(events)
			if !strings.Contains(ansi.Strip(s.text()), "unfinished") && !strings.Contains(s.text(), "resolving") {
				t.Error("nothing was left behind")
			}
		})
	}
}

func TestCancelledFromOutside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan probe.Event)
	_, s, done := start(t, ctx, Options{Events: events})
	for _, ev := range viewtest.InProgress().Events {
		events <- ev
	}
	s.wait(t, "api.stripe.com.ec2.internal.")
	cancel()
	got := <-done
	if !errors.Is(got.err, context.Canceled) || len(got.run.Resolutions) != 1 {
		t.Errorf("Run = %d resolutions, %v", len(got.run.Resolutions), got.err)
	}
	close(events)
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"asked for", Options{Plain: true, Getenv: func(string) string { return "" }}},
		{"dumb terminal", Options{Getenv: func(name string) string { return map[string]string{"TERM": "dumb"}[name] }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := make(chan probe.Event, 100)
			for _, ev := range viewtest.Silence().Events {
				events <- ev
			}
			close(events)
			c.o.Events = events
			c.o.Failed = func() error { return errors.New("no more") }
			_, s, done := start(t, t.Context(), c.o)
			if got := <-done; got.err != nil || len(got.run.Resolutions) != 1 {
				t.Fatalf("Run = %v", got.err)
			}
			if strings.ContainsRune(s.text(), '\x1b') {
				t.Error("a plain terminal got an escape")
			}
			golden(t, "plain", s.text())
		})
	}
}

// manyAttempts tells a resolution of n attempts.
func manyAttempts(n int) []probe.Event {
	s := viewtest.Open(viewtest.ClusterSearch...)
	s.Begin("r1", "host")
	for i := range n {
		s.Pair(float64(i), 0.9, i+1, fmt.Sprintf("host.zone%05d.example.", i), 0, "NXDOMAIN")
	}
	return s.Events
}

func BenchmarkUpdate(b *testing.B) {
	m := model(b, manyAttempts(10000), false, 120, 40)
	batch := []probe.Event{{Kind: probe.KindLost, Resolution: "r1", Lost: &probe.Lost{Ref: probe.Ref{Attempt: 10000, Type: probe.TypeA}}}}
	b.Run("events", func(b *testing.B) {
		for b.Loop() {
			m.Update(eventsMsg{events: batch, at: noon})
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			m.Update(keyMsg("up"))
		}
	})
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{5, 10000} {
		m := model(b, manyAttempts(n), false, 120, 40)
		m.styles = newStyles(&bytes.Buffer{}, true)
		b.Run(fmt.Sprintf("%d attempts", n), func(b *testing.B) {
			for b.Loop() {
				_ = m.View()
			}
		})
	}
}

// TestTenThousandAttemptsFitIntoAFrame keeps a screen smooth: thirty times a second it is told of events and drawn.
func TestTenThousandAttemptsFitIntoAFrame(t *testing.T) {
	m := model(t, manyAttempts(10000), false, 120, 40)
	got := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			m = then(m, eventsMsg{events: nil, at: noon})
			_ = m.View()
		}
	})
	// A tenth of a second is far above what is measured, so that a busy machine does not fail the test.
	if ms := float64(got.NsPerOp()) / 1e6; ms > 100 {
		t.Errorf("one frame takes %.1f ms", ms)
	}
}
