package resolvconf

import (
	"strconv"
	"strings"
)

// reader is what the parsers of all dialects share: the configuration so far, and the place that a warning is about.
type reader struct {
	config Config
	// line and text are where the parser is; 0 outside of the file.
	line int
	text string
}

// maxText bounds the text of a warning, in bytes.
const maxText = 160

// maxWarnings bounds the warnings of one file.
const maxWarnings = 64

// warn says what the libc makes of the current line.
func (p *reader) warn(effect string) {
	if len(p.config.Warnings) >= maxWarnings {
		return
	}
	p.config.Warnings = append(p.config.Warnings, Warning{Line: p.line, Text: clean(p.text), Effect: effect})
}

// clean makes a line fit to show: cut to maxText, without control characters.
func clean(s string) string {
	cut := shorten(s, maxText)
	var b strings.Builder
	for i := range len(cut) {
		if c := cut[i]; c == '\t' || c >= 0x20 && c != 0x7f && c < 0x80 {
			b.WriteByte(c)
		} else {
			b.WriteString(`\x` + strconv.FormatUint(uint64(c)>>4, 16) + strconv.FormatUint(uint64(c)&15, 16))
		}
	}
	if len(cut) < len(s) {
		b.WriteString("…")
	}
	return b.String()
}

func shorten(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
