package report

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// sgr are the terminal's own colours, by select graphic rendition parameters (ECMA-48 8.3.117): they follow the reader's
// theme, light or dark. Black, white and their bright forms are left alone, since one of them is always the background.
var sgr = map[view.Tone]string{
	view.Strong:  "1",
	view.Faint:   "2",
	view.Good:    "32",
	view.Caution: "33",
	view.Bad:     "31",
	view.Accent:  "36",
	view.Added:   "32",
	view.Removed: "31",
}

// paint returns the text of a line, coloured or not, without blanks at its end.
func paint(l view.Line, color bool) string {
	if !color {
		return strings.TrimRight(l.String(), " ")
	}
	var b strings.Builder
	for _, s := range l {
		code, ok := sgr[s.Tone()]
		if !ok || strings.TrimSpace(s.Text()) == "" {
			b.WriteString(s.Text())
			continue
		}
		b.WriteString("\x1b[" + code + "m" + s.Text() + "\x1b[0m")
	}
	return strings.TrimRight(b.String(), " ")
}
