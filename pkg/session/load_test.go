package session

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The load that a session has to stand: a busy watch with half a team looking on.
const (
	loadClients = 5
	loadRate    = 1000 // events a second
)

// sentEvent is an event as a resolution over UDP has most of.
func sentEvent(n int) probe.Event {
	return probe.Event{Kind: probe.KindSent, At: probe.Millis(n), Sent: &probe.Sent{
		Ref: probe.Ref{Attempt: n%5 + 1, Type: probe.TypeAAAA}, Try: 1, Server: "198.19.0.10:53", Transport: probe.UDP, Socket: 1, LocalPort: 40000, ID: uint16(n),
	}}
}

// bursts is an engine whose resolutions are a burst of events, so many for each word from next, without a pause between them.
type bursts struct {
	size int
	next chan struct{}
}

func (b *bursts) Read(context.Context, func(probe.Event)) error { return nil }

func (b *bursts) Resolve(_ context.Context, _ string, ask probe.Ask, emit func(probe.Event)) error {
	emit(probe.Event{Kind: probe.KindBegin, Begin: &probe.Begin{Host: ask.Host, Libc: probe.Glibc}})
	sent := 1
	for range b.next {
		for range b.size {
			emit(sentEvent(sent))
			sent++
		}
	}
	emit(probe.Event{Kind: probe.KindEnded, Ended: &probe.Ended{Outcome: probe.OK}})
	return nil
}

// audience checks that a client gets every event, in order and once.
type audience struct {
	mu    sync.Mutex
	last  int64
	wrong string
	// reached, when set, gets a word whenever another second's events have been heard.
	reached chan<- struct{}
}

func (a *audience) hear(ev probe.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ev.Seq != a.last+1 && a.wrong == "" {
		a.wrong = fmt.Sprintf("event %d came after event %d", ev.Seq, a.last)
	}
	a.last = ev.Seq
	if a.reached != nil && a.last%loadRate == 0 {
		a.reached <- struct{}{}
	}
}

func (a *audience) check(t *testing.T, c *Client, want int64) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wrong != "" || a.last != want {
		t.Errorf("client %s: %d events of %d, %s", c.Hello().You, a.last, want, a.wrong)
	}
}

// TestAThousandEventsASecondReachClientsThatTakeAsLongForEach has clients that need all the time there is between two events
// for each of them, as over a slow line, while a second's events come in one burst: what waits in between must not cost anybody
// his place. Time is virtual.
func TestAThousandEventsASecondReachClientsThatTakeAsLongForEach(t *testing.T) {
	const seconds = 10
	synctest.Test(t, func(t *testing.T) {
		engine := &bursts{size: loadRate, next: make(chan struct{})}
		h := NewHub(Config{Engine: engine})
		var clients []*Client
		var heard []*audience
		for n := range loadClients {
			a := &audience{}
			c := attach(t, h, Options{Name: fmt.Sprintf("client%d", n), Events: func(ev probe.Event) {
				<-time.After(time.Second / loadRate)
				a.hear(ev)
			}})
			clients, heard = append(clients, c), append(heard, a)
		}
		ended := make(chan error)
		go func() {
			_, err := clients[0].Resolve(t.Context(), probe.Ask{Host: "ledger"})
			ended <- err
		}()
		for range seconds {
			engine.next <- struct{}{}
			<-time.After(time.Second)
		}
		close(engine.next)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-time.After(2 * time.Second) // What is still on its way: less than one burst.
		for n, a := range heard {
			if err := clients[n].Err(); err != nil {
				t.Errorf("client %d: %v", n, err)
			}
			a.check(t, clients[n], seconds*loadRate+2)
			leave(t, clients[n])
		}
		h.End("test")
	})
}

// TestBurstsOverRealSockets sends a second's events at once, again and again, as fast as everybody has heard them.
func TestBurstsOverRealSockets(t *testing.T) {
	const rounds = 5
	l, err := Listen([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	engine := &bursts{size: loadRate, next: make(chan struct{})}
	h := NewHub(Config{Engine: engine})
	served := make(chan error, 1)
	go func() {
		_, err := h.Serve(t.Context(), l)
		served <- err
	}()
	reached := make(chan struct{}, loadClients)
	var clients []*Client
	var heard []*audience
	for n := range loadClients {
		conn, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		a := &audience{reached: reached}
		c, err := Dial(t.Context(), conn, Options{Name: fmt.Sprintf("client%d", n), Events: a.hear})
		if err != nil {
			t.Fatal(err)
		}
		clients, heard = append(clients, c), append(heard, a)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := clients[0].Resolve(t.Context(), probe.Ask{Host: "ledger"})
		ended <- err
	}()
	start := time.Now()
	for range rounds {
		engine.next <- struct{}{}
		for n := range loadClients {
			select {
			case <-reached:
			case <-clients[n].Done():
				t.Fatalf("client %d lost its session: %v", n, clients[n].Err())
			}
		}
	}
	took := time.Since(start)
	close(engine.next)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("%d events to each of %d clients in %s: %.0f a second", rounds*loadRate, loadClients, took, rounds*loadRate/took.Seconds())
	for n, a := range heard {
		leave(t, clients[n]) // The goodbye comes behind all events.
		a.check(t, clients[n], rounds*loadRate+2)
	}
	h.End("test")
	if err := <-served; err != nil {
		t.Error(err)
	}
}
