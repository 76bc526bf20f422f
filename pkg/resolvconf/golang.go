package resolvconf

import (
	"fmt"
	"net/netip"
	"strings"
)

// Go is the dialect of the resolver in Go's package net.
const Go Libc = "go"

// AssumedGo is the Go release that is followed when the version is unknown: the one observed.
var AssumedGo = Version{1, 26}

// goMaxNameservers is how many name servers Go takes.
const goMaxNameservers = 3

// goBig is where Go stops to read a number (net/parse.go, dtoi).
const goBig = 0xffffff

// ParseGo returns what Go's own resolver makes of the text of a resolv.conf. The text of a missing file is empty. It never
// fails. The environment plays no role.
//
// Source: Go src/net/dnsconfig_unix.go, dnsReadConfig.
func ParseGo(text string, in Inputs) Config {
	p := newGoParser(in)
	p.file(text)
	p.finish(in)
	return p.config
}

// UnknownToGo returns the first keyword or option in the text of a resolv.conf that Go of a version does not know, such as
// "the option \"no-aaaa\""; empty when it knows all. A Go program that can use libc's resolver then uses that one.
//
// Source: Go src/net/dnsconfig_unix.go, unknownOpt; src/net/conf.go, lookupOrder.
func UnknownToGo(text, version string) string {
	p := newGoParser(Inputs{Version: version})
	p.file(text)
	return p.unknown
}

type goParser struct {
	reader
	version Version
	// searchLine is the line that decided the search list so far.
	searchLine int
	// unknown is the first word that Go does not know.
	unknown string
}

func newGoParser(in Inputs) *goParser {
	p := &goParser{version: AssumedGo}
	p.config = Config{SearchFrom: SearchFromNothing, Ndots: 1, TimeoutSeconds: 5, Attempts: 2}
	if v, ok := ParseVersion(in.Version); ok {
		p.version = v
	}
	return p
}

// goFields splits as getFields of net/parse.go.
func goFields(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\r' || r == '\t' || r == '\n' })
}

func (p *goParser) file(text string) {
	for n, line := range splitLines(text) {
		p.line, p.text = n+1, line
		p.parseLine(line)
	}
	p.line, p.text = 0, ""
}

func (p *goParser) parseLine(line string) {
	if line != "" && (line[0] == ';' || line[0] == '#') {
		return
	}
	fields := goFields(line)
	if len(fields) == 0 {
		return
	}
	switch values := fields[1:]; fields[0] {
	case "nameserver":
		p.nameserver(values)
	case "domain":
		p.domain(values)
	case "search":
		p.search(values)
	case "options":
		p.options(values)
	case "lookup":
		p.warn("without effect: Go reads it on OpenBSD only")
	default:
		p.unknownKeyword(fields[0])
	}
}

// leftToLibc is what an unknown word costs.
const leftToLibc = "a program built with cgo leaves all resolving to libc because of it"

func (p *goParser) unknownKeyword(word string) {
	p.remember("the keyword " + quoted(word))
	if word[0] == '#' || word[0] == ';' {
		p.warn("not a comment to Go, since it is indented: its own resolver passes over the line, " + leftToLibc)
		return
	}
	p.warn("ignored: not a keyword that Go knows; " + leftToLibc)
}

func (p *goParser) remember(what string) {
	if p.unknown == "" {
		p.unknown = what
	}
}

func quoted(word string) string { return `"` + clean(shorten(word, 60)) + `"` }

func (p *goParser) nameserver(values []string) {
	if len(values) == 0 {
		p.warn("ignored: no address behind the keyword")
		return
	}
	if len(p.config.Nameservers) >= goMaxNameservers {
		p.warn(fmt.Sprintf("never used: Go takes the first %d nameservers", goMaxNameservers))
		return
	}
	addr, err := netip.ParseAddr(values[0])
	if err != nil {
		p.warn("ignored: not an address that Go can read")
		return
	}
	if len(values) > 1 && !startsComment(values[1]) {
		p.warn("only the first address counts: Go wants one nameserver a line")
	}
	// Go connects to the IPv4 address in a mapped one.
	p.config.Nameservers = append(p.config.Nameservers, addr.Unmap())
}

func startsComment(word string) bool { return word[0] == '#' || word[0] == ';' }

func (p *goParser) domain(values []string) {
	if len(values) == 0 {
		p.warn("ignored: no domain behind the keyword")
		return
	}
	if len(values) > 1 {
		p.warn("only the first domain counts: `domain` takes one, `search` takes a list")
	}
	// Unlike `search`, `domain` keeps a root domain, which makes a name that cannot be sent.
	p.replaceSearch(values[:1], SearchFromDomain)
}

func (p *goParser) search(values []string) {
	var domains []string
	for _, domain := range values {
		if domain == "." && p.version.AtLeast(1, 20) {
			p.warn("`.` on the search list: Go leaves it out")
			continue
		}
		domains = append(domains, domain)
	}
	p.replaceSearch(domains, SearchFromSearch)
	for i, domain := range domains {
		if startsComment(domain) {
			p.warn(fmt.Sprintf("Go knows no comments behind a value: it takes %d words from %q on as search domains and asks for them",
				len(domains)-i, shorten(domain, 40)))
			break
		}
	}
}

func (p *goParser) replaceSearch(domains []string, from SearchSource) {
	if p.searchLine != 0 {
		p.warn(fmt.Sprintf("replaces line %d: of all `search` and `domain` lines the last one wins", p.searchLine))
	}
	if len(domains) == 0 && len(p.config.Search) > 0 {
		p.warn("clears the search list: to Go an empty list is one, too")
	}
	p.searchLine, p.config.Search, p.config.SearchFrom = p.line, domains, from
	if len(domains) == 0 {
		p.config.Search, p.config.SearchFrom = nil, SearchFromNothing
		return
	}
	for _, domain := range domains {
		if !goCanSend(domain) {
			p.warn(fmt.Sprintf("%s: Go cannot put it into a query and passes over it without sending one", shorten(domain, 40)))
		}
	}
}

// goCanSend reports whether a domain fits behind a name in a message.
func goCanSend(domain string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(domain, "."), ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return true
}

// finish fills in what the file did not say.
func (p *goParser) finish(in Inputs) {
	if len(p.config.Nameservers) == 0 {
		p.config.Nameservers = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
		p.warn("no valid nameserver: Go asks 127.0.0.1, then ::1")
	}
	if len(p.config.Search) == 0 {
		if _, domain, found := strings.Cut(in.Hostname, "."); found && domain != "" {
			p.config.Search, p.config.SearchFrom = []string{domain}, SearchFromHostname
		}
	}
	for _, name := range []string{"LOCALDOMAIN", "RES_OPTIONS"} {
		value, set := in.Env[name]
		if set && (value != "" || name == "LOCALDOMAIN") {
			p.text = name + "=" + value
			p.warn("without effect: Go's own resolver does not look at this variable; a program built with cgo leaves all resolving " +
				"to libc because of it")
		}
	}
	p.text = ""
}
