package cares

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// candidate is a name to try.
type candidate struct {
	name   string
	origin probe.Origin
	index  int
}

func asIs(name string) candidate { return candidate{name, probe.OriginAsIs, -1} }

// candidates follows ares_search_name_list; for 1.18 next_dns_lookup.
func (c *call) candidates(name string) []candidate {
	conf := &c.r.conf
	if c.r.channel.Query {
		return []candidate{asIs(strings.TrimSuffix(name, ".") + ".")}
	}
	if !c.r.feat.old {
		if alias, ok := c.alias(name); ok {
			c.Note("HOSTALIASES turns %.80q into %.80q, and nothing else is tried", name, alias)
			return []candidate{asIs(alias)}
		}
	}
	if strings.HasSuffix(name, ".") {
		return []candidate{asIs(name)}
	}
	first := strings.Count(name, ".") >= conf.Ndots
	var list []candidate
	if first {
		list = append(list, asIs(name))
	}
	for i, domain := range conf.Search {
		if domain == "." && !c.r.feat.old {
			domain = ""
		}
		list = append(list, candidate{name + "." + domain, probe.OriginSearch, i})
	}
	if !first {
		list = append(list, asIs(name))
	}
	return list
}

// alias follows ares_lookup_hostaliases.
func (c *call) alias(name string) (string, bool) {
	if _, set := c.r.sys.Env["HOSTALIASES"]; !set || strings.Contains(name, ".") {
		return "", false
	}
	for line := range strings.SplitSeq(c.r.sys.HostAliases, "\n") {
		fields := strings.FieldsFunc(line, isSpaceRune)
		if len(fields) >= 2 && len(fields[0]) < 64 && strings.EqualFold(fields[0], name) && len(fields[1]) < 256 && isHostText(fields[1]) {
			return fields[1], true
		}
	}
	return "", false
}

// oldAlias follows ares__single_domain of 1.18: the alias then takes the place of the name. Lines must begin with it.
func (c *call) oldAlias(name string) (string, bool) {
	if _, set := c.r.sys.Env["HOSTALIASES"]; !set || strings.Contains(name, ".") {
		return "", false
	}
	for line := range strings.SplitSeq(c.r.sys.HostAliases, "\n") {
		if len(line) <= len(name) || !strings.EqualFold(line[:len(name)], name) || !isSpaceRune(rune(line[len(name)])) {
			continue
		}
		if fields := strings.FieldsFunc(line[len(name):], isSpaceRune); len(fields) > 0 {
			return fields[0], true
		}
	}
	return "", false
}

// isOnion follows ares_is_onion_domain (RFC 7686).
func isOnion(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".onion") || strings.HasSuffix(name, ".onion.")
}

// isLocalhost reports whether c-ares answers for a name itself (RFC 6761 section 6.3): 1.18 only for "localhost".
func (c *call) isLocalhost(name string) bool {
	if c.r.feat.old {
		return name == "localhost"
	}
	name = strings.ToLower(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// isSpaceRune is isspace(3) in the C locale.
func isSpaceRune(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }
