package resolvconf

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// musl's limits (src/network/lookup.h, src/network/resolvconf.c).
const (
	muslMaxNameservers = 3
	// muslLineBytes is the buffer of a line, its newline and a terminating NUL included.
	muslLineBytes = 256
)

// Musl is the dialect of musl.
const Musl Libc = "musl"

// ParseMusl returns what musl makes of the text of a resolv.conf. The text of a missing file is empty. It never fails. The
// environment and the host name play no role; options that musl does not know leave the fields of Config as they are.
//
// Source: musl src/network/resolvconf.c, __get_resolv_conf, the same from 1.1.24 to 1.2.5.
func ParseMusl(text string, in Inputs) Config {
	p := muslParser{version: AssumedMusl}
	p.config = Config{SearchFrom: SearchFromNothing, Ndots: 1, TimeoutSeconds: 5, Attempts: 2}
	if v, ok := ParseMuslVersion(in.Version); ok {
		p.version = v
	}
	p.file(text)
	p.finish(in)
	return p.config
}

type muslParser struct {
	reader
	version MuslVersion
	// searchLine is the line that decided the search list so far, searchText its text.
	searchLine int
	searchText string
	// found counts valid nameserver lines, also those beyond the limit.
	found int
}

// file cuts the text into lines as fgets does. A line that does not fit the buffer is thrown away as a whole, and so is the
// line behind one with a NUL byte: musl looks for the newline with strchr, does not find it, and reads on to the next.
func (p *muslParser) file(text string) {
	for p.line = 1; text != ""; p.line++ {
		end := strings.IndexByte(text, '\n') + 1
		last := end == 0
		if last {
			end = len(text)
		}
		line := text[:end]
		text = text[end:]
		p.text = strings.TrimSuffix(line, "\n")
		switch {
		case len(line) >= muslLineBytes || last && len(line) == muslLineBytes-1:
			p.tooLong(line)
		case !last && strings.ContainsRune(line, 0):
			p.nul(&text)
		default:
			p.parseLine(cString(line))
		}
	}
	p.line, p.text = 0, ""
}

func (p *muslParser) tooLong(line string) {
	keyword, _, _ := cutKeyword(line)
	what := "the line"
	switch {
	case keyword == "search" || keyword == "domain":
		what = "the whole search list of this line"
	case keyword == "options":
		what = "all options of this line"
	case line[0] == '#' || line[0] == ';':
		return
	}
	p.warn(fmt.Sprintf("ignored: musl drops %s, since it has %d characters and musl reads at most %d",
		what, len(strings.TrimSuffix(line, "\n")), muslLineBytes-2))
}

// nul passes over a line with a NUL byte and the one after it.
func (p *muslParser) nul(text *string) {
	p.warn("ignored together with the line after it: a NUL byte hides the end of the line from musl")
	if *text == "" {
		return
	}
	_, *text, _ = strings.Cut(*text, "\n")
	p.line++
}

// cutMuslKeyword reports whether line begins with the keyword and white space, and returns what follows that one byte.
func cutMuslKeyword(line, keyword string) (value string, ok bool) {
	rest, found := strings.CutPrefix(line, keyword)
	if !found || rest == "" || !isSpace(rest[0]) {
		return "", false
	}
	return rest[1:], true
}

func (p *muslParser) parseLine(line string) {
	if _, ok := cutMuslKeyword(line, "options"); ok {
		p.options(line)
		return
	}
	if value, ok := cutMuslKeyword(line, "nameserver"); ok {
		p.nameserver(value)
		return
	}
	if value, ok := cutMuslKeyword(line, "search"); ok {
		p.search(value, SearchFromSearch)
		return
	}
	if value, ok := cutMuslKeyword(line, "domain"); ok {
		p.search(value, SearchFromDomain)
		return
	}
	p.unreadable(line)
}

// unreadable warns about a line that musl passes over.
func (p *muslParser) unreadable(line string) {
	fields := strings.FieldsFunc(line, isSpaceRune)
	if len(fields) == 0 || fields[0][0] == '#' || fields[0][0] == ';' {
		return
	}
	known := false
	for _, k := range []string{"nameserver", "search", "domain", "options"} {
		known = known || strings.EqualFold(k, fields[0])
	}
	switch {
	case known && isSpace(line[0]):
		p.warn("ignored: musl only reads keywords at the very start of a line, this one is indented")
	case known:
		p.warn("ignored: musl wants the keyword in lower case, with white space after it")
	case fields[0] == "sortlist":
		p.warn("ignored: musl has no sortlist")
	default:
		p.warn("ignored: not a keyword that musl knows")
	}
}

func isSpaceRune(r rune) bool { return r < 0x80 && isSpace(byte(r)) }

func (p *muslParser) nameserver(value string) {
	fields := strings.FieldsFunc(value, isSpaceRune)
	word := ""
	if len(fields) > 0 {
		word = fields[0]
	}
	if p.found >= muslMaxNameservers {
		p.warn(fmt.Sprintf("never used: musl takes the first %d nameservers", muslMaxNameservers))
		return
	}
	addr, ok := muslNameserver(word)
	if !ok {
		p.warn("ignored: not an address that musl can read")
		return
	}
	if len(fields) > 1 && fields[1][0] != '#' && fields[1][0] != ';' {
		p.warn("only the first address counts: musl wants one nameserver a line")
	}
	p.found++
	if addr.Zone() != "" && !hasLinkScope(addr) {
		p.warn("musl asks this server but takes no reply from it: the zone is never in the sender's address")
	}
	for _, before := range p.config.Nameservers {
		if before == addr {
			p.warn("musl sends each query once for every nameserver line, so this server gets all of them again")
			break
		}
	}
	p.config.Nameservers = append(p.config.Nameservers, addr)
}

// muslNameserver reads an address as __lookup_ipliteral does: a zone by name needs a link-local address, one by number does
// not.
func muslNameserver(word string) (netip.Addr, bool) {
	if addr, rest, ok := InetAton(word); ok && rest == "" {
		return addr, true
	}
	text, zone, hasZone := strings.Cut(word, "%")
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() {
		return netip.Addr{}, false
	}
	if !hasZone {
		return addr, true
	}
	number, err := strconv.ParseUint(zone, 10, 32)
	switch {
	case err == nil && number == 0:
		return addr, true
	case err == nil || zone != "" && hasLinkScope(addr):
		return addr.WithZone(zone), true
	}
	return netip.Addr{}, false
}

// hasLinkScope reports whether musl looks up names of zones for an address.
func hasLinkScope(a netip.Addr) bool { return a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() }

// search reads the rest of the line as the list, for both keywords. An empty one clears the list.
func (p *muslParser) search(value string, from SearchSource) {
	domains := strings.FieldsFunc(value, isSpaceRune)
	if p.searchLine != 0 {
		p.warn(fmt.Sprintf("replaces line %d: of all `search` and `domain` lines the last one wins", p.searchLine))
	}
	if len(domains) == 0 && len(p.config.Search) > 0 {
		p.warn("clears the search list: to musl an empty list is one, too")
	}
	p.searchLine, p.searchText = p.line, p.text
	p.config.Search, p.config.SearchFrom = domains, from
	if len(domains) == 0 {
		p.config.Search, p.config.SearchFrom = nil, SearchFromNothing
	}
	if from == SearchFromDomain && len(domains) > 1 {
		p.warn(fmt.Sprintf("musl reads `domain` like `search`: all %d words are search domains", len(domains)))
	}
	for i, domain := range domains {
		if domain[0] == '#' || domain[0] == ';' {
			p.warn(fmt.Sprintf("musl knows no comments behind a value: it takes %d words from %q on as search domains and asks for them",
				len(domains)-i, shorten(domain, 40)))
			break
		}
	}
}

// oddDomains warns about domains that musl cannot put behind a name.
func (p *muslParser) oddDomains() {
	p.line, p.text = p.searchLine, p.searchText
	skips := p.version.AtLeast(1, 2, 4)
	for _, domain := range p.config.Search {
		short := shorten(domain, 40)
		switch bare := strings.TrimSuffix(domain, "."); {
		case bare == "" || strings.HasSuffix(bare, "."):
			if skips {
				p.warn(fmt.Sprintf("%s: skipped, musl has no way to ask for a name with it", short))
			} else {
				p.warn(fmt.Sprintf("%s: musl before 1.2.4 sends a malformed query for it; where no server answers that, every search ends there, "+
					"after the whole timeout", short))
			}
		case strings.HasPrefix(bare, ".") || strings.Contains(bare, "..") || overlongLabel(bare):
			if skips {
				p.warn(fmt.Sprintf("%s: skipped, musl cannot put it into a query", short))
			} else {
				p.warn(fmt.Sprintf("%s: musl before 1.2.4 gives a search up here with EAI_NONAME, also for the domains behind it", short))
			}
		}
	}
	p.line, p.text = 0, ""
}

func overlongLabel(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if len(label) > 63 {
			return true
		}
	}
	return false
}

// finish fills in what the file did not say.
func (p *muslParser) finish(in Inputs) {
	p.oddDomains()
	if len(p.config.Nameservers) == 0 {
		p.config.Nameservers = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		p.warn("no valid nameserver: musl asks 127.0.0.1")
	}
	for _, name := range []string{"LOCALDOMAIN", "RES_OPTIONS"} {
		if value, set := in.Env[name]; set {
			p.text = name + "=" + value
			p.warn("without effect: musl does not look at this variable")
		}
	}
	p.text = ""
}
