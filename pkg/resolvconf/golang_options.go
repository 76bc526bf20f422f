package resolvconf

import (
	"fmt"
	"strings"
)

// goFlag is an option without a value; it has to be the whole word.
type goFlag struct {
	word string
	// major and minor are the release that knows it first.
	major, minor int
	set          func(*Config)
}

var goFlags = []goFlag{
	{"rotate", 1, 0, func(c *Config) { c.Rotate = true }},
	{"single-request", 1, 13, func(c *Config) { c.SingleRequest = true }},
	{"single-request-reopen", 1, 13, func(c *Config) { c.SingleRequestReopen = true }},
	{"use-vc", 1, 13, func(c *Config) { c.UseVC = true }},
	{"usevc", 1, 13, func(c *Config) { c.UseVC = true }},
	{"tcp", 1, 13, func(c *Config) { c.UseVC = true }},
	{"trust-ad", 1, 20, func(c *Config) { c.TrustAD = true }},
	{"edns0", 1, 20, func(c *Config) { c.EDNS0 = true }},
	{"no-reload", 1, 20, func(c *Config) { c.NoReload = true }},
}

func (p *goParser) options(words []string) {
	for i, word := range words {
		if startsComment(word) {
			p.warn(fmt.Sprintf("Go knows no comments behind a value: it reads %d words from %q on as options", len(words)-i, shorten(word, 40)))
			break
		}
	}
	for _, word := range words {
		p.config.Options = append(p.config.Options, word)
		p.option(word)
	}
}

func (p *goParser) option(word string) {
	name, value, hasValue := strings.Cut(word, ":")
	switch {
	case hasValue && name == "ndots":
		if p.config.Ndots = p.number(word, value); p.config.Ndots > 15 {
			p.config.Ndots = 15
			p.warn(shorten(word, 40) + ": Go uses 15, the most it allows")
		}
	case hasValue && name == "timeout":
		p.config.TimeoutSeconds = p.atLeastOne(word, value)
	case hasValue && name == "attempts":
		p.config.Attempts = p.atLeastOne(word, value)
	default:
		p.flag(word)
	}
}

func (p *goParser) atLeastOne(word, value string) int {
	n := p.number(word, value)
	if n < 1 {
		n = 1
		p.warn(shorten(word, 40) + ": Go uses 1, the least it allows")
	}
	return n
}

// number follows dtoi of net/parse.go: the digits at the start, 0 without any, at most goBig.
func (p *goParser) number(word, value string) int {
	n, digits := 0, 0
	for ; digits < len(value) && isDigit(value[digits]); digits++ {
		if n = n*10 + int(value[digits]-'0'); n >= goBig {
			return goBig
		}
	}
	if digits < len(value) || value == "" {
		p.warn(fmt.Sprintf("%s: not a number where Go expects one, it reads %d", shorten(word, 40), n))
	}
	return n
}

func (p *goParser) flag(word string) {
	for _, f := range goFlags {
		if word != f.word {
			continue
		}
		if p.version.AtLeast(f.major, f.minor) {
			f.set(&p.config)
			return
		}
		p.remember("the option " + quoted(word))
		p.warn(fmt.Sprintf("%s: without effect, Go knows it from %d.%d on; %s", shorten(word, 40), f.major, f.minor, leftToLibc))
		return
	}
	p.remember("the option " + quoted(word))
	p.warn(fmt.Sprintf("%s: ignored, not an option that Go knows; %s", shorten(word, 40), leftToLibc))
}
