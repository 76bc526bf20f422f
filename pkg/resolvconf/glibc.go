package resolvconf

import (
	"fmt"
	"net/netip"
	"strings"
)

// glibc's limits (resolv/bits/types/res_state.h, resolv/resolv.h).
const (
	glibcMaxNameservers = 3
	// glibcOldMaxSearch and glibcOldMaxSearchBytes held until 2.25.
	glibcOldMaxSearch      = 6
	glibcOldMaxSearchBytes = 256
	// glibcHostnameBytes is how much of the host name is looked at for a domain.
	glibcHostnameBytes = 255
)

// ParseGlibc returns what glibc makes of the text of a resolv.conf and of the environment. The text of a missing file is
// empty. It never fails.
//
// Source: glibc resolv/res_init.c, res_vinit_1 and res_setoptions; resolv/resolv_conf.c, update_from_conf.
func ParseGlibc(text string, in Inputs) Config {
	p := glibcParser{version: AssumedGlibc}
	p.config = Config{SearchFrom: SearchFromNothing, Ndots: 1, TimeoutSeconds: 5, Attempts: 2}
	if v, ok := ParseVersion(in.Version); ok {
		p.version = v
	}
	if value, set := in.Env["LOCALDOMAIN"]; set {
		p.localDomain(value)
	}
	for n, line := range splitLines(text) {
		p.line, p.text = n+1, line
		p.parseLine(cString(line))
	}
	p.line, p.text = 0, ""
	p.finish(in)
	return p.config
}

type glibcParser struct {
	reader
	version Version
	// searchSet is set by LOCALDOMAIN, which the file cannot override.
	searchSet bool
	// searchLine is the line that decided the search list so far.
	searchLine int
	// found counts valid nameserver lines, also those beyond the limit.
	found int
}

// splitLines returns the lines without their newline. A last line without one counts, as getline has it.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// cString cuts a text at its first NUL byte, where C stops reading.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func (p *glibcParser) parseLine(line string) {
	if line == "" {
		return
	}
	if line[0] == '#' || line[0] == ';' {
		return
	}
	if strings.ContainsRune(line, '\r') && !strings.HasPrefix(strings.TrimLeft(line, " \t\r"), "#") {
		p.carriageReturn(line)
	}
	keyword, value, blank := cutKeyword(line)
	if !blank {
		p.unreadable(line)
		return
	}
	switch keyword {
	case "nameserver":
		p.nameserver(value)
	case "search":
		p.search(value)
	case "domain":
		p.domain(value)
	case "options":
		p.noteOptions(value)
		p.options(line[len(keyword):])
	case "sortlist":
		p.warn("it orders the results of gethostbyname; getaddrinfo sorts again afterwards")
	default:
		p.unreadable(line)
	}
}

// cutKeyword cuts a line at its first blank; value is without leading blanks.
func cutKeyword(line string) (keyword, value string, blank bool) {
	i := strings.IndexAny(line, " \t")
	if i < 0 {
		return line, "", false
	}
	return line[:i], strings.TrimLeft(line[i:], " \t"), true
}

var glibcKeywords = []string{"nameserver", "search", "domain", "options", "sortlist"}

// unreadable warns about a line that glibc passes over.
func (p *glibcParser) unreadable(line string) {
	trimmed := strings.TrimLeft(line, " \t\r\v\f")
	if trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
		return
	}
	keyword, _, _ := cutKeyword(strings.TrimRight(trimmed, "\r"))
	known := false
	for _, k := range glibcKeywords {
		known = known || strings.EqualFold(k, keyword)
	}
	switch {
	case known && len(trimmed) < len(line):
		p.warn("ignored: glibc only reads keywords at the very start of a line, this one is indented")
	case known:
		p.warn("ignored: glibc wants the keyword in lower case, with a space or tab and a value after it")
	default:
		p.warn("ignored: not a keyword that glibc knows")
	}
}

func (p *glibcParser) carriageReturn(line string) {
	switch keyword, _, _ := cutKeyword(line); keyword {
	case "nameserver":
		p.warn("the line ends with a carriage return (CRLF): glibc takes it as part of the address, which is then invalid")
	case "search", "domain":
		p.warn("the line ends with a carriage return (CRLF): glibc takes it as part of the last domain")
	}
}

// nameserver reads the first word as an inet_aton or IPv6 address.
func (p *glibcParser) nameserver(value string) {
	word, rest, _ := cutKeyword(value)
	addr, ok := glibcNameserver(word)
	if !ok {
		p.warn("ignored: not an address that glibc can read")
		return
	}
	p.found++
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' && rest[0] != ';' {
		p.warn("only the first address counts: glibc wants one nameserver a line")
	}
	if p.found > glibcMaxNameservers {
		p.warn(fmt.Sprintf("never used: glibc takes the first %d nameservers, this is number %d", glibcMaxNameservers, p.found))
		return
	}
	p.config.Nameservers = append(p.config.Nameservers, addr)
}

// glibcNameserver reads an address with the forms of inet_aton, or an IPv6 address with an optional zone. A zone of an
// address that is not link-local has no effect and is dropped.
func glibcNameserver(word string) (netip.Addr, bool) {
	if addr, rest, ok := InetAton(word); ok && rest == "" {
		return addr, true
	}
	text, zone, _ := strings.Cut(word, "%")
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() {
		return netip.Addr{}, false
	}
	if addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || addr.IsInterfaceLocalMulticast() {
		addr = addr.WithZone(zone)
	}
	return addr, true
}

func (p *glibcParser) search(value string) {
	if p.overriddenBySearchEnv() || value == "" {
		return
	}
	p.replaceSearch(strings.FieldsFunc(value, isBlank), SearchFromSearch)
	for i, domain := range p.config.Search {
		if domain[0] == '#' || domain[0] == ';' {
			p.warn(fmt.Sprintf("glibc knows no comments behind a value: it takes %d words from %q on as search domains and asks for them",
				len(p.config.Search)-i, shorten(domain, 40)))
			break
		}
	}
	p.oldLimits()
}

func (p *glibcParser) domain(value string) {
	if p.overriddenBySearchEnv() || value == "" {
		return
	}
	word, rest, _ := cutKeyword(value)
	p.replaceSearch([]string{word}, SearchFromDomain)
	if strings.TrimSpace(rest) != "" {
		p.warn("only the first domain counts: `domain` takes one, `search` takes a list")
	}
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func (p *glibcParser) overriddenBySearchEnv() bool {
	if p.searchSet {
		p.warn("without effect: the environment variable LOCALDOMAIN replaces the search list")
	}
	return p.searchSet
}

func (p *glibcParser) replaceSearch(domains []string, from SearchSource) {
	if p.searchLine != 0 {
		p.warn(fmt.Sprintf("replaces line %d: of all `search` and `domain` lines the last one wins", p.searchLine))
	}
	p.searchLine, p.config.Search, p.config.SearchFrom = p.line, domains, from
}

// oldLimits cuts the search list as versions before 2.26 did (MAXDNSRCH; _res.defdname has 256 bytes).
func (p *glibcParser) oldLimits() {
	if p.version.AtLeast(2, 26) {
		return
	}
	kept, bytes := 0, 0
	for _, domain := range p.config.Search {
		bytes += len(domain) + 1
		if kept == glibcOldMaxSearch || bytes > glibcOldMaxSearchBytes {
			p.warn(fmt.Sprintf("only the first %d search domains count: glibc before 2.26 takes %d, and %d characters",
				kept, glibcOldMaxSearch, glibcOldMaxSearchBytes))
			break
		}
		kept++
	}
	p.config.Search = p.config.Search[:kept]
}

// localDomain reads LOCALDOMAIN: domains separated by blanks, up to a newline. The first one counts even when it is empty.
func (p *glibcParser) localDomain(value string) {
	value, _, _ = strings.Cut(cString(value), "\n")
	i := strings.IndexAny(value, " \t")
	if i < 0 {
		i = len(value)
	}
	p.config.Search = append([]string{value[:i]}, strings.FieldsFunc(value[i:], isBlank)...)
	p.config.SearchFrom, p.searchSet = SearchFromEnv, true
	p.oldLimits()
}

// finish fills in what the file did not say.
func (p *glibcParser) finish(in Inputs) {
	if len(p.config.Nameservers) == 0 {
		p.config.Nameservers = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		p.warn("no valid nameserver: glibc asks 127.0.0.1")
	}
	if len(p.config.Search) == 0 {
		name := shorten(cString(in.Hostname), glibcHostnameBytes)
		if _, domain, found := strings.Cut(name, "."); found {
			p.config.Search, p.config.SearchFrom = []string{domain}, SearchFromHostname
		}
	}
	if p.version.AtLeast(2, 26) && GlibcAborts(p.config.Search) {
		p.line = p.searchLine
		p.warn("a search domain this long makes glibc abort the process on its first lookup (assertion in update_from_conf)")
		p.line = 0
	}
	if value, set := in.Env["RES_OPTIONS"]; set {
		p.text = "RES_OPTIONS=" + value
		p.options(cString(value))
	}
}

// GlibcAborts reports whether glibc since 2.26 ends the whole process on its first lookup: an assertion fails when it cannot
// copy the first domains of the search list into the 256 bytes of _res.defdname, unless those copied take more than 56.
//
// Source: resolv/resolv_conf.c, update_from_conf and resolv_conf_matches; tried on 2.36.
func GlibcAborts(search []string) bool {
	const room, enough = 256, 56
	used := 0
	for i, domain := range search {
		if i == glibcOldMaxSearch || used > enough && used+len(domain)+1 > room {
			return false
		}
		if used+len(domain)+1 > room {
			return true
		}
		used += len(domain) + 1
	}
	return false
}
