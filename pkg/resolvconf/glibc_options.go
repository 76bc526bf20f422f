package resolvconf

import (
	"fmt"
	"math"
	"strings"
)

// glibcFlag is an option without a value. Matching is by prefix, in this order: "single-request" also matches
// "single-requests", and "single-request-reopen" must be asked for first.
type glibcFlag struct {
	word         string
	major, minor int
	field        func(*Config) *bool
}

var glibcFlags = []glibcFlag{
	{"rotate", 0, 0, func(c *Config) *bool { return &c.Rotate }},
	{"edns0", 0, 0, func(c *Config) *bool { return &c.EDNS0 }},
	{"single-request-reopen", 0, 0, func(c *Config) *bool { return &c.SingleRequestReopen }},
	{"single-request", 0, 0, func(c *Config) *bool { return &c.SingleRequest }},
	{"no_tld_query", 0, 0, func(c *Config) *bool { return &c.NoTLDQuery }},
	{"no-tld-query", 0, 0, func(c *Config) *bool { return &c.NoTLDQuery }},
	{"no-reload", 2, 26, func(c *Config) *bool { return &c.NoReload }},
	{"use-vc", 0, 0, func(c *Config) *bool { return &c.UseVC }},
	{"trust-ad", 2, 31, func(c *Config) *bool { return &c.TrustAD }},
	{"no-aaaa", 2, 36, func(c *Config) *bool { return &c.NoAAAA }},
	{"strict-error", 2, 41, func(c *Config) *bool { return &c.StrictError }},
}

// options reads option words separated by spaces and tabs. A number may stand behind more white space ("timeout: 5"), since
// glibc reads it with atoi from where the colon is.
//
// Source: glibc resolv/res_init.c, res_setoptions.
func (p *glibcParser) options(s string) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return
		}
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			end = len(s)
		}
		if word := strings.TrimRight(s[:end], "\r\n"); word != "" {
			p.config.Options = append(p.config.Options, word)
			p.option(word, s)
		}
		s = s[end:]
	}
}

// option applies one word; rest begins with it and goes on to the end of the line.
func (p *glibcParser) option(word, rest string) {
	switch {
	case strings.HasPrefix(word, "ndots:"):
		n := p.number(word, rest, "ndots:", 15)
		if n < 0 {
			// _res.ndots has four bits.
			n &= 15
			p.warn(fmt.Sprintf("%s: a negative number ends up in four bits: ndots is %d", shorten(word, 40), n))
		}
		p.config.Ndots = n
	case strings.HasPrefix(word, "timeout:"):
		p.config.TimeoutSeconds = p.number(word, rest, "timeout:", 30)
		if p.config.TimeoutSeconds <= 0 {
			p.warn(shorten(word, 40) + ": glibc waits 1 second when the timeout is 0 or less")
		}
	case strings.HasPrefix(word, "attempts:"):
		p.config.Attempts = p.number(word, rest, "attempts:", 5)
		if p.config.Attempts <= 0 {
			p.warn(shorten(word, 40) + ": glibc sends nothing at all, every name fails with EAI_AGAIN")
		}
	default:
		p.flag(word)
	}
}

func (p *glibcParser) number(word, rest, prefix string, most int) int {
	n := atoi(rest[len(prefix):])
	if !startsNumber(word[len(prefix):]) {
		p.warn(fmt.Sprintf("%s: not a number where glibc expects one, it reads %d", shorten(word, 40), n))
	}
	if n > most {
		p.warn(fmt.Sprintf("%s: glibc uses %d, the most it allows", shorten(word, 40), most))
		return most
	}
	return n
}

func startsNumber(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	return s != "" && isDigit(s[0])
}

func (p *glibcParser) flag(word string) {
	name, set := word, true
	if p.version.AtLeast(2, 41) {
		// A leading "-" clears a flag from 2.41 on.
		name = strings.TrimPrefix(word, "-")
		set = name == word
	}
	for _, f := range glibcFlags {
		if !strings.HasPrefix(name, f.word) {
			continue
		}
		if !p.version.AtLeast(f.major, f.minor) {
			p.warn(fmt.Sprintf("%s: without effect, glibc knows it from %d.%d on", shorten(word, 40), f.major, f.minor))
			return
		}
		*f.field(&p.config) = set
		if name != f.word {
			p.warn(fmt.Sprintf("%s: glibc reads it as %s, since only the beginning of a word counts", shorten(word, 40), f.word))
		}
		return
	}
	p.warn(shorten(word, 40) + ": ignored, not an option that glibc " + fmt.Sprintf("%d.%d", p.version.Major, p.version.Minor) + " knows")
}

// noteOptions warns about a comment behind options; glibc reads its words as options.
func (p *glibcParser) noteOptions(value string) {
	if i := strings.IndexAny(value, "#;"); i > 0 && (value[i-1] == ' ' || value[i-1] == '\t') {
		p.warn("glibc knows no comments behind a value: it reads the words of this one as options")
	}
}

// atoi is atoi(3) where int has 32 bits and long has 64: leading white space, a sign, digits; what does not fit a long is
// the nearest long, then the low 32 bits count.
func atoi(s string) int {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	var n uint64
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	for ; s != "" && isDigit(s[0]); s = s[1:] {
		d := uint64(s[0] - '0')
		if n > (limit-d)/10 {
			n = limit
			break
		}
		n = n*10 + d
	}
	if negative {
		n = -n
	}
	return int(int32(uint32(n)))
}
