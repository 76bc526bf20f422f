package resolvconf

import "strings"

// WithOptions returns the text that the kubelet would write when these option words were merged into it: a word replaces
// every option of the same name (the part before a colon), "-name" takes one away, other words are added. Everything else
// stays as it is, byte for byte.
//
// Source: k8s.io/kubernetes pkg/kubelet/network/dns, mergeDNSOptions. The kubelet writes options in random order; here a
// replaced option keeps its place and new ones come last.
func WithOptions(text string, words []string) string {
	for _, word := range words {
		if name, remove := strings.CutPrefix(word, "-"); remove {
			text, _ = replaceOption(text, name, "")
			continue
		}
		var replaced bool
		if text, replaced = replaceOption(text, word, word); !replaced && word != "" {
			text = addOption(text, word)
		}
	}
	return text
}

func optionName(word string) string {
	name, _, _ := strings.Cut(word, ":")
	return name
}

// isOptionsLine reports whether a libc reads line as options.
func isOptionsLine(line string) bool {
	keyword, _, blank := cutKeyword(line)
	return keyword == "options" && blank
}

// replaceOption puts with, or nothing when it is empty, in the place of the first option that has word's name, and takes
// the others away.
func replaceOption(text, word, with string) (result string, replaced bool) {
	name := optionName(word)
	lines := strings.SplitAfter(text, "\n")
	var b strings.Builder
	for _, line := range lines {
		if !isOptionsLine(line) {
			b.WriteString(line)
			continue
		}
		out, hit := replaceInLine(line, name, with, replaced)
		replaced = replaced || hit && with != ""
		if hit && len(strings.Fields(out)) <= 1 {
			// No option is left: the kubelet writes no such line.
			continue
		}
		b.WriteString(out)
	}
	return b.String(), replaced
}

// replaceInLine does it for one line; done tells that the first place was on an earlier line.
func replaceInLine(line, name, with string, done bool) (out string, hit bool) {
	var b strings.Builder
	for i := 0; i < len(line); {
		blanks := i
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isSpace(line[i]) {
			i++
		}
		word := line[start:i]
		if word == "" || start == 0 || optionName(word) != name {
			b.WriteString(line[blanks:i])
			continue
		}
		if !hit && !done && with != "" {
			b.WriteString(line[blanks:start] + with)
		}
		hit = true
	}
	return b.String(), hit
}

// addOption adds a word at the end of the last options line, or in a new line.
func addOption(text, word string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if !isOptionsLine(lines[i]) {
			continue
		}
		body := strings.TrimRight(lines[i], " \t\r\n")
		lines[i] = body + " " + word + lines[i][len(body):]
		return strings.Join(lines, "")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "options " + word + "\n"
}
