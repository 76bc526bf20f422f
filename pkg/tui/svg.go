package tui

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// The cells of a picture, in pixels: those of a monospaced font of 14 pixels.
const (
	cellWidth  = 8.4
	cellHeight = 19.0
	margin     = 14.0
)

// svgStyle gives the terminal's own colours a light and a dark form, as a terminal's theme does.
const svgStyle = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328}
rect{fill:#ffffff;stroke:#d1d9e0}.b{font-weight:bold}.f{fill:#6e7781}.c1{fill:#b42318}.c2{fill:#1a7f37}.c3{fill:#8a5a00}.c6{fill:#0b7285}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#0d1117;stroke:#30363d}.f{fill:#8b949e}.c1{fill:#ff7b72}.c2{fill:#56d364}.c3{fill:#e3b341}.c6{fill:#56d4dd}}`

// SVG writes the first screen of a run that has ended as a picture of width times height cells: what a person at a terminal of that
// size sees, without the keys that need one.
func SVG(ctx context.Context, w io.Writer, events []probe.Event, width, height int) error {
	var terminal bytes.Buffer
	m := newModel(ctx, Options{Getenv: func(string) string { return "" }}, &terminal, true, view.Unicode)
	var shown tea.Model = m
	for _, msg := range []tea.Msg{tea.WindowSizeMsg{Width: width, Height: height}, eventsMsg{events: events, at: time.Time{}, ended: true}} {
		shown, _ = shown.Update(msg)
	}
	_, err := io.WriteString(w, svg(shown.View(), width))
	return err
}

// wordGroups are words with one blank between them: where there are more, not every program keeps them.
var wordGroups = regexp.MustCompile(`\S+(?: \S+)*`)

// svg draws the lines of a screen.
func svg(screen string, width int) string {
	lines := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" role="img" aria-label="a run of kubectl dnsprobe">`+"\n",
		float64(width)*cellWidth+2*margin, float64(len(lines))*cellHeight+2*margin)
	fmt.Fprintf(&b, "<style>%s</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"%.1f\" height=\"%.1f\" rx=\"8\"/>\n", svgStyle,
		float64(width)*cellWidth+2*margin-1, float64(len(lines))*cellHeight+2*margin-1)
	for i, line := range lines {
		y := margin + float64(i+1)*cellHeight - 5
		column := 0
		for _, s := range stretches(line) {
			for _, at := range wordGroups.FindAllStringIndex(s.text, -1) {
				text := s.text[at[0]:at[1]]
				x := margin + float64(column+ansi.StringWidth(s.text[:at[0]]))*cellWidth
				fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x, y,
					float64(ansi.StringWidth(text))*cellWidth, s.class(), html.EscapeString(text))
			}
			column += ansi.StringWidth(s.text)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// stretch is a part of a line in one style.
type stretch struct {
	text        string
	bold, faint bool
	// colour is one of the terminal's own, "" for the default.
	colour string
}

func (s stretch) class() string {
	var classes []string
	if s.bold {
		classes = append(classes, "b")
	}
	if s.faint {
		classes = append(classes, "f")
	}
	if s.colour != "" {
		classes = append(classes, "c"+s.colour)
	}
	if classes == nil {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}

// stretches splits a line where its style changes. Only what our own styles write is understood: bold, faint, a colour, none.
func stretches(line string) []stretch {
	var out []stretch
	var now stretch
	for line != "" {
		text, rest, escaped := strings.Cut(line, "\x1b[")
		if text != "" {
			part := now
			part.text = text
			out = append(out, part)
		}
		if !escaped {
			break
		}
		codes, after, _ := strings.Cut(rest, "m")
		for _, code := range strings.Split(codes, ";") {
			switch {
			case code == "" || code == "0":
				now = stretch{}
			case code == "1":
				now.bold = true
			case code == "2":
				now.faint = true
			case len(code) == 2 && code[0] == '3':
				now.colour = code[1:]
			}
		}
		line = after
	}
	return out
}
