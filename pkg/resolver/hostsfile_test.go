package resolver

import (
	"fmt"
	"testing"
)

func TestParseHosts(t *testing.T) {
	text := "127.0.0.1\tlocalhost\n\n  # note\n \t10.0.0.1 a  b\t# c\r\n10.0.0.2\n10.0.0.3#x y\n10.0.0.4 last"
	want := "[{127.0.0.1 [localhost] 20 20} { [] 1 0} { [] 9 7} {10.0.0.1 [a b] 21 19} {10.0.0.2 [] 9 9} {10.0.0.3 [] 13 13} {10.0.0.4 [last] 13 13}]"
	if got := fmt.Sprint(ParseHosts(text)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := ParseHosts(""); len(got) != 0 {
		t.Errorf("an empty file: %v", got)
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add("127.0.0.1 localhost\n# x\n\xff\x00 a")
	f.Fuzz(func(t *testing.T, text string) {
		bytes := 0
		for _, line := range ParseHosts(text) {
			bytes += line.Bytes
			if line.Stripped > line.Bytes || line.Address == "" && len(line.Names) > 0 {
				t.Errorf("%q: %+v", text, line)
			}
			for _, name := range line.Names {
				if name == "" {
					t.Errorf("%q: an empty name", text)
				}
			}
		}
		if bytes != min(len(text), MaxHostsBytes) {
			t.Errorf("%d of %d bytes are in lines", bytes, len(text))
		}
	})
}
