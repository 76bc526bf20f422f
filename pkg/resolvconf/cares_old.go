package resolvconf

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// parseOld reads a file as 1.18 does: comments end a line wherever they begin, the environment comes first, and the first word
// of each option wins.
func (p *caresParser) parseOld(text string, in Inputs) Config {
	p.config.TimeoutMillis, p.config.Attempts = 5000, 4
	if value, set := in.Env["LOCALDOMAIN"]; set {
		if domains := p.oldDomains(splitSearch(cString(value))); len(domains) > 0 {
			p.setSearch(domains, SearchFromEnv)
		}
	}
	fromEnv := p.searchSet
	if value, set := in.Env["RES_OPTIONS"]; set {
		p.text = "RES_OPTIONS=" + value
		p.oldOptions(cString(value))
	}
	broken := false
	for n, line := range splitLines(text) {
		p.line, p.text = n+1, line
		if !p.oldLine(cString(line), fromEnv) {
			broken = true
			break
		}
	}
	if broken {
		// The error makes c-ares forget the servers, and only them.
		p.config.Nameservers, p.config.Ports = nil, nil
	}
	p.line, p.text = 0, ""
	p.finish(in)
	return p.config
}

// oldLine returns false when the line makes c-ares give up on the file.
func (p *caresParser) oldLine(line string, searchFromEnv bool) bool {
	if i := strings.IndexAny(line, "#;"); i >= 0 {
		line = line[:i]
	}
	line = strings.TrimFunc(line, isSpaceRune)
	if line == "" {
		return true
	}
	end := strings.IndexFunc(line, isSpaceRune)
	if end < 0 {
		p.unreadable(line)
		return true
	}
	keyword, value := line[:end], strings.TrimLeftFunc(line[end:], isSpaceRune)
	switch keyword {
	case "domain", "search":
		if searchFromEnv {
			p.warn("without effect: the environment variable LOCALDOMAIN replaces the search list")
			return true
		}
		p.oldSearch(keyword, value)
	case "nameserver":
		p.oldNameservers(value)
	case "options":
		p.oldOptions(value)
	case "lookup":
		if p.config.Lookup != "" {
			return true
		}
		if p.config.Lookup = OldCAresLookup(value, "b", "f"); p.config.Lookup == "" {
			p.warn("neither `bind` nor `file` is in it: c-ares gives up on the whole file here and asks 127.0.0.1")
			return false
		}
	case "sortlist":
		p.warn("it orders the results of ares_gethostbyname; ares_getaddrinfo does not look at it")
	default:
		p.unreadable(keyword)
	}
	return true
}

func (p *caresParser) oldSearch(keyword, value string) {
	from := SearchFromSearch
	if keyword == "domain" {
		from = SearchFromDomain
		if end := strings.IndexFunc(value, isSpaceRune); end >= 0 {
			p.warn("only the first domain counts: `domain` takes one, `search` takes a list")
			value = value[:end]
		}
	}
	if p.searchLine != 0 {
		p.warn(fmt.Sprintf("replaces line %d: of all `search` and `domain` lines the last one wins", p.searchLine))
	}
	p.setSearch(p.oldDomains(splitSearch(value)), from)
}

// oldDomains drops every domain that an earlier one begins with: ares_strsplit compares no further than the later one goes.
func (p *caresParser) oldDomains(domains []string) []string {
	var kept []string
next:
	for _, d := range domains {
		for _, k := range kept {
			if len(k) >= len(d) && strings.EqualFold(k[:len(d)], d) {
				p.warn(fmt.Sprintf("%s: dropped, %s begins with it and c-ares takes it for the same", shorten(d, 40), shorten(k, 40)))
				continue next
			}
		}
		kept = append(kept, d)
	}
	return kept
}

func (p *caresParser) oldNameservers(value string) {
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || isSpaceRune(r) }) {
		addr, ok := CAresAddress(word)
		switch {
		case !ok:
			p.warn(shorten(word, 60) + ": ignored, not an address that c-ares can read")
		case siteLocal.Contains(addr):
			p.warn(shorten(word, 60) + ": ignored, c-ares takes no site-local server (fec0::/10)")
		default:
			p.addServer(netip.AddrPortFrom(addr, 53))
		}
	}
}

// oldOptions reads words by their beginning. A number may stand behind white space ("ndots: 3"), since strtol reads it from
// where the colon is.
func (p *caresParser) oldOptions(value string) {
	for {
		value = strings.TrimLeftFunc(value, isSpaceRune)
		if value == "" {
			return
		}
		end := strings.IndexFunc(value, isSpaceRune)
		if end < 0 {
			end = len(value)
		}
		p.config.Options = append(p.config.Options, value[:end])
		p.oldOption(value[:end], value)
		value = value[end:]
	}
}

// oddNumber is more than anybody means.
const oddNumber = 1 << 24

// oldOption applies one word; rest begins with it and goes on to the end. The timeout is in milliseconds. Of a number 31 bits
// are kept (aresx_sltosi), so that a negative one is huge.
func (p *caresParser) oldOption(word, rest string) {
	name, _, _ := strings.Cut(word, ":")
	set := func(prefix string, done *bool, field *int) bool {
		if !strings.HasPrefix(word, prefix) {
			return false
		}
		if n := atoi(rest[len(prefix):]) & math.MaxInt32; !*done {
			if *field, *done = n, true; n > oddNumber {
				p.warn(fmt.Sprintf("%s: c-ares takes it as %d", shorten(word, 40), n))
			}
		}
		return true
	}
	switch {
	case set("ndots:", &p.ndotsSet, &p.config.Ndots), set("retry:", &p.triesSet, &p.config.Attempts):
	case set("retrans:", &p.timeoutSet, &p.config.TimeoutMillis):
		p.warn(shorten(word, 40) + ": c-ares before 1.20 counts milliseconds here")
	case strings.HasPrefix(word, "rotate"):
		p.config.Rotate = true
	case name == "timeout" || name == "attempts":
		p.warn(shorten(word, 40) + ": ignored, c-ares before 1.20 only knows retrans (in milliseconds) and retry")
	default:
		p.warn(shorten(word, 40) + ": ignored, not an option that c-ares knows")
	}
}

// OldCAresLookup returns the order that 1.18 reads from words by their first letters: dns are the letters of DNS, file the one
// of the hosts file. At most two words count, and both may be the same; empty when none counts.
//
// Source: c-ares 1.18 src/lib/ares_init.c, config_lookup.
func OldCAresLookup(value, dns, file string) string {
	order := ""
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || isSpaceRune(r) }) {
		if len(order) == 2 {
			break
		}
		switch {
		case strings.Contains(dns, word[:1]):
			order += "b"
		case word[:1] == file:
			order += "f"
		}
	}
	return order
}
