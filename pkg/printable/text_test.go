package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text stays", "api.stripe.com.", "api.stripe.com."},
		{"presentation format stays", `a\.b\032c.example.`, `a\.b\032c.example.`},
		{"colour escape", "\x1b[31mred", `\x1b[31mred`},
		{"title escape", "\x1b]0;owned\a", `\x1b]0;owned\x07`},
		{"eight-bit CSI", "a\u009b31mb", `a\x9b31mb`},
		{"a lone byte", "a\xffb", `a\xffb`},
		{"newline and tab", "a\nb\tc\r", `a\x0ab\x09c\x0d`},
		{"bidi override", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"zero width", "pay\u200bments", `pay\u200bments`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"tag characters", "a\U000e0041", `a\U000e0041`},
		{"wide characters stay", "日本.example.", "日本.example."},
		{"one accent stays, a pile does not", "e\u0301\u0302\u0303", "e\u0301" + `\u0302\u0303`},
		{"mark with nothing below", "\u0301a", `\u0301a`},
		{"emoji with selector", "☁\ufe0f", "☁" + `\ufe0f`},
		{"no-break space", "a\u00a0b", `a\xa0b`},
		{"private use", "\ue0b0", `\ue0b0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in, MaxText); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestTextIsBounded(t *testing.T) {
	if got := Text(strings.Repeat("a", 100), 10); got != strings.Repeat("a", 10)+"..." {
		t.Errorf("Text = %q", got)
	}
	if got := Text("aé", 2); got != "a..." {
		t.Errorf("Text cut inside a character: %q", got)
	}
	if got := Text("abc", 0); got != "..." {
		t.Errorf("Text = %q", got)
	}
}

func TestLines(t *testing.T) {
	got := Lines("a\r\nb\x1b\nc\nd\n", 3, 80)
	if diff := cmp.Diff([]string{"a", `b\x1b`, "c", "..."}, got); diff != "" {
		t.Errorf("Lines (-want +got):\n%s", diff)
	}
	if got := Lines("", 3, 80); got != nil {
		t.Errorf("Lines of nothing = %q", got)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "\x1b[2J", "\u202e", "\xff\xfe", "e\u0301\u0301", strings.Repeat("\x00", 50)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit %= 1 << 16
		got := Text(s, limit)
		if !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q is no UTF-8", s, got)
		}
		for _, r := range got {
			if unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				t.Fatalf("Text(%q) = %q holds %U", s, got, r)
			}
		}
		if len(got) > 10*max(limit, 0)+len(cut) {
			t.Fatalf("Text(%q, %d) has %d bytes", s, limit, len(got))
		}
		if again := Text(got, len(got)); again != got {
			t.Fatalf("Text is not idempotent: %q, then %q", got, again)
		}
	})
}
