package target

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadProgram(t *testing.T) {
	for name, c := range map[string]struct {
		wide  bool
		order binary.ByteOrder
	}{
		"64 bits, little endian": {true, binary.LittleEndian}, "64 bits, big endian": {true, binary.BigEndian},
		"32 bits, little endian": {false, binary.LittleEndian}, "32 bits, big endian": {false, binary.BigEndian},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := readProgram(strings.NewReader(elfOf(c.wide, c.order, "/lib/ld.so.1", []byte("data"), "one", "two\nlines")))
			if err != nil || p.interp != "/lib/ld.so.1" || len(p.segments) != 2 || p.segments[1].flags&writable == 0 {
				t.Fatalf("%+v, %v", p, err)
			}
			var got []string
			p.texts(func(text []byte) bool { got = append(got, string(text)); return true })
			if diff := cmp.Diff([]string{"one", "two\nlines", "data"}, got); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostilePrograms(t *testing.T) {
	good := elf(glibcLoader, []byte("data"), "text")
	change := func(at int, value ...byte) string {
		b := []byte(good)
		copy(b[at:], value)
		return string(b)
	}
	all := bytes.Repeat([]byte{0xff}, 8)
	for name, c := range map[string]struct {
		file string
		want error
	}{
		"empty": {"", errNotELF}, "a script": {"#!/bin/sh\n", errNotELF}, "a header alone": {good[:elfHeaderSize], errNotELF},
		"headers far away": {change(32, all...), errNotELF}, "more headers than there are": {change(56, 0, 1), errNotELF},
		"too many headers": {change(56, 0xff, 0xff), errNotELF}, "headers of no size": {change(54, 0, 0), errNotELF},
		"a segment far away":         {change(elfHeaderSize+8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), nil},
		"a segment of huge size":     {change(elfHeaderSize+32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), nil},
		"a segment of negative size": {change(elfHeaderSize+32, all...), nil},
	} {
		p, err := readProgram(strings.NewReader(c.file))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		p.texts(func([]byte) bool { return true })
		goBuildOf(p)
	}
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("a", 200<<10)
	var got []string
	texts(strings.NewReader("\x00one\x00\x80two\n\x00\xffä"+long+"\x01last"), func(text []byte) bool {
		got = append(got, string(text))
		return true
	})
	if diff := cmp.Diff([]string{"one", "two\n", long[:maxText], "last"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n := 0
	if texts(strings.NewReader("a\x00b\x00c"), func([]byte) bool { n++; return n < 2 }) || n != 2 {
		t.Errorf("stopped after %d texts", n)
	}
}

func TestATextAcrossChunksIsFound(t *testing.T) {
	for shift := range 8 {
		data := strings.Repeat("\x00", 64<<10-4+shift-4) + "getaddrinfo\x00"
		found := false
		texts(strings.NewReader(data), func(text []byte) bool { found = found || string(text) == "getaddrinfo"; return true })
		if !found {
			t.Errorf("not found at %d", len(data))
		}
	}
}

func TestTextsAtFindsWhatTextsFinds(t *testing.T) {
	const mark = "GNU C Library ("
	long := mark + strings.Repeat("x", 2*maxText)
	for shift := -2 * maxText; shift < 2*maxText; shift += 7 {
		gap := strings.Repeat("\x00", 64<<10-len(mark)+shift)
		data := mark + "first\x00no " + mark + "\x00" + gap + mark + "second)\x00" + gap + long + "\x01" + mark
		var want, got []string
		texts(strings.NewReader(data), func(text []byte) bool {
			if strings.HasPrefix(string(text), mark) {
				want = append(want, string(text))
			}
			return true
		})
		textsAt(io.NewSectionReader(strings.NewReader(data), 0, int64(len(data))), []byte(mark), func(text []byte) bool {
			got = append(got, string(text))
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" || len(want) != 4 {
			t.Fatalf("shift %d, %d texts wanted (-want +got):\n%s", shift, len(want), diff)
		}
	}
	n := 0
	twice := mark + "\x00" + mark + "\x00" + mark
	if textsAt(io.NewSectionReader(strings.NewReader(twice), 0, int64(len(twice))), []byte(mark), func([]byte) bool { n++; return n < 2 }) || n != 2 {
		t.Errorf("stopped after %d texts", n)
	}
}

func FuzzProgram(f *testing.F) {
	f.Add([]byte(elf(glibcLoader, goData("1.26.8", "CGO_ENABLED=1")[120<<10:], debian12, "getaddrinfo")))
	f.Add([]byte(elfOf(false, binary.BigEndian, muslLoader, nil, "1.2.3")))
	if self, err := os.Executable(); err == nil {
		if data, err := os.ReadFile(self); err == nil {
			f.Add(data[:min(len(data), 64<<10)])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readProgram(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(p.interp) > maxInterp || strings.Contains(p.interp, "\x00") {
			t.Errorf("the loader's path is %q", p.interp)
		}
		p.texts(func(text []byte) bool {
			if len(text) == 0 || len(text) > maxText || notText(text) >= 0 {
				t.Fatalf("no text: %q", text)
			}
			glibcBanner(string(text))
			muslVersion(string(text))
			return true
		})
		if b, ok := goBuildOf(p); ok && len(b.Version) > 64 {
			t.Errorf("the Go version has %d bytes", len(b.Version))
		}
	})
}
