package resolver

import (
	"slices"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	l63 := strings.Repeat("a", 63)
	for name, want := range map[string]string{
		"":                                    "",
		".":                                   "",
		"a":                                   "a",
		"a.":                                  "a",
		"a.b":                                 "a|b",
		"A.b.":                                "A|b",
		`a\.b.c`:                              "a.b|c",
		`a\\b`:                                `a\b`,
		`a\046b.c`:                            "a.b|c",
		`\000.x`:                              "\x00|x",
		`\255`:                                "\xff",
		"x y\t.z":                             "x y\t|z",
		"bücher.test":                         "bücher|test",
		l63 + ".b":                            l63 + "|b",
		"..":                                  "!" + ErrEmptyLabel.Error(),
		".a":                                  "!" + ErrEmptyLabel.Error(),
		"a..b":                                "!" + ErrEmptyLabel.Error(),
		"a..":                                 "!" + ErrEmptyLabel.Error(),
		l63 + "a.b":                           "!" + ErrLabelTooBig.Error(),
		"b." + l63 + "a":                      "!" + ErrLabelTooBig.Error(),
		`a\`:                                  "!" + ErrBadEscape.Error(),
		`a\25`:                                "!" + ErrBadEscape.Error(),
		`a\256`:                               "!" + ErrBadEscape.Error(),
		`a\2x5`:                               "!" + ErrBadEscape.Error(),
		strings.Repeat("a.", 127) + "b":       "!" + ErrNameTooBig.Error(),
		strings.Repeat(l63+".", 3) + l63[:61]: strings.Repeat(l63+"|", 3) + l63[:61],
		strings.Repeat(l63+".", 3) + l63[:62]: "!" + ErrNameTooBig.Error(),
	} {
		labels, err := Labels(name)
		got := strings.Join(labels, "|")
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%.40q: %.80q, want %.80q", name, got, want)
		}
	}
}

func TestJoinLabels(t *testing.T) {
	for want, labels := range map[string][]string{
		".": nil, "a.b.": {"a", "b"}, `a\.b.c.`: {"a.b", "c"}, `\\.`: {`\`}, `x\032\200\000.`: {"x \xc8\x00"}, `s.test\013.`: {"s", "test\r"},
	} {
		if got := JoinLabels(labels); got != want {
			t.Errorf("%q: %q, want %q", labels, got, want)
		}
	}
}

func TestShowName(t *testing.T) {
	for text, want := range map[string]string{
		"": ".", "a..b": "a..b.", "a.": "a.", "\x1b[31m": `\027[31m.`, `a\b`: `a\\b.`,
		strings.Repeat("x", 2000): strings.Repeat("x", 1024) + "…",
	} {
		if got := ShowName(text); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", text, got, want)
		}
	}
}

func TestSameName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"A.Test", "a.test.", true},
		{"a.test", "b.test", false},
		{"a", "a.a", false},
		{`a\.b`, "a.b", false},
		{`\097`, "A", true},
		{"..", "..", false},
		{"", ".", true},
		{"é", "É", false},
		{"a\x00", "A\x00", true},
	} {
		if got := SameName(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestIsHostName(t *testing.T) {
	for name, want := range map[string]bool{
		".": true, "a": true, "_a.b-c": true, "a-.-b": true, "-a": false, "a.*": false, "a b": false, `a\.b`: false, "bücher": false, "9": true,
	} {
		labels, err := Labels(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsHostName(labels); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func FuzzLabels(f *testing.F) {
	for _, s := range []string{"a.b", `a\.b\046`, "..", `\`, strings.Repeat("a.", 130), "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		labels, err := Labels(name)
		if err != nil {
			return
		}
		size := 1
		for _, l := range labels {
			if size += len(l) + 1; len(l) == 0 || len(l) > MaxLabelBytes {
				t.Errorf("%q: label %q", name, l)
			}
		}
		if size > MaxNameBytes {
			t.Errorf("%q: %d bytes", name, size)
		}
		joined := JoinLabels(labels)
		again, err := Labels(joined)
		if err != nil || !slices.Equal(labels, again) || !SameName(name, joined) {
			t.Errorf("%q became %q became %q: %v", labels, joined, again, err)
		}
	})
}
