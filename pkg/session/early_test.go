package session

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheReadingIsAskedForBeforeTheHubHasGreeted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		in := NewDecoder(far, MaxRequest)
		var seen recorder
		opts := seen.options("alice")
		opts.ReadAtOnce = true
		joined := make(chan *Client)
		go func() {
			c, err := Dial(t.Context(), near, opts)
			if err != nil {
				t.Error(err)
			}
			joined <- c
		}()
		expect(t, in, TypeHello)
		// The hub has said nothing yet.
		early := expect(t, in, TypeRead)
		talk(t, far, hello)
		c := <-joined
		talk(t, far, `{"type":"event","event":{"event":"note","seq":1,"note":"x"}}`)
		done := make(chan error)
		go func() { done <- c.Read(t.Context()) }()
		synctest.Wait()
		talk(t, far, `{"type":"done","id":"`+early.ID+`"}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(upTo(1), seen.seqs()); diff != "" {
			t.Errorf("events by the time of done (-want +got):\n%s", diff)
		}
		// Whoever reads once more wants to know what has changed since.
		go func() { done <- c.Read(t.Context()) }()
		again := expect(t, in, TypeRead)
		if again.ID == early.ID {
			t.Errorf("both readings are %q", early.ID)
		}
		talk(t, far, `{"type":"done","id":"`+again.ID+`","error":"the target has ended"}`)
		var refused *RefusedError
		if err := <-done; !errors.As(err, &refused) {
			t.Errorf("the second reading: %v", err)
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAHubReadsOnceForAClientThatAsksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{}
		h := NewHub(Config{Engine: engine})
		h.Start()
		synctest.Wait()
		for visit, name := range []string{"alice", "bob", "alice"} {
			var seen recorder
			opts := seen.options(name)
			opts.ReadAtOnce = true
			c := attach(t, h, opts)
			if err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if engine.reads != visit+2 {
				t.Errorf("visit %d: %d readings, want that of the start and one a visit", visit, engine.reads)
			}
			history := c.Hello().History
			if got := len(seen.seqs()); history != 2*(visit+1) || got != history+2 {
				t.Errorf("visit %d: %d events, %d of them history", visit, got, history)
			}
			leave(t, c)
		}
		h.End("test")
	})
}

func TestAnEarlyReadingIsCutShortLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream, hub, in := fakeHub(t, hello)
		c, err := Dial(t.Context(), stream, Options{Name: "alice", ReadAtOnce: true})
		if err != nil {
			t.Fatal(err)
		}
		early := expect(t, in, TypeRead)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := make(chan error)
		go func() { done <- c.Read(ctx) }()
		if stop := expect(t, in, TypeCancel); stop.ID != early.ID {
			t.Errorf("%q is cancelled, not %q", stop.ID, early.ID)
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read: %v", err)
		}
		if err := hub.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhoIsRefusedIsToldSoDespiteTheEarlyReading(t *testing.T) {
	h := NewHub(Config{Engine: &scripted{}})
	h.End("test")
	l, err := Listen([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			h.Attach(conn)
		}
	}()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if _, err := Dial(t.Context(), conn, Options{Name: "alice", ReadAtOnce: true}); !errors.As(err, &refused) {
		t.Errorf("Dial: %v", err)
	}
}
