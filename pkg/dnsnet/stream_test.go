package dnsnet

import (
	"bytes"
	"testing"
)

func TestReassembly(t *testing.T) {
	var stream []byte
	want := [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("x"), maxMessage), []byte("last")}
	for _, m := range want {
		var err error
		if stream, err = frame(stream, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, chunk := range []int{1, 2, 3, 1000, len(stream)} {
		var r reassembly
		var got [][]byte
		for rest := stream; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
			r.add(rest[:min(chunk, len(rest))])
			for m, ok := r.next(); ok; m, ok = r.next() {
				got = append(got, bytes.Clone(m))
			}
		}
		if len(got) != len(want) {
			t.Fatalf("in chunks of %d: %d messages", chunk, len(got))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("in chunks of %d: message %d differs", chunk, i)
			}
		}
		if len(r.buf) != 0 {
			t.Errorf("in chunks of %d: %d bytes are left", chunk, len(r.buf))
		}
	}
}

func TestFrameRefusesWhatThePrefixCannotSay(t *testing.T) {
	if _, err := frame(nil, make([]byte, maxMessage+1)); err == nil {
		t.Error("65536 bytes were framed")
	}
}
