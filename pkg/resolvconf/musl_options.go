package resolvconf

import (
	"fmt"
	"strings"
)

// muslNumber is an option of musl. musl looks for the word anywhere in the line with strstr, so only its first occurrence
// counts, and the end of a longer word is as good as the word.
type muslNumber struct {
	word  string
	most  int
	field func(*Config) *int
}

var muslNumbers = []muslNumber{
	{"ndots:", 15, func(c *Config) *int { return &c.Ndots }},
	{"attempts:", 10, func(c *Config) *int { return &c.Attempts }},
	{"timeout:", 60, func(c *Config) *int { return &c.TimeoutSeconds }},
}

// options reads a whole line that begins with "options".
func (p *muslParser) options(line string) {
	words := strings.FieldsFunc(line, isSpaceRune)[1:]
	p.config.Options = append(p.config.Options, words...)
	for _, o := range muslNumbers {
		_, value, found := strings.Cut(line, o.word)
		if !found || value == "" || !isDigit(value[0]) {
			continue
		}
		n := leadingNumber(value)
		if n > o.most {
			p.warn(fmt.Sprintf("%s%s: musl uses %d, the most it allows", o.word, shorten(digits(value), 40), o.most))
			n = o.most
		}
		*o.field(&p.config) = n
		p.harmful(o.word, n)
	}
	p.oddWords(words)
}

// harmful warns about values that keep musl from asking anything.
func (p *muslParser) harmful(word string, n int) {
	switch {
	case n != 0:
	case word == "attempts:":
		p.warn("attempts:0: musl divides by it, which kills the application on its first lookup that needs DNS (SIGFPE)")
	case word == "timeout:":
		p.warn("timeout:0: musl sends nothing at all, every name fails with EAI_AGAIN")
	}
}

// oddWords warns about words that do not do what they say.
func (p *muslParser) oddWords(words []string) {
	seen := map[string]bool{}
	for i, word := range words {
		short := shorten(word, 40)
		if word[0] == '#' || word[0] == ';' {
			p.warn(fmt.Sprintf("musl knows no comments behind a value: it looks for options in the %d words from %q on, too", len(words)-i, short))
			return
		}
		o, at := muslOptionIn(word)
		switch {
		case at < 0:
			p.warn(short + ": ignored, musl only knows ndots, timeout and attempts")
		case seen[o.word]:
			p.warn(fmt.Sprintf("%s: without effect, the first %q of a line counts for musl", short, strings.TrimSuffix(o.word, ":")))
		case len(word) == at+len(o.word) || !isDigit(word[at+len(o.word)]):
			p.warn(short + ": ignored, musl wants digits behind the colon")
		case at > 0:
			p.warn(fmt.Sprintf("%s: musl reads it as %s, since it looks for that anywhere in the line", short, shorten(word[at:], 40)))
		}
		if at >= 0 {
			seen[o.word] = true
		}
	}
}

// muslOptionIn returns the option that musl finds in a word, and where; -1 when there is none.
func muslOptionIn(word string) (o muslNumber, at int) {
	for _, o := range muslNumbers {
		if at := strings.Index(word, o.word); at >= 0 {
			return o, at
		}
	}
	return muslNumber{}, -1
}

func digits(s string) string {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return s[:end]
}

// leadingNumber is the number at the start of s; what is too big for an int is big enough for any limit.
func leadingNumber(s string) int {
	const most = 1 << 30
	n := 0
	for _, d := range []byte(digits(s)) {
		n = min(n*10+int(d-'0'), most)
	}
	return n
}
