package golang

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// nsswitch is the hosts line of an nsswitch.conf as Go reads it.
type nsswitch struct {
	missing bool
	// broken says what made Go stop reading.
	broken  string
	sources []source
}

// source is a source with its criteria ("[NOTFOUND=return]").
type source struct {
	name     string
	criteria []criterion
}

type criterion struct {
	negate         bool
	status, action string
}

// parseNSS follows parseNSSConf of nss.go: lists of a repeated database add up; only spaces end a source.
func parseNSS(text *string) nsswitch {
	if text == nil {
		return nsswitch{missing: true}
	}
	var n nsswitch
	for line := range strings.SplitSeq(*text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = trim(line); line == "" {
			continue
		}
		db, list, ok := strings.Cut(line, ":")
		if !ok {
			n.broken = "a line without a colon"
			return n
		}
		if n.broken = parseSources(list, func(s source) {
			if trim(db) == "hosts" {
				n.sources = append(n.sources, s)
			}
		}); n.broken != "" {
			return n
		}
	}
	return n
}

func trim(s string) string { return strings.Trim(s, " \t\n\r") }

func parseSources(list string, add func(source)) (broken string) {
	for {
		if list = trim(list); list == "" {
			return ""
		}
		var s source
		s.name, list, _ = strings.Cut(list, " ")
		if list = trim(list); strings.HasPrefix(list, "[") {
			inside, rest, closed := strings.Cut(list[1:], "]")
			if !closed {
				return "a bracket that is not closed"
			}
			list = rest
			for field := range strings.SplitSeq(inside, " ") {
				if field = trim(field); field == "" {
					continue
				}
				c, ok := parseCriterion(field)
				if !ok {
					return "a criterion that cannot be read"
				}
				s.criteria = append(s.criteria, c)
			}
		}
		add(s)
	}
}

func parseCriterion(field string) (criterion, bool) {
	rest, negate := strings.CutPrefix(field, "!")
	status, action, ok := strings.Cut(lowerASCII(rest), "=")
	return criterion{negate, status, action}, ok && len(rest) >= 3
}

// usual follows standardCriteria: whether the criteria say what holds without them.
func (s source) usual() bool {
	for i, c := range s.criteria {
		def := ""
		switch c.status {
		case "success":
			def = "return"
		case "notfound", "unavail", "tryagain":
			def = "continue"
		}
		if c.negate || def == "" || c.action != def && (i != len(s.criteria)-1 || c.action != "return") {
			return false
		}
	}
	return true
}

// order is where a lookup goes, in which order (hostLookupOrder).
type order int

const (
	filesDNS order = iota
	dnsFiles
	onlyFiles
	onlyDNS
)

// lookupOrder follows lookupOrder of conf.go once resolv.conf had nothing to say. With cgo, why tells what makes the lookup
// libc's business; it is empty when it is Go's.
func (n nsswitch) lookupOrder(host, hostname string, cgo bool) (o order, why string) {
	if n.missing || n.broken == "" && len(n.sources) == 0 {
		return filesDNS, ""
	}
	if n.broken != "" {
		if cgo {
			why = "nsswitch.conf has " + n.broken
		}
		return filesDNS, why
	}
	var files, dns bool
	first := ""
	for _, s := range n.sources {
		if s.name == "files" || s.name == "dns" {
			if cgo && !s.usual() {
				return filesDNS, fmt.Sprintf("nsswitch.conf has a criterion after %s that is not the usual one", s.name)
			}
			files, dns = files || s.name == "files", dns || s.name == "dns"
			if first == "" {
				first = s.name
			}
			continue
		}
		if cgo {
			if why := leftForSource(s.name, host, hostname); why != "" {
				return filesDNS, why
			}
			continue
		}
		// A source that Go does not have stands for DNS, unless DNS is on the list itself.
		if !hasDNS(n.sources) {
			dns = true
			if first == "" {
				first = "dns"
			}
		}
	}
	switch {
	case files && dns && first == "files":
		return filesDNS, ""
	case files && dns:
		return dnsFiles, ""
	case files:
		return onlyFiles, ""
	case dns:
		return onlyDNS, ""
	case cgo:
		return filesDNS, "nsswitch.conf has neither files nor dns"
	}
	return filesDNS, ""
}

func hasDNS(sources []source) bool {
	for _, s := range sources {
		if s.name == "dns" {
			return true
		}
	}
	return false
}

// leftForSource says why a source that is neither files nor dns makes a lookup libc's business, empty when it does not. A file
// mdns.allow, which lists more names, is taken to be missing.
func leftForSource(name, host, hostname string) string {
	host = strings.TrimSuffix(host, ".")
	same := resolver.EqualFoldASCII
	switch {
	case name == "myhostname" && host != "":
		special := same(host, "localhost") || same(host, "localhost.localdomain") || endsFold(host, ".localhost") ||
			endsFold(host, ".localhost.localdomain") || same(host, "_gateway") || same(host, "_outbound") || same(host, hostname)
		if special {
			return "nsswitch.conf has the source myhostname, which knows this name"
		}
	case strings.HasPrefix(name, "mdns") && host != "":
		if endsFold(host, ".local") {
			return fmt.Sprintf("nsswitch.conf has the source %.40q, which knows names in .local", name)
		}
	default:
		return fmt.Sprintf("nsswitch.conf has the source %.40q", name)
	}
	return ""
}

// order is the order of this lookup.
func (c *call) order() order {
	r := c.r
	r.loadNSS(c.n.Now())
	if !r.feat.ownOrder && LeftToLibc(r.version, r.sys, c.req.Host) != "" {
		return filesDNS
	}
	o, _ := r.nss.lookupOrder(c.req.Host, r.sys.Hostname, r.cgo || !r.feat.ownOrder)
	return o
}
