package session

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

var _ experiment.Prober = (*Client)(nil)

// scripted is an engine whose resolutions are three events, and which can be made to wait.
type scripted struct {
	// hold, when set, keeps every resolution after its begin until it can be received from.
	hold chan struct{}
	// fail is the error of resolutions whose host is "broken".
	fail error
	// padding makes events big.
	padding string

	mu      sync.Mutex
	running int
	most    int
	reads   int
}

func (s *scripted) Read(_ context.Context, emit func(probe.Event)) error {
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	emit(probe.Event{Kind: probe.KindSettings, Settings: &probe.Settings{Raw: "nameserver 192.0.2.53\n", Source: "target"}})
	emit(probe.Event{Kind: probe.KindResolver, Resolver: &probe.Resolver{Libc: probe.Glibc, Version: "2.36"}})
	return nil
}

func (s *scripted) Resolve(ctx context.Context, _ string, ask probe.Ask, emit func(probe.Event)) error {
	s.mu.Lock()
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if ask.Host == "panic" {
		panic("a resolver broke")
	}
	emit(probe.Event{Kind: probe.KindBegin, Begin: &probe.Begin{Host: ask.Host, Variant: ask.Variant.Label(), Libc: probe.Glibc}})
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if ask.Host == "broken" {
		return s.fail
	}
	if s.padding != "" {
		emit(probe.Event{Kind: probe.KindNote, Note: s.padding})
	}
	emit(probe.Event{Kind: probe.KindEnded, At: probe.Millis(3 * time.Millisecond), Ended: &probe.Ended{
		Outcome: probe.OK, Addresses: []string{"192.0.2.7"},
	}})
	return nil
}

// attach joins h over a pipe and returns the client, which leaves when the test ends.
func attach(t *testing.T, h *Hub, opts Options) *Client {
	t.Helper()
	c, err := tryAttach(t.Context(), h, opts)
	if err != nil {
		t.Fatalf("attach %q: %v", opts.Name, err)
	}
	return c
}

func tryAttach(ctx context.Context, h *Hub, opts Options) (*Client, error) {
	near, far := net.Pipe()
	go h.Attach(far) //nolint:contextcheck // The hub outlives its clients.
	return Dial(ctx, near, opts)
}

// recorder collects events and messages of one client.
type recorder struct {
	mu       sync.Mutex
	events   []probe.Event
	messages []Message
}

func (r *recorder) options(name string) Options {
	return Options{Name: name, Version: "test", Events: r.event, Others: r.message}
}

func (r *recorder) event(ev probe.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, ev)
}

func (r *recorder) message(m Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, m)
}

func (r *recorder) seqs() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []int64
	for _, ev := range r.events {
		out = append(out, ev.Seq)
	}
	return out
}

func (r *recorder) types() []Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Type
	for _, m := range r.messages {
		out = append(out, m.Type)
	}
	return out
}

func upTo(n int64) []int64 {
	var out []int64
	for i := int64(1); i <= n; i++ {
		out = append(out, i)
	}
	return out
}

var errBroken = errors.New("open a socket towards 192.0.2.53: operation not permitted")
