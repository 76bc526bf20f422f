package resolvconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// CAres is the dialect of c-ares.
const CAres Libc = "cares"

// AssumedCAres is the c-ares that is followed when a version is unknown.
var AssumedCAres = Version{1, 34}

// caresLineBytes is how long a value may be: a longer line is ignored as a whole (ares_sysconfig_files.c, char value[512]).
const caresLineBytes = 511

// ParseCAres returns what c-ares makes of the text of a resolv.conf and of the environment when a channel is made with
// ares_init. The text of a missing file is empty. It never fails. `use-vc` stays without effect, as the defaults that come
// after the file overwrite it.
//
// Versions before 1.20 are read as 1.18 does, all others as 1.34.
//
// Source: c-ares src/lib/ares_sysconfig_files.c, ares_sysconfig_parse_resolv_line and ares_init_by_environment;
// ares_init.c, init_by_defaults. For 1.18: ares_init.c, init_by_resolv_conf and set_options.
func ParseCAres(text string, in Inputs) Config {
	p := caresParser{version: AssumedCAres}
	p.config = Config{SearchFrom: SearchFromNothing, Ndots: 1, TimeoutMillis: 2000, Attempts: 3}
	if v, ok := ParseVersion(in.Version); ok {
		p.version = v
	}
	if !p.version.AtLeast(1, 20) {
		return p.parseOld(text, in)
	}
	defaults := p.config
	for n, line := range strings.Split(text, "\n") {
		p.line, p.text = n+1, line
		if p.parseLine(strings.TrimFunc(line, isSpaceRune)); p.lost {
			break
		}
	}
	if p.line, p.text = 0, ""; !p.lost {
		p.environment(in)
	}
	if p.lost {
		// Nothing of what was read is put into force.
		defaults.Warnings, defaults.Options = p.config.Warnings, p.config.Options
		p.config, p.config.Lost = defaults, true
	}
	p.finish(in)
	return p.config
}

type caresParser struct {
	reader
	version Version
	// searchSet is set once a line or variable decided the search list; searchLine is that line.
	searchSet  bool
	searchLine int
	// lost: c-ares takes a list without a word in it for a lack of memory, and drops all settings.
	lost bool
	// What 1.18 has set for good: its first word wins.
	ndotsSet, timeoutSet, triesSet bool
}

func (p *caresParser) parseLine(line string) {
	if line == "" || line[0] == '#' || line[0] == ';' {
		return
	}
	end := strings.IndexFunc(line, isSpaceRune)
	if end < 0 {
		end = len(line)
	}
	keyword, value := line[:end], strings.TrimFunc(line[end:], isSpaceRune)
	if !slices.Contains(caresKeywords, keyword) {
		p.unreadable(keyword)
		return
	}
	switch {
	case value == "":
		p.warn("ignored: there is no value")
		return
	case len(value) > caresLineBytes:
		p.warn(fmt.Sprintf("ignored as a whole: c-ares takes values of at most %d characters, this one has %d", caresLineBytes, len(value)))
		return
	case !printableASCII(value):
		p.warn("ignored as a whole: c-ares takes no line with tabs or other control characters inside of its value")
		return
	}
	switch keyword {
	case "domain":
		p.domain(value)
	case "search":
		p.search(value)
	case "nameserver":
		p.nameservers(value)
	case "options":
		for _, word := range strings.FieldsFunc(value, isBlank) {
			p.config.Options = append(p.config.Options, word)
			p.option(word)
		}
	case "lookup", "hostresorder":
		p.lookup(value)
	case "sortlist":
		p.warn("it orders the results of ares_gethostbyname; ares_getaddrinfo does not look at it")
	}
}

var caresKeywords = []string{"nameserver", "search", "domain", "options", "sortlist", "lookup", "hostresorder"}

func (p *caresParser) unreadable(keyword string) {
	for _, k := range caresKeywords {
		if strings.EqualFold(k, keyword) {
			p.warn("ignored: c-ares wants the keyword in lower case, with white space after it")
			return
		}
	}
	p.warn("ignored: not a keyword that c-ares knows")
}

func printableASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// search replaces the list; `domain` does so only while there is none.
func (p *caresParser) search(value string) {
	domains := splitSearch(value)
	if len(domains) == 0 {
		p.lose()
		return
	}
	if p.searchLine != 0 && p.searchSet {
		p.warn(fmt.Sprintf("replaces line %d: of all `search` lines the last one wins", p.searchLine))
	}
	p.setSearch(p.uniqueDomains(domains), SearchFromSearch)
	p.noteComment()
}

func (p *caresParser) noteComment() {
	for i, domain := range p.config.Search {
		if domain[0] == '#' || domain[0] == ';' {
			p.warn(fmt.Sprintf("c-ares knows no comments behind a value: it takes %d words from %q on as search domains, and a lookup that comes to "+
				"one that is no name fails there", len(p.config.Search)-i, shorten(domain, 40)))
			return
		}
	}
}

func (p *caresParser) domain(value string) {
	if p.searchSet {
		p.warn("without effect: c-ares keeps to the search list that it has, `search` goes before `domain`")
		return
	}
	domains := splitSearch(value)
	switch {
	case len(domains) == 0:
		p.lose()
		return
	case len(domains) > 1:
		p.warn("only the first domain counts: `domain` takes one, `search` takes a list")
		domains = domains[:1]
	}
	p.setSearch(domains, SearchFromDomain)
}

// lose notes what becomes of a list without a word, or with one that has control characters: config_search returns
// ARES_ENOMEM, which ends ares_init_by_sysconfig.
func (p *caresParser) lose() {
	p.lost = true
	p.warn("c-ares drops the whole resolv.conf, nsswitch.conf and the environment here, since it takes a list that it cannot split for a lack of memory")
}

func (p *caresParser) setSearch(domains []string, from SearchSource) {
	p.config.Search, p.config.SearchFrom = domains, from
	p.searchSet, p.searchLine = true, p.line
}

// splitSearch cuts at blanks and commas, not at tabs.
func splitSearch(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
}

// uniqueDomains drops what was there before, without regard to case.
func (p *caresParser) uniqueDomains(domains []string) []string {
	var kept []string
	for _, d := range domains {
		if slices.ContainsFunc(kept, func(k string) bool { return strings.EqualFold(k, d) }) {
			p.warn(fmt.Sprintf("%s: c-ares tries a domain once, however often it is listed", shorten(d, 40)))
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

// nameservers takes one or more servers, as ares_sconfig_append_fromstr does.
func (p *caresParser) nameservers(value string) {
	for _, word := range splitSearch(value) {
		server, err := caresNameserver(word)
		switch {
		case err != "":
			p.warn(shorten(word, 60) + ": ignored, " + err)
		case slices.Contains(p.servers(), server):
			p.warn(shorten(word, 60) + ": ignored, c-ares has this server already")
		default:
			p.addServer(server)
		}
	}
}

func (p *caresParser) servers() []netip.AddrPort {
	var all []netip.AddrPort
	for i, a := range p.config.Nameservers {
		port := uint16(53)
		if p.config.Ports != nil {
			port = p.config.Ports[i]
		}
		all = append(all, netip.AddrPortFrom(a, port))
	}
	return all
}

func (p *caresParser) addServer(s netip.AddrPort) {
	if s.Port() != 53 && p.config.Ports == nil {
		p.config.Ports = slices.Repeat([]uint16{53}, len(p.config.Nameservers))
	}
	p.config.Nameservers = append(p.config.Nameservers, s.Addr())
	if p.config.Ports != nil {
		p.config.Ports = append(p.config.Ports, s.Port())
	}
}

// caresNameserver reads "address", "IPv4:port", "[address]:port", each with an optional "%interface" at the end. why says
// what is wrong with it.
func caresNameserver(word string) (server netip.AddrPort, why string) {
	const noAddress = "not an address that c-ares can read"
	var text, rest string
	if inner, ok := strings.CutPrefix(word, "["); ok {
		if text, rest, ok = strings.Cut(inner, "]"); !ok {
			return server, noAddress
		}
	} else {
		charset := "ABCDEFabcdef0123456789.:"
		if dot := strings.IndexByte(word, '.'); dot > 0 && dot < 4 {
			charset = "0123456789."
		}
		end := len(word) - len(strings.TrimLeft(word, charset))
		text, rest = word[:end], word[end:]
	}
	addr, ok := CAresAddress(text)
	if !ok {
		return server, noAddress
	}
	port := uint64(53)
	if after, ok := strings.CutPrefix(rest, ":"); ok {
		digits := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
		var err error
		if port, err = strconv.ParseUint(digits, 10, 16); err != nil {
			return server, noAddress
		}
		if rest = after[len(digits):]; port == 0 {
			port = 53
		}
	}
	zone, hasZone := strings.CutPrefix(rest, "%")
	if rest != "" && (!hasZone || zone == "") {
		return server, noAddress
	}
	switch {
	case siteLocal.Contains(addr):
		return server, "c-ares takes no site-local server (fec0::/10)"
	case addr.IsLinkLocalUnicast() && addr.Is6() && zone == "":
		return server, "a link-local address needs its interface behind a %"
	case addr.IsLinkLocalUnicast() && addr.Is6():
		addr = addr.WithZone(zone)
	}
	return netip.AddrPortFrom(addr, uint16(port)), ""
}

var siteLocal = netip.MustParsePrefix("fec0::/10")

// CAresAddress reads what ares_inet_pton reads: IPv6 addresses, and IPv4 addresses whose last parts may be missing ("10.1" is
// 10.1.0.0), in hexadecimal, or with the length of a network behind them.
func CAresAddress(s string) (netip.Addr, bool) {
	if a, ok := caresIPv4(s); ok {
		return a, true
	}
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is6() && a.Zone() == ""
}

func caresIPv4(s string) (netip.Addr, bool) {
	text, bits, cidr := strings.Cut(s, "/")
	if n, err := strconv.ParseUint(bits, 10, 8); cidr && (err != nil || n > 32) {
		return netip.Addr{}, false
	}
	var b [4]byte
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		if hex == "" || len(hex) > 8 {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(hex+strings.Repeat("0", 8-len(hex)), 16, 32)
		b = [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		return netip.AddrFrom4(b), err == nil
	}
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	for i, part := range parts {
		if part == "" || !isDigit(part[0]) {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return netip.Addr{}, false
		}
		b[i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

// lookup reads the words of `lookup`; others are skipped.
func (p *caresParser) lookup(value string) {
	order := CAresLookup(strings.FieldsFunc(value, isSpaceRune))
	if order == "" {
		p.warn("ignored: neither `bind` nor `file` is in it")
		return
	}
	p.config.Lookup = order
}

// CAresLookup returns the order that words of `lookup` and of nsswitch.conf's hosts line stand for: "b" is DNS, "f" the hosts
// file, each once; empty when no word counts.
//
// Source: c-ares src/lib/ares_sysconfig_files.c, config_lookup.
func CAresLookup(words []string) string {
	order := ""
	for _, word := range words {
		kind := ""
		switch strings.ToLower(word) {
		case "dns", "bind", "bind4", "bind6", "resolv", "resolve":
			kind = "b"
		case "files", "file", "local", "local4", "local6":
			kind = "f"
		}
		if !strings.Contains(order, kind) {
			order += kind
		}
	}
	return order
}

// environment reads LOCALDOMAIN and RES_OPTIONS, which go before the file.
func (p *caresParser) environment(in Inputs) {
	if value, set := in.Env["LOCALDOMAIN"]; set {
		p.text = "LOCALDOMAIN=" + value
		domains := splitSearch(cString(value))
		if len(domains) == 0 || !printableASCII(strings.Join(domains, " ")) {
			p.lose()
			return
		}
		if len(domains) > 1 {
			p.warn("only the first domain counts: c-ares takes one from LOCALDOMAIN")
			domains = domains[:1]
		}
		p.setSearch(domains, SearchFromEnv)
	}
	if value, set := in.Env["RES_OPTIONS"]; set {
		p.text = "RES_OPTIONS=" + value
		if cString(value) == "" {
			p.lose()
			return
		}
		for _, word := range strings.FieldsFunc(cString(value), isBlank) {
			p.config.Options = append(p.config.Options, word)
			p.option(word)
		}
	}
	p.text = ""
}

// finish fills in what nothing said.
func (p *caresParser) finish(in Inputs) {
	if len(p.config.Nameservers) == 0 {
		p.config.Nameservers, p.config.Ports = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
		p.warn("no valid nameserver: c-ares asks 127.0.0.1")
	}
	if len(p.config.Search) == 0 {
		p.config.Search, p.config.SearchFrom = nil, SearchFromNothing
		if _, domain, found := strings.Cut(cString(in.Hostname), "."); found {
			p.config.Search, p.config.SearchFrom = []string{domain}, SearchFromHostname
		}
	}
	p.config.TimeoutSeconds = (p.config.TimeoutMillis + 999) / 1000
}
