package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestMessagesSurviveTheWire(t *testing.T) {
	for _, want := range []Message{
		{Type: TypeHello, Hello: &Hello{Protocol: 1, Version: "v1", Name: "alice", Session: "s", After: 12}},
		{Type: TypeResolve, ID: "alice-1", Resolve: &probe.Ask{Host: "a<b>&c", Variant: probe.Variant{Name: "ndots:2", Options: []string{"ndots:2"}}}},
		{Type: TypeEvent, Event: &probe.Event{Kind: probe.KindNote, Seq: 3, Resolution: "alice-1", Note: "line one\nline two\x00\u2028"}},
		{Type: TypeBye, Reason: "goodbye"},
	} {
		line, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(line, []byte("\n")); n != 1 {
			t.Errorf("%s takes %d lines: %q", want.Type, n, line)
		}
		got, err := NewDecoder(bytes.NewReader(line), MaxMessage).Decode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Type, diff)
		}
	}
}

func TestDecodeOddLines(t *testing.T) {
	const in = "\n  \r\n" + `{"type":"telepathy","event":"a string"}` + "\n" + `{"id":"x"}` + "\n" + `[]` + "\n" +
		`{"type":"event","event":"a string"}` + "\n" + "\x1b[31m\n" + `{"type":"bye"}`
	d := NewDecoder(strings.NewReader(in), 4096)
	m, err := d.Decode()
	if err != nil || m.Type != "telepathy" || m.Event != nil {
		t.Errorf("a type of a later version: %+v, %v", m, err)
	}
	for _, want := range []string{
		`read message on line 4, which starts with "{\"id\":\"x\"}": it has no "type" field`,
		"read message on line 5", "read message on line 6", `read message on line 7, which starts with "\x1b[31m": `,
	} {
		var malformed *MalformedError
		if _, err := d.Decode(); !errors.As(err, &malformed) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if m, err = d.Decode(); err != nil || m.Type != TypeBye {
		t.Errorf("after the broken lines: %+v, %v", m, err)
	}
	if _, err = d.Decode(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestDecodeRefusesWhatIsTooLong(t *testing.T) {
	d := NewDecoder(strings.NewReader(`{"type":"ping"}`+"\n"+strings.Repeat("x", 5000)), 4096)
	if _, err := d.Decode(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode(); !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	recorded, err := os.ReadFile("testdata/later-version.ndjson")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(recorded) {
		f.Add(line)
	}
	f.Add([]byte(`{"type":"resolve","id":"1","resolve":{"host":"a","timeoutMs":1e300}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := NewDecoder(bytes.NewReader(data), 4096)
		for lines := 0; ; lines++ {
			m, err := d.Decode()
			var malformed *MalformedError
			switch {
			case errors.As(err, &malformed):
				continue
			case err != nil:
				return
			case m.Type == "":
				t.Fatalf("a message without a type came out of %q", data)
			case lines > len(data):
				t.Fatalf("more messages than bytes in %q", data)
			}
			line, err := encode(m)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			again, err := NewDecoder(bytes.NewReader(line), len(line)+1).Decode()
			if err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
			twice, err := encode(again)
			if err != nil || !bytes.Equal(line, twice) {
				t.Fatalf("written twice, %s differs from %s (%v)", line, twice, err)
			}
		}
	})
}
