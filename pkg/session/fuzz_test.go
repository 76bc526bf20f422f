package session

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// FuzzAttach has somebody send anything at all to a hub that others use: they go on, unless he asks for the end of the session.
func FuzzAttach(f *testing.F) {
	const hello = `{"type":"hello","hello":{"protocol":1,"version":"x","name":"mallory"}}` + "\n"
	f.Add([]byte(hello + `{"type":"resolve","id":"1","resolve":{"host":"panic"}}` + "\n" + `{"type":"cancel","id":"1"}`))
	f.Add([]byte(hello + `{"type":"read","id":"1"}` + "\n" + `{"type":"read","id":"1"}` + "\n" + `{"type":"bye"}` + "\n"))
	f.Add([]byte(hello + `{"type":"event","event":{"event":"note","seq":-1}}` + "\n{\n[]\n\n" + `{"type":"done","id":"alice.p1-1"}` + "\n"))
	f.Add([]byte(hello + `{"type":"shutdown"}` + "\n"))
	f.Add([]byte(`{"type":"hello","hello":{"protocol":1,"session":"x","after":-9223372036854775808,"noHistory":true,"name":"\u202e"}}` + "\n" + hello))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := NewHub(Config{Engine: &scripted{}})
		alice := attach(t, h, Options{Name: "alice"})
		near, far := net.Pipe()
		served := make(chan struct{})
		go func() {
			h.Attach(far)
			close(served)
		}()
		go io.Copy(io.Discard, near) // Until the hub closes.
		_, _ = near.Write(data)      // The hub may have closed before it has read all.
		if err := near.Close(); err != nil {
			t.Error(err)
		}
		<-served
		r, err := alice.Resolve(t.Context(), probe.Ask{Host: "ledger"})
		var cut *CutError
		ended := errors.As(err, &cut) && strings.Contains(cut.Reason, "asked the probe to end")
		if !ended && (err != nil || r.Outcome != probe.OK) {
			t.Errorf("after %q: %+v, %v", data, r, err)
		}
		leave(t, alice)
		h.End("test")
	})
}
