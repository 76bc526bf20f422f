package resolvconf

import "strings"

// WithSearch returns the text with a search line of these domains in the place of every search and domain line. An empty list
// leaves no such line. Everything else stays as it is, byte for byte.
func WithSearch(text string, domains []string) string {
	line := ""
	if len(domains) > 0 {
		line = "search " + strings.Join(domains, " ")
	}
	return withLines(text, []string{"search", "domain"}, []string{line})
}

// WithNameservers returns the text with a line for each of these addresses, in order, in the place of every nameserver line.
// Everything else stays as it is, byte for byte.
func WithNameservers(text string, addresses []string) string {
	lines := make([]string, len(addresses))
	for i, a := range addresses {
		lines[i] = "nameserver " + a
	}
	return withLines(text, []string{"nameserver"}, lines)
}

// withLines puts lines where the first line with one of the keywords is, and takes all of these away; without one it puts them at the
// end. An indented line counts too: Go reads it (net, dnsReadConfig).
func withLines(text string, keywords, lines []string) string {
	var b strings.Builder
	put := func(end string) {
		for _, l := range lines {
			if l != "" {
				b.WriteString(l + end)
			}
		}
		lines = nil
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		if !hasKeyword(line, keywords) {
			b.WriteString(line)
			continue
		}
		end := "\n"
		if strings.HasSuffix(line, "\r\n") {
			end = "\r\n"
		}
		put(end)
	}
	if out := b.String(); len(lines) > 0 && out != "" && !strings.HasSuffix(out, "\n") {
		b.WriteString("\n")
	}
	put("\n")
	return b.String()
}

func hasKeyword(line string, keywords []string) bool {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	for _, k := range keywords {
		if words[0] == k {
			return true
		}
	}
	return false
}
