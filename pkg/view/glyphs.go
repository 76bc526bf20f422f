package view

import (
	"runtime"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Glyphs are the signs beside the words. Every sign repeats what a word or a column already says.
type Glyphs struct {
	OK, No, None, Waiting    string
	Bar, BarWaiting          string
	Info, Warning, Critical  string
	Cursor, Arrow, Dot, Tab  string
	Ellipsis, Left, Up, Down string
}

// Unicode are signs that every common terminal font has.
var Unicode = Glyphs{
	OK: "✓", No: "✗", None: "·", Waiting: "…",
	Bar: "▇", BarWaiting: "░",
	Info: "●", Warning: "▲", Critical: "■",
	Cursor: "▸", Arrow: "→", Dot: "·", Tab: "│",
	Ellipsis: "…", Left: "left cluster", Up: "↑", Down: "↓",
}

// ASCII are signs for terminals that are not set to UTF-8.
var ASCII = Glyphs{
	OK: "ok", No: "x", None: "-", Waiting: "~",
	Bar: "#", BarWaiting: ".",
	Info: "i", Warning: "!", Critical: "X",
	Cursor: ">", Arrow: "->", Dot: "-", Tab: "|",
	Ellipsis: "~", Left: "left cluster", Up: "^", Down: "v",
}

// UTF8 reports whether the environment says that text is UTF-8, as setlocale(3) reads it: the first that is set of LC_ALL,
// LC_CTYPE and LANG decides. Windows has no such variables, and its terminals show UTF-8.
func UTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}

// Severity returns the sign and the tone of a severity.
func (g Glyphs) Severity(s probe.Severity) (string, Tone) {
	switch s {
	case probe.Critical:
		return g.Critical, Bad
	case probe.Warning:
		return g.Warning, Caution
	}
	return g.Info, Accent
}
