package session

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The tests below run in a bubble: time is virtual and moves on when everybody waits, so that limits of minutes are tested
// to the nanosecond.

func TestEverybodyHearsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Version: "v1", Engine: &scripted{}})
		h.Start()
		synctest.Wait()
		var a, b recorder
		alice, bob := attach(t, h, a.options("alice")), attach(t, h, b.options("bob"))
		r, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"})
		if err != nil || r.Outcome != probe.OK || r.Host != "ledger" {
			t.Fatalf("Resolve = %+v, %v", r, err)
		}
		if _, err := bob.Resolve(t.Context(), probe.Ask{Host: "ledger.core"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for name, rec := range map[string]*recorder{"alice": &a, "bob": &b} {
			if diff := cmp.Diff(upTo(6), rec.seqs()); diff != "" {
				t.Errorf("%s's events (-want +got):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff([]Type{TypeJoined, TypeDone, TypeDone}, a.types()); diff != "" {
			t.Errorf("alice's other messages (-want +got):\n%s", diff)
		}
		if got := bob.Hello(); got.History != 2 || len(got.People) != 1 || got.People[0].Name != "alice" || got.Version != "v1" {
			t.Errorf("bob's hello: %+v", got)
		}
		leave(t, alice)
		synctest.Wait()
		if got := b.types(); got[len(got)-1] != TypeLeft {
			t.Errorf("bob was not told that alice left: %v", got)
		}
		leave(t, bob)
		h.End("test")
	})
}

func leave(t *testing.T, c *Client) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestWhoComesLateGetsTheHistoryThenLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{hold: make(chan struct{})}
		h := NewHub(Config{Engine: engine})
		h.Start()
		alice := attach(t, h, Options{Name: "alice"})
		answered := make(chan error, 1)
		go func() {
			_, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"})
			answered <- err
		}()
		synctest.Wait() // The resolution has begun and is held.
		var late recorder
		bob := attach(t, h, late.options("bob"))
		synctest.Wait()
		if diff := cmp.Diff(upTo(3), late.seqs()); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		close(engine.hold)
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if diff := cmp.Diff(upTo(4), late.seqs()); diff != "" {
			t.Errorf("history and live (-want +got):\n%s", diff)
		}
		var run probe.Fold
		for _, ev := range late.events {
			run.Add(ev)
		}
		if got := run.Run().Resolutions; len(got) != 1 || got[0].Outcome != probe.OK {
			t.Errorf("what bob saw: %+v", got)
		}
		leave(t, alice)
		leave(t, bob)
		h.End("test")
	})
}

func TestComingBackBringsOnlyWhatWasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{}})
		h.Start()
		var first recorder
		alice, bob := attach(t, h, first.options("alice")), attach(t, h, Options{Name: "bob"})
		synctest.Wait()
		session, after := alice.Hello().Session, alice.LastSeq()
		leave(t, alice)
		if _, err := bob.Resolve(t.Context(), probe.Ask{Host: "ledger"}); err != nil {
			t.Fatal(err)
		}
		var second recorder
		opts := second.options("alice")
		opts.Session, opts.After = session, after
		again := attach(t, h, opts)
		synctest.Wait()
		if diff := cmp.Diff(upTo(4), append(first.seqs(), second.seqs()...)); diff != "" {
			t.Errorf("events before and after the cut (-want +got):\n%s", diff)
		}
		opts.Session = "another life"
		var third recorder
		opts.Events = third.event
		stranger := attach(t, h, opts)
		synctest.Wait()
		if diff := cmp.Diff(upTo(4), third.seqs()); diff != "" {
			t.Errorf("events for a client of another session (-want +got):\n%s", diff)
		}
		for _, c := range []*Client{bob, again, stranger} {
			leave(t, c)
		}
		h.End("test")
	})
}

func TestWhoWantsNoHistoryWaitsForNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{}})
		h.Start()
		alice := attach(t, h, Options{Name: "alice"})
		if _, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"}); err != nil {
			t.Fatal(err)
		}
		var seen recorder
		opts := seen.options("bob")
		opts.NoHistory, opts.ReadAtOnce = true, true
		bob := attach(t, h, opts)
		if err := bob.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := bob.Resolve(t.Context(), probe.Ask{Host: "ledger"}); err != nil || r.Outcome != probe.OK {
			t.Errorf("Resolve = %+v, %v", r, err)
		}
		// The start's reading and alice's resolution were two events each.
		if diff := cmp.Diff([]int64{5, 6, 7, 8}, seen.seqs()); diff != "" || bob.Hello().History != 0 {
			t.Errorf("%d events of history, and of all events (-want +got):\n%s", bob.Hello().History, diff)
		}
		leave(t, alice)
		leave(t, bob)
		h.End("test")
	})
}

func TestTheIdleLimit(t *testing.T) {
	zero, minute := time.Duration(0), time.Minute
	for name, c := range map[string]struct {
		keep *time.Duration
		// visit is how long a client stays, 0 for nobody coming.
		visit time.Duration
		// resolves makes the client leave behind a resolution that takes 10 minutes.
		resolves bool
		want     time.Duration
		reason   string
	}{
		"nobody ever comes":                        {want: 15 * time.Minute, reason: "nobody was attached for 15m0s"},
		"the limit runs from the last one leaving": {visit: time.Hour, want: time.Hour + 15*time.Minute, reason: "nobody was attached"},
		"keep nothing":                             {keep: &zero, visit: time.Hour, want: time.Hour, reason: "the last client has left"},
		"keep a minute":                            {keep: &minute, visit: time.Hour, want: time.Hour + time.Minute, reason: "the last client"},
		"keep nothing, but nobody came yet":        {keep: &zero, want: 15 * time.Minute, reason: "nobody was attached"},
		"what runs is waited for":                  {keep: &zero, visit: time.Minute, resolves: true, want: 10 * time.Minute, reason: "the last client"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engine := &scripted{hold: make(chan struct{})}
				start := time.Now()
				h := NewHub(Config{Engine: engine, KeepAfterLast: c.keep, Longest: time.Hour})
				if c.visit > 0 {
					client := attach(t, h, Options{Name: "alice"})
					if c.resolves {
						client.send(Message{Type: TypeResolve, ID: "left-behind", Resolve: &probe.Ask{Host: "slow"}})
						time.AfterFunc(10*time.Minute, func() { close(engine.hold) })
					}
					<-time.After(c.visit)
					leave(t, client)
				}
				<-h.Ended()
				if got := time.Since(start); got != c.want {
					t.Errorf("ended after %s, want %s", got, c.want)
				}
				if !strings.Contains(h.Reason(), c.reason) {
					t.Errorf("reason %q, want %q in it", h.Reason(), c.reason)
				}
			})
		})
	}
}

func TestASilentClientCountsAsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Duration(0)
		h := NewHub(Config{Engine: &scripted{}, KeepAfterLast: &zero})
		start := time.Now()
		near, far := net.Pipe()
		go h.Attach(far)
		talk(t, near, `{"type":"hello","hello":{"protocol":1,"version":"x"}}`)
		in := NewDecoder(near, MaxMessage)
		expect(t, in, TypeHello)
		bye := expect(t, in, TypeBye)
		if got := time.Since(start); got != time.Minute || !strings.Contains(bye.Reason, "nothing was heard for 1m0s") {
			t.Errorf("after %s: %+v", got, bye)
		}
		<-h.Ended()
	})
}

func TestAClientThatPingsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{}})
		c := attach(t, h, Options{Name: "alice"})
		<-time.After(24 * time.Hour)
		if err := c.Err(); err != nil {
			t.Errorf("after a day: %v", err)
		}
		leave(t, c)
		h.End("test")
	})
}

func TestASlowClientIsDroppedAndTheOthersDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{padding: strings.Repeat("x", 4<<10)}, BehindBytes: 64 << 10})
		alice := attach(t, h, Options{Name: "alice"})
		near, far := net.Pipe()
		go h.Attach(far)
		talk(t, near, `{"type":"hello","hello":{"protocol":1,"version":"x","name":"slow"}}`)
		in := NewDecoder(near, MaxMessage)
		expect(t, in, TypeHello)
		// From here on the slow one reads nothing.
		start := time.Now()
		for range 40 {
			if _, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("alice waited %s for the slow one", took)
		}
		if people := h.peopleNow(); len(people) != 1 || people[0].Name != "alice" {
			t.Errorf("still there: %+v", people)
		}
		var last Message
		for {
			m, err := in.Decode()
			if err != nil {
				break
			}
			last = m
		}
		if last.Type != TypeBye || !strings.Contains(last.Reason, "more than 65536 bytes behind") {
			t.Errorf("the last thing the slow one reads: %+v", last)
		}
		leave(t, alice)
		h.End("test")
	})
}

func (h *Hub) peopleNow() []Person {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.people()
}

func TestASlowClientThatNeverReadsAgainIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{padding: strings.Repeat("x", 4<<10)}, BehindBytes: 16 << 10})
		alice := attach(t, h, Options{Name: "alice"})
		near, far := net.Pipe()
		served := make(chan struct{})
		go func() { h.Attach(far); close(served) }()
		talk(t, near, `{"type":"hello","hello":{"protocol":1,"version":"x"}}`)
		for range 10 {
			if _, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"}); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		<-served
		if took := time.Since(start); took > flushWithin {
			t.Errorf("its connection was held for %s", took)
		}
		leave(t, alice)
		h.End("test")
	})
}

func TestRequestsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{hold: make(chan struct{})}
		h := NewHub(Config{Engine: engine, Parallel: 3})
		c := attach(t, h, Options{Name: "alice"})
		results := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := c.Resolve(t.Context(), probe.Ask{Host: "ledger"})
				results <- err
			}()
		}
		synctest.Wait()
		close(engine.hold)
		for range 10 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if engine.most != 3 {
			t.Errorf("%d ran at the same time, want 3", engine.most)
		}
		leave(t, c)
		h.End("test")
	})
}

func TestWhatWaitsForAClientThatLeftIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{hold: make(chan struct{})}
		h := NewHub(Config{Engine: engine, Parallel: 1})
		var seen recorder
		watcher := attach(t, h, seen.options("watcher"))
		c := attach(t, h, Options{Name: "alice"})
		for _, id := range []string{"first", "second"} {
			c.send(Message{Type: TypeResolve, ID: id, Resolve: &probe.Ask{Host: id}})
		}
		synctest.Wait()
		leave(t, c)
		synctest.Wait()
		close(engine.hold)
		synctest.Wait()
		var begun []string
		for _, ev := range seen.events {
			if ev.Kind == probe.KindBegin {
				begun = append(begun, ev.Resolution)
			}
		}
		if len(begun) != 1 {
			t.Errorf("begun: %v, want one", begun)
		}
		leave(t, watcher)
		h.End("test")
	})
}

func TestHowRequestsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged string
		h := NewHub(Config{Engine: &scripted{fail: errBroken}, Log: func(s string) { logged = s }})
		var seen recorder
		c := attach(t, h, seen.options("alice"))
		for host, want := range map[string]string{
			"broken": `resolve "broken": the agent says: ` + errBroken.Error(),
			"panic":  "internal error, please report it: a resolver broke",
		} {
			_, err := c.Resolve(t.Context(), probe.Ask{Host: host})
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", host, err, want)
			}
		}
		r, err := c.Resolve(t.Context(), probe.Ask{Host: "ledger"})
		if err != nil || r.Outcome != probe.OK {
			t.Errorf("afterwards: %+v, %v", r, err)
		}
		synctest.Wait()
		notes := 0
		for _, ev := range seen.events {
			if ev.Kind == probe.KindNote && strings.HasPrefix(ev.Note, "not carried through: ") {
				notes++
			}
		}
		if notes != 2 {
			t.Errorf("%d of 2 failed resolutions say so in the history", notes)
		}
		if !strings.Contains(logged, "engine_test.go") {
			t.Errorf("the stack of the panic is not in the log: %q", logged)
		}
		leave(t, c)
		h.End("test")
	})
}

func TestAResolutionIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ asked, want time.Duration }{
		"by its ask":                        {asked: 7 * time.Second, want: 7 * time.Second},
		"by the hub":                        {want: 4 * time.Minute},
		"by the hub, whatever the ask says": {asked: 24 * time.Hour, want: 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub(Config{Engine: &scripted{hold: make(chan struct{})}})
				client := attach(t, h, Options{Name: "alice"})
				start := time.Now()
				_, err := client.Resolve(t.Context(), probe.Ask{Host: "slow", Timeout: probe.Millis(c.asked)})
				if took := time.Since(start); took != c.want || err == nil || !strings.Contains(err.Error(), "gave up after "+c.want.String()) {
					t.Errorf("after %s: %v", took, err)
				}
				leave(t, client)
				h.End("test")
			})
		})
	}
}

func TestCancelStopsTheResolution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{hold: make(chan struct{})}
		h := NewHub(Config{Engine: engine})
		var seen recorder
		c := attach(t, h, seen.options("alice"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := c.Resolve(ctx, probe.Ask{Host: "slow"})
		if !errors.Is(err, context.DeadlineExceeded) || r.Host != "slow" || r.Outcome != "" {
			t.Errorf("Resolve = %+v, %v", r, err)
		}
		synctest.Wait()
		if engine.running != 0 {
			t.Error("the resolution goes on after its client has given up")
		}
		if got := seen.messages[len(seen.messages)-1]; got.Type != TypeDone || got.Error != errStopped.Error() {
			t.Errorf("the last message: %+v", got)
		}
		leave(t, c)
		h.End("test")
	})
}

func TestShutdownTellsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{hold: make(chan struct{})}})
		alice, bob := attach(t, h, Options{Name: "alice"}), attach(t, h, Options{Name: "bob"})
		pending := make(chan error, 1)
		go func() {
			_, err := bob.Resolve(t.Context(), probe.Ask{Host: "slow"})
			pending <- err
		}()
		synctest.Wait()
		if err := alice.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		var cut *CutError
		if err := <-pending; !errors.As(err, &cut) || cut.Reason != "alice asked the probe to end" {
			t.Errorf("bob's pending resolution: %v", err)
		}
		<-h.Ended()
		if _, err := tryAttach(t.Context(), h, Options{}); err == nil || !strings.Contains(err.Error(), "the session has ended: alice asked") {
			t.Errorf("who comes afterwards: %v", err)
		}
		leave(t, alice)
		leave(t, bob)
	})
}

func TestReadIsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &scripted{}
		h := NewHub(Config{Engine: engine})
		var seen recorder
		c := attach(t, h, seen.options("alice"))
		if err := c.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if engine.reads != 1 || len(seen.seqs()) != 2 {
			t.Errorf("%d reads, events %v", engine.reads, seen.seqs())
		}
		leave(t, c)
		h.End("test")
	})
}

// talk writes a line to the hub.
func talk(t *testing.T, w io.Writer, line string) {
	t.Helper()
	if _, err := io.WriteString(w, line+"\n"); err != nil {
		t.Fatalf("write %s: %v", line, err)
	}
}

// expect reads the next message and wants it to be of a type.
func expect(t *testing.T, in *Decoder, want Type) Message {
	t.Helper()
	m, err := in.Decode()
	if err != nil || m.Type != want {
		t.Fatalf("read %+v, %v; want a %s message", m, err, want)
	}
	return m
}

func TestWhatTheHubAnswersToOddClients(t *testing.T) {
	for name, c := range map[string]struct{ say, want string }{
		"another protocol": {`{"type":"hello","hello":{"protocol":2}}`, "the plugin speaks protocol 2, the agent protocol 1: use the same version"},
		"no hello":         {`{"type":"resolve","id":"1"}`, `the first message is "resolve": a session begins with hello`},
		"not JSON":         {"GET / HTTP/1.1", `starts with "GET / HTTP/1.1"`},
		"too long":         {strings.Repeat("x", MaxRequest+1), "over the size bound"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub(Config{Engine: &scripted{}})
				near, far := net.Pipe()
				go h.Attach(far)
				go io.WriteString(near, c.say+"\n") // The hub may close before it has read all.
				m := expect(t, NewDecoder(near, MaxMessage), TypeError)
				if !strings.Contains(m.Error, c.want) {
					t.Errorf("the hub says %q, want %q in it", m.Error, c.want)
				}
				if _, err := near.Read(make([]byte, 1)); err == nil {
					t.Error("the connection is still open")
				}
				h.End("test")
			})
		})
	}
	t.Run("nothing at all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub(Config{Engine: &scripted{}})
			near, far := net.Pipe()
			start := time.Now()
			go h.Attach(far)
			expect(t, NewDecoder(near, MaxMessage), TypeError)
			if took := time.Since(start); took != helloWithin {
				t.Errorf("refused after %s", took)
			}
			h.End("test")
		})
	})
}

func TestOddRequestsAreAnsweredAndTheSessionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{}})
		near, far := net.Pipe()
		go h.Attach(far)
		in := NewDecoder(near, MaxMessage)
		talk(t, near, `{"type":"hello","hello":{"protocol":1,"version":"x","name":"\u001b[31mred\n"}}`)
		expect(t, in, TypeHello)
		for _, c := range []struct {
			say  string
			want Type
			text string
		}{
			{`{"type":"resolve","resolve":{"host":"a"}}`, TypeDone, "the request has no id"},
			{`{"type":"resolve","id":"1"}`, TypeDone, "the request has no resolve field"},
			{`{"type":"resolve","id":"` + strings.Repeat("x", 200) + `","resolve":{"host":"a"}}`, TypeDone, "the request's id has 200 bytes"},
			{`{"type":"resolve","id":5}`, TypeError, "cannot unmarshal"},
			{`{`, TypeError, "unexpected end of JSON input"},
			{`{"type":"ping","id":"7"}`, TypePong, ""},
			{`{"type":"resolve","id":"ok","resolve":{"host":"a","later":true},"much":"later"}`, TypeEvent, ""},
		} {
			talk(t, near, c.say)
			if m := expect(t, in, c.want); !strings.Contains(m.Error, c.text) {
				t.Errorf("%.60s: the hub says %q, want %q in it", c.say, m.Error, c.text)
			}
		}
		expect(t, in, TypeEvent)
		expect(t, in, TypeDone)
		talk(t, near, `{"type":"telepathy","resolve":"not what it is today"}`)
		talk(t, near, `{"type":"cancel","id":"nobody"}`)
		talk(t, near, `{"type":"resolve","id":"ok","resolve":{"host":"a"}}`)
		if m := expect(t, in, TypeDone); !strings.Contains(m.Error, `the id "ok" was used before`) {
			t.Errorf("a used id: %+v", m)
		}
		if got := h.peopleNow(); got[0].Name != "[31mred" {
			t.Errorf("the name shown to others is %q", got[0].Name)
		}
		h.End("test")
		for {
			if _, err := in.Decode(); err != nil {
				break
			}
		}
	})
}

func TestTooManyClientsAndRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{hold: make(chan struct{})}})
		var clients []*Client
		for range mostClients {
			clients = append(clients, attach(t, h, Options{}))
		}
		if _, err := tryAttach(t.Context(), h, Options{}); err == nil || !strings.Contains(err.Error(), "64 clients are attached already") {
			t.Errorf("one client too many: %v", err)
		}
		c := clients[0]
		for range mostJobs {
			go c.Resolve(t.Context(), probe.Ask{Host: "slow"}) // They all end when the hub does.
		}
		synctest.Wait()
		_, err := c.Resolve(t.Context(), probe.Ask{Host: "one too many"})
		if err == nil || !strings.Contains(err.Error(), errFull.Error()) {
			t.Errorf("one request too many: %v", err)
		}
		h.End("test")
		for _, c := range clients {
			leave(t, c)
		}
	})
}

func TestAnEventOverTheBoundIsReportedNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(Config{Engine: &scripted{padding: strings.Repeat("\x00", MaxMessage/5)}})
		var seen recorder
		c := attach(t, h, seen.options("alice"))
		if _, err := c.Resolve(t.Context(), probe.Ask{Host: "a"}); err != nil {
			t.Fatal(err)
		}
		if ev := seen.events[1]; ev.Kind != probe.KindProblem || !strings.Contains(ev.Note, "left out a note event") {
			t.Errorf("instead of it came %+v", ev)
		}
		leave(t, c)
		h.End("test")
	})
}
