package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// walk is the stream of a resolution with one search attempt that fails and the as-is attempt that answers.
func walk() []Event {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	minimum := uint32(5)
	ms := func(n float64) Millis { return Millis(n * float64(time.Millisecond)) }
	var evs []Event
	add := func(e Event) { e.Resolution = "r1"; evs = append(evs, e) }
	add(Event{Kind: KindBegin, Begin: &Begin{Host: "api.stripe.com", Variant: VariantNow, Libc: Glibc, Source: Measured, StartedAt: at}})
	add(Event{Kind: KindAttempt, Attempt: &Try{N: 1, Name: "api.stripe.com.shop.svc.cluster.local.", Origin: OriginSearch}})
	for i, typ := range []QueryType{TypeA, TypeAAAA} {
		add(Event{Kind: KindSent, At: ms(0.1), Sent: &Sent{Ref: Ref{1, typ}, Try: 1, Server: "198.18.0.10", Transport: UDP, Socket: 1, ID: uint16(10 + i)}})
	}
	for i, typ := range []QueryType{TypeA, TypeAAAA} {
		add(Event{Kind: KindReceived, At: ms(1), Received: &Received{
			Ref: Ref{1, typ}, Server: "198.18.0.10", Transport: UDP, Socket: 1, ID: uint16(10 + i),
			Rcode: "NXDOMAIN", Flags: []string{"AA", "RD"}, Size: 120, SOAMinimum: &minimum, Use: UseAccepted,
		}})
	}
	add(Event{Kind: KindAttemptEnded, At: ms(1), AttemptEnded: &AttemptEnded{N: 1, Outcome: NXDomain}})
	add(Event{Kind: KindAttempt, At: ms(1), Attempt: &Try{N: 2, Name: "api.stripe.com.", Origin: OriginAsIs, SearchIndex: -1}})
	for i, typ := range []QueryType{TypeA, TypeAAAA} {
		add(Event{Kind: KindSent, At: ms(1), Sent: &Sent{Ref: Ref{2, typ}, Try: 1, Server: "198.18.0.10", Transport: UDP, Socket: 2, ID: uint16(20 + i)}})
	}
	add(Event{Kind: KindReceived, At: ms(5), Received: &Received{
		Ref: Ref{2, TypeA}, Server: "198.18.0.10", Transport: UDP, Socket: 2, ID: 20, Rcode: "NOERROR", Use: UseAccepted,
		Answers: []Answer{{Name: "api.stripe.com.", Type: "A", TTL: 60, Data: "203.0.113.7"}},
	}})
	add(Event{Kind: KindReceived, At: ms(5), Received: &Received{
		Ref: Ref{2, TypeAAAA}, Server: "198.18.0.10", Transport: UDP, Socket: 2, ID: 21, Rcode: "NOERROR", Use: UseAccepted,
	}})
	add(Event{Kind: KindAttemptEnded, At: ms(5), AttemptEnded: &AttemptEnded{N: 2, Outcome: OK}})
	add(Event{Kind: KindEnded, At: ms(5), Ended: &Ended{Outcome: OK, Addresses: []string{"203.0.113.7"}, DecidedBy: 2, AnsweredBy: "dns"}})
	return evs
}

func TestCodecRoundTrip(t *testing.T) {
	want := walk()
	var stream bytes.Buffer
	enc := NewEncoder(&stream)
	for _, ev := range want {
		if err := enc.Encode(ev); err != nil {
			t.Fatal(err)
		}
	}
	got := decodeAll(t, &stream)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events after a round trip (-want +got):\n%s", diff)
	}
}

func decodeAll(t *testing.T, r io.Reader) []Event {
	t.Helper()
	var evs []Event
	for dec := NewDecoder(r); ; {
		ev, err := dec.Decode()
		if errors.Is(err, io.EOF) {
			return evs
		}
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, ev)
	}
}

func TestDecoderKeepsWhatItDoesNotKnow(t *testing.T) {
	stream := "\n" + `{"event":"from-the-future","atMs":1,"unheardOf":{"a":[1]}}` + "\n\n" + `{"event":"note","note":"n","atMs":2}` + "\n"
	got := decodeAll(t, strings.NewReader(stream))
	if len(got) != 2 || got[0].Kind != "from-the-future" || got[1].Note != "n" {
		t.Errorf("got %+v, want the unknown kind kept and the note after it", got)
	}
	FoldAll(got) // must not mind
}

func TestDecoderNamesTheBrokenLine(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no JSON", `{"event":"note"}` + "\nnonsense\n", "line 2"},
		{"no event field", `{"seq":1}` + "\n", "line 1"},
		{"a line without end", strings.Repeat("x", MaxLine+1), "line 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dec := NewDecoder(strings.NewReader(tc.in))
			var err error
			for err == nil {
				_, err = dec.Decode()
			}
			if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error that names %s", err, tc.want)
			}
		})
	}
}

func FuzzDecodeAndFold(f *testing.F) {
	var stream bytes.Buffer
	enc := NewEncoder(&stream)
	for _, ev := range walk() {
		if err := enc.Encode(ev); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(stream.Bytes())
	f.Add([]byte(`{"event":"sent","resolution":"r1","sent":{"attempt":7}}`))
	// Events that lack what their kind names, or point at nothing.
	f.Add([]byte(`{"event":"begin","resolution":"r1"}
{"event":"begin","resolution":"r1","begin":{"host":"x"}}
{"event":"begin","resolution":"r1","begin":{"host":"y"}}
{"event":"attempt","resolution":"r1"}
{"event":"attempt","resolution":"r1","attempt":{"n":1}}
{"event":"sent","resolution":"r1"}
{"event":"sent","resolution":"r1","sent":{"attempt":2,"type":"A","id":1}}
{"event":"sent","resolution":"r1","sent":{"attempt":1,"type":"A","id":1}}
{"event":"received","resolution":"r1"}
{"event":"received","resolution":"r1","received":{"attempt":2,"type":"A","id":1}}
{"event":"received","resolution":"r1","received":{"attempt":1,"type":"A","id":2}}
{"event":"received","resolution":"r1","received":{"attempt":1,"type":"A","id":1,"use":"ignored"}}
{"event":"lost","resolution":"r1"}
{"event":"lost","resolution":"r1","lost":{"attempt":1,"type":"AAAA","id":1}}
{"event":"attempt-ended","resolution":"r1"}
{"event":"ended","resolution":"r1"}
{"event":"weather","seq":1,"mood":"fine"}
{"event":"note","seq":1,"resolution":"r1","mood":"fine"}
{"event":"note","seq":0}{}
`))
	f.Add([]byte(`{"event":"ended","resolution":"r1","atMs":1e300,"ended":{"outcome":"ok","decidedBy":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var fold Fold
		for dec := NewDecoder(bytes.NewReader(data)); ; {
			ev, err := dec.Decode()
			if err != nil {
				break
			}
			fold.Add(ev)
			// Runs are saved, and read by later versions: what was read can be written, and comes out the same again.
			var once, twice bytes.Buffer
			if err := NewEncoder(&once).Encode(ev); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			again, err := NewDecoder(bytes.NewReader(once.Bytes())).Decode()
			if err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
			if err := NewEncoder(&twice).Encode(again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
				t.Fatalf("written twice, %s differs from %s (%v)", once.Bytes(), twice.Bytes(), err)
			}
		}
		for _, r := range fold.Run().Resolutions {
			if len(r.Attempts) > MaxAttempts || r.QueriesSent > r.TransmissionsSent || r.QueriesWasted > r.QueriesSent {
				t.Errorf("%d attempts, %d transmissions, %d queries, %d of them wasted", len(r.Attempts), r.TransmissionsSent, r.QueriesSent, r.QueriesWasted)
			}
		}
		if _, err := json.Marshal(fold.Run()); err != nil {
			t.Errorf("the run cannot be written: %v", err)
		}
	})
}
