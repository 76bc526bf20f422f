package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// fakeHub answers a client's hello with the given lines and then does what the test says.
func fakeHub(t *testing.T, lines ...string) (client io.ReadWriteCloser, hub net.Conn, in *Decoder) {
	t.Helper()
	near, far := net.Pipe()
	in = NewDecoder(far, MaxRequest)
	go func() {
		if _, err := in.Decode(); err != nil {
			return // The test sees that the client got no answer.
		}
		for _, line := range lines {
			if _, err := io.WriteString(far, line+"\n"); err != nil {
				return
			}
		}
	}()
	return near, far, in
}

const hello = `{"type":"hello","hello":{"protocol":1,"version":"v1","session":"s","you":"p1"}}`

func TestWhyDialFails(t *testing.T) {
	for name, c := range map[string]struct{ say, want string }{
		"refused":          {`{"type":"error","error":"64 clients are attached already"}`, "join the session: the agent says: 64 clients are attached already"},
		"another protocol": {`{"type":"hello","hello":{"protocol":9}}`, "the plugin speaks protocol 1, the agent protocol 9"},
		"no hub":           {"sh: dnsprobe-agent: not found", `starts with "sh: dnsprobe-agent: not found"`},
		"an odd beginning": {`{"type":"event"}`, `the first message is "event" instead of hello`},
		"an end":           {`{"type":"bye","reason":"told to stop"}`, "join the session: the session ended: told to stop"},
		"too long a line":  {strings.Repeat("x", MaxMessage+1), "over the size bound"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stream, hub, _ := fakeHub(t, c.say)
				defer hub.Close()
				_, err := Dial(t.Context(), stream, Options{})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Dial: %v, want %q in it", err, c.want)
				}
			})
		})
	}
	t.Run("the stream ends", func(t *testing.T) {
		near, far := net.Pipe()
		if err := far.Close(); err != nil {
			t.Fatal(err)
		}
		var cut *CutError
		if _, err := Dial(t.Context(), near, Options{}); !errors.As(err, &cut) {
			t.Errorf("Dial: %v", err)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stream, hub, _ := fakeHub(t)
			defer hub.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := Dial(ctx, stream, Options{})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer from the agent") {
				t.Errorf("Dial: %v", err)
			}
		})
	})
}

func TestAStreamThatIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		say, reason, want string
	}{
		"without a word": {"", "", `resolve "ledger": the connection to the agent was cut: unexpected EOF`},
		"in good order": {
			`{"type":"bye","reason":"nobody was attached for 15m0s"}` + "\n", "nobody was attached for 15m0s",
			`resolve "ledger": the session ended: nobody was attached for 15m0s`,
		},
		"in the middle of a line": {`{"type":"eve`, "", "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stream, hub, in := fakeHub(t, hello)
				client, err := Dial(t.Context(), stream, Options{Name: "alice"})
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					m, _ := in.Decode() // A failure shows as a resolution without its begin.
					fmt.Fprintf(hub, `{"type":"event","event":{"event":"begin","seq":1,"resolution":%q,"begin":{"host":"ledger"}}}`+"\n", m.ID)
					_, _ = io.WriteString(hub, c.say)
					hub.Close()
				}()
				r, err := client.Resolve(t.Context(), probe.Ask{Host: "ledger"})
				var cut *CutError
				if !errors.As(err, &cut) || cut.Reason != c.reason || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Resolve: %v, want %q in it", err, c.want)
				}
				if r.ID != "alice.p1-1" || r.Outcome != "" {
					t.Errorf("what was seen until then: %+v", r)
				}
				<-client.Done()
				if client.Err() == nil {
					t.Error("the client does not know that the session is over")
				}
				if _, err := client.Resolve(t.Context(), probe.Ask{Host: "ledger"}); !errors.As(err, &cut) {
					t.Errorf("Resolve afterwards: %v", err)
				}
			})
		})
	}
}

func TestAHubThatSaysNothingIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream, hub, in := fakeHub(t, hello)
		defer hub.Close()
		client, err := Dial(t.Context(), stream, Options{})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for { // Reads, but never answers.
				if _, err := in.Decode(); err != nil {
					return
				}
			}
		}()
		start := time.Now()
		<-client.Done()
		if took := time.Since(start); took != time.Minute || !strings.Contains(client.Err().Error(), "nothing was heard from the agent for 45s") {
			t.Errorf("after %s: %v", took, client.Err())
		}
	})
}

func TestAClientTakesEachEventOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		event := func(seq int) string {
			return fmt.Sprintf(`{"type":"event","event":{"event":"note","seq":%d,"note":"x"}}`, seq)
		}
		stream, hub, _ := fakeHub(t, hello, event(1), event(2), event(2), event(1), event(3))
		var seen recorder
		client, err := Dial(t.Context(), stream, seen.options("alice"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if diff := cmp.Diff(upTo(3), seen.seqs()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if got := client.LastSeq(); got != 3 {
			t.Errorf("LastSeq = %d", got)
		}
		hub.Close()
	})
}

// TestARecordedStreamOfALaterVersion replays what a hub of a later version could send: new types, new fields in known types,
// fields of another form in types that are not ours, new kinds of events.
func TestARecordedStreamOfALaterVersion(t *testing.T) {
	recorded, err := os.ReadFile("testdata/later-version.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(recorded)), "\n")
	synctest.Test(t, func(t *testing.T) {
		const history = 3
		stream, hub, in := fakeHub(t, lines[:history]...)
		var seen recorder
		client, err := Dial(t.Context(), stream, seen.options("alice"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // The history is through: only then is there one writer.
		go func() {
			_, _ = in.Decode() // The request; without it the test hangs, and the bubble says so.
			_, _ = io.WriteString(hub, strings.Join(lines[history:], "\n")+"\n")
		}()
		r, err := client.Resolve(t.Context(), probe.Ask{Host: "api.stripe.com"})
		if err != nil || r.Outcome != probe.OK || r.QueriesSent != 2 || len(r.Attempts) != 1 {
			t.Errorf("Resolve = %+v, %v", r, err)
		}
		<-client.Done()
		if diff := cmp.Diff(upTo(9), seen.seqs()); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if want := "session: the session ended: nobody was attached for 15m0s"; client.Err().Error() != want {
			t.Errorf("the end: %v", client.Err())
		}
	})
}
