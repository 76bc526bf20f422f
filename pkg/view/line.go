// Package view turns a run into lines of text that mean the same in every face: the terminal UI and the text report both
// print what is made here, each with its own colours.
//
// Every function is one from values to values. Nothing here knows of terminals, escapes or clocks; all text passes
// printable on its way into a Span, so that no face can forget it.
package view

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
)

// Tone is what a piece of text is meant to say. Each face maps it to a colour; the words alone carry all meaning.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Strong
	Faint
	Good
	Caution
	Bad
	Accent
	Added
	Removed
)

// Span is a piece of text in one tone. It is made by S only.
type Span struct {
	text string
	tone Tone
}

// S returns a Span of printable text.
func S(tone Tone, text string) Span {
	return Span{text: printable.Text(text, printable.MaxText), tone: tone}
}

// Text returns the span's text, which is printable.
func (s Span) Text() string { return s.text }

// Tone returns the span's tone.
func (s Span) Tone() Tone { return s.tone }

// Line is one line of a screen or a report.
type Line []Span

// L returns a line of one span.
func L(tone Tone, text string) Line { return Line{S(tone, text)} }

// String returns the line's text without its tones.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Width returns the cells that the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += width(s.text)
	}
	return n
}

// Clip returns the line cut to w cells, with ellipsis at its end when something was cut.
func (l Line) Clip(w int, ellipsis string) Line {
	if l.Width() <= w {
		return l
	}
	out := make(Line, 0, len(l))
	for _, s := range l {
		sw := width(s.text)
		// The ellipsis takes room of its own, so a span that just fits may have to give some up too.
		if sw <= w-width(ellipsis) {
			out, w = append(out, s), w-sw
			continue
		}
		end := ansi.Truncate(ellipsis, max(w, 0), "")
		return append(out, Span{ansi.Truncate(s.text, max(w-width(ellipsis), 0), "") + end, s.tone})
	}
	return out
}

// Pad returns the line filled with blanks to w cells.
func (l Line) Pad(w int) Line {
	if n := w - l.Width(); n > 0 {
		return append(append(Line{}, l...), S(Plain, strings.Repeat(" ", n)))
	}
	return l
}

// Indent returns lines moved n cells to the right.
func Indent(lines []Line, n int) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		if len(l) == 0 {
			out = append(out, l)
			continue
		}
		out = append(out, append(Line{S(Plain, strings.Repeat(" ", n))}, l...))
	}
	return out
}

// Wrap breaks text at blanks into lines of at most w cells; words that are longer are broken too.
func Wrap(tone Tone, text string, w int) []Line {
	w = max(w, 1)
	var out []Line
	cur, used := "", 0
	end := func() {
		if cur != "" {
			out = append(out, Line{{cur, tone}})
		}
		cur, used = "", 0
	}
	for _, word := range strings.Fields(printable.Text(text, printable.MaxText)) {
		n := width(word)
		if cur != "" && used+1+n <= w {
			cur, used = cur+" "+word, used+1+n
			continue
		}
		end()
		for n > w {
			head := ansi.Truncate(word, w, "")
			if head == "" {
				// A character wider than the whole line: whoever shows the line cuts it.
				_, size := utf8.DecodeRuneInString(word)
				head = word[:size]
			}
			out = append(out, Line{{head, tone}})
			word = word[len(head):]
			n = width(word)
		}
		cur, used = word, n
	}
	end()
	return out
}

// minHang is the least room, in cells, in which text still reads well beside its head.
const minHang = 16

// Hang returns head followed by text wrapped beside it, or below it where the head leaves too little room, all in w cells.
func Hang(head Line, tone Tone, text string, w int) []Line {
	n := head.Width()
	if n > 4 && w-n < min(minHang, width(text)) {
		return append([]Line{head.Clip(w, "...")}, Indent(Wrap(tone, text, w-4), 4)...)
	}
	body := Wrap(tone, text, w-n)
	if len(body) == 0 {
		return []Line{head}
	}
	out := Indent(body, n)
	out[0] = append(append(Line{}, head...), body[0]...)
	return out
}

// flow puts items one after the other, two blanks apart, and begins a new line where w cells are full.
func flow(items []Span, w int) []Line {
	var out []Line
	var cur Line
	for _, it := range items {
		if it.text == "" {
			continue
		}
		switch {
		case width(it.text) > w:
			// It takes lines of its own.
			if len(cur) > 0 {
				out = append(out, cur)
			}
			out = append(out, Wrap(it.tone, it.text, w)...)
			cur = nil
		case len(cur) == 0:
			cur = Line{it}
		case cur.Width()+3+width(it.text) <= w:
			cur = append(cur, S(Plain, "   "), it)
		default:
			out = append(out, cur)
			cur = Line{it}
		}
	}
	if len(cur) > 0 {
		out = append(out, cur)
	}
	return out
}

// width returns the cells that text takes.
func width(text string) int {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// elide shortens text to w cells by leaving out its middle: of a name both the host and the search domain tell something.
func elide(text string, w int, ellipsis string) string {
	n := width(text)
	if n <= w {
		return text
	}
	room := w - width(ellipsis)
	if room < 2 {
		return ansi.Truncate(text, max(w, 0), "")
	}
	tail := room / 2
	return ansi.Truncate(text, room-tail, "") + ellipsis + ansi.TruncateLeft(text, n-tail, "")
}

// elideName shortens the name of an attempt to w cells. What a search domain added tells attempts apart, so it stays whole where
// that leaves some of the host.
func elideName(name, host string, w int, ellipsis string) string {
	host = strings.TrimSuffix(host, ".")
	if domain, ok := strings.CutPrefix(name, host+"."); ok && domain != "" && width(name) > w {
		if room := w - width(ellipsis) - width(domain); room >= 4 {
			return ansi.Truncate(host, room, "") + ellipsis + domain
		}
	}
	return elide(name, w, ellipsis)
}

// padRight fills text with blanks to w cells.
func padRight(text string, w int) string {
	if n := w - width(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// padLeft puts blanks before text up to w cells.
func padLeft(text string, w int) string {
	if n := w - width(text); n > 0 {
		return strings.Repeat(" ", n) + text
	}
	return text
}
