// Package printable makes text that others control safe to print: whatever a DNS server, a pod, a cluster or a saved file
// says, no terminal obeys it and no reader is misled about the order of its characters.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is a bound in bytes that fits everything people read in one place; longer text is cut.
const MaxText = 4096

// cut stands for what was cut off. It is ASCII, since it must be readable everywhere.
const cut = "..."

// Text returns s as one printable line of at most limit bytes of the original (more where escapes are spelled out).
//
// Control characters (C0, DEL, C1), format characters (bidirectional overrides and isolates, zero-width characters, tags),
// line and paragraph separators, private-use and unassigned code points, variation selectors, flags made of two code
// points, piled-up combining marks and bytes that are no UTF-8 come out as \xNN, \uNNNN or \UNNNNNNNN. A backslash stays as
// it is: DNS presentation format (RFC 4343) is full of them.
func Text(s string, limit int) string {
	s, tail := bounded(s, limit)
	if plain(s) {
		return s + tail
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	write(&b, s)
	b.WriteString(tail)
	return b.String()
}

// Lines splits s at its newlines and returns at most lines lines, each as Text does. A last line of "..." stands for the rest.
func Lines(s string, lines, limit int) []string {
	if s == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	rest := false
	if len(parts) > lines {
		parts, rest = parts[:max(lines, 0)], true
	}
	out := make([]string, 0, len(parts)+1)
	for _, p := range parts {
		out = append(out, Text(strings.TrimSuffix(p, "\r"), limit))
	}
	if rest {
		out = append(out, cut)
	}
	return out
}

// Safe reports whether a terminal can be shown r as it is.
func Safe(r rune) bool {
	switch {
	case r < 0x20 || r == utf8.RuneError:
		return false
	case r < 0x7f:
		return true
	case r < 0xa0:
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		// Variation selectors make the width of the character before them a matter of taste.
		return false
	case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff:
		// Flags and skin tones join with their neighbours: terminals disagree about the width.
		return false
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0:
		// Hangul fillers are letters that show nothing.
		return false
	case unicode.Is(unicode.Zs, r):
		// Only the plain space is what it looks like.
		return false
	}
	return unicode.IsGraphic(r)
}

// bounded cuts s at limit bytes, on the border of a character.
func bounded(s string, limit int) (head, tail string) {
	if len(s) <= limit {
		return s, ""
	}
	n := max(limit, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], cut
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func write(b *strings.Builder, s string) {
	marks := 1 // a mark at the very start has nothing to sit on
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, `\x%02x`, s[i])
			marks = 0
		case unicode.Is(unicode.M, r) && marks > 0:
			escape(b, r)
		case Safe(r):
			b.WriteRune(r)
			if unicode.Is(unicode.M, r) {
				marks++
			} else {
				marks = 0
			}
		default:
			escape(b, r)
			marks = 0
		}
		i += size
	}
}

func escape(b *strings.Builder, r rune) { b.WriteString(Escape(r)) }

// Escape spells a character as \xNN, \uNNNN or \UNNNNNNNN.
func Escape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
