package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// styles paint lines. Only the terminal's own sixteen colours are used, and of those neither black nor white: they follow the
// theme, so light and dark terminals need no question about their background.
type styles struct{ of map[view.Tone]lipgloss.Style }

// newStyles returns styles for a terminal at out, without any escapes when colour is false.
func newStyles(out io.Writer, colour bool) styles {
	if !colour {
		return styles{}
	}
	r := lipgloss.NewRenderer(out)
	r.SetColorProfile(termenv.ANSI)
	// Said, not asked: asking would write to the terminal and wait for it. No colour here depends on it.
	r.SetHasDarkBackground(true)
	fg := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{of: map[view.Tone]lipgloss.Style{
		view.Strong:  r.NewStyle().Bold(true),
		view.Faint:   r.NewStyle().Faint(true),
		view.Good:    fg("2"),
		view.Caution: fg("3"),
		view.Bad:     fg("1"),
		view.Accent:  fg("6"),
		view.Added:   fg("2"),
		view.Removed: fg("1"),
	}}
}

// paint returns the text of a line with its colours.
func (s styles) paint(l view.Line) string {
	if s.of == nil {
		return l.String()
	}
	var b strings.Builder
	for _, span := range l {
		style, ok := s.of[span.Tone()]
		if text := span.Text(); ok && strings.TrimSpace(text) != "" {
			b.WriteString(style.Render(text))
		} else {
			b.WriteString(text)
		}
	}
	return b.String()
}
