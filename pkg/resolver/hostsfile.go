package resolver

import "strings"

// HostsLine is a line of /etc/hosts. An empty line or a comment has no Address. Which addresses and names count is for each
// libc to say.
type HostsLine struct {
	Address string
	// Names has the canonical name first. It is empty on a line with nothing but an address.
	Names []string
	// Bytes is the length of the line in the file, its newline included.
	Bytes int
	// Stripped is the length without the blanks at its beginning.
	Stripped int
}

// MaxHostsBytes bounds how much of a hosts file is read; the rest is not looked at.
const MaxHostsBytes = 4 << 20

// ParseHosts reads the text of /etc/hosts as libcs see its lines: fields separated by white space, up to a "#".
func ParseHosts(text string) []HostsLine {
	if len(text) > MaxHostsBytes {
		text = text[:MaxHostsBytes]
	}
	var lines []HostsLine
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line == "" {
			continue
		}
		stripped := strings.TrimLeft(line, asciiSpace)
		body, _, _ := strings.Cut(stripped, "#")
		fields := strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(asciiSpace, r) })
		if len(fields) == 0 {
			fields = []string{""}
		}
		lines = append(lines, HostsLine{Address: fields[0], Names: fields[1:], Bytes: len(line), Stripped: len(stripped)})
	}
	return lines
}

// asciiSpace is what isspace(3) accepts in the C locale.
const asciiSpace = " \t\n\v\f\r"
