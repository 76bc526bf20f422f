package golang

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxName bounds a name in bytes with its final dot.
const maxName = 254

// isDomainName follows isDomainName of dnsclient.go: only such names are looked up in DNS.
func isDomainName(s string) bool {
	if s == "." {
		return true
	}
	if s == "" || len(s) > maxName || len(s) == maxName && s[len(s)-1] != '.' {
		return false
	}
	hasLetter := false
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > resolver.MaxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			switch c := label[i]; {
			case c >= '0' && c <= '9':
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '-':
				hasLetter = true
			default:
				return false
			}
		}
	}
	return hasLetter
}

// candidate is a name to try.
type candidate struct {
	// name is as Go has it: bytes between dots, without escapes, with a final dot.
	name   string
	origin probe.Origin
	index  int
}

// nameList follows nameList of dnsclient_unix.go.
func nameList(host string, conf *resolvconf.Config, feat features) []candidate {
	rooted := strings.HasSuffix(host, ".")
	if len(host) > maxName || len(host) == maxName && !rooted {
		return nil
	}
	asIs := candidate{name: host, origin: probe.OriginAsIs, index: -1}
	keep := func(list []candidate, c candidate) []candidate {
		if len(c.name) > maxName || feat.onionPerName && avoid(c.name) {
			return list
		}
		return append(list, c)
	}
	if !feat.onionPerName && avoid(host) {
		return nil
	}
	if rooted {
		return keep(nil, asIs)
	}
	asIs.name += "."
	first := strings.Count(host, ".") >= conf.Ndots
	var list []candidate
	if first {
		list = keep(list, asIs)
	}
	for i, domain := range conf.Search {
		list = keep(list, candidate{name: asIs.name + absolute(domain), origin: probe.OriginSearch, index: i})
	}
	if !first {
		list = keep(list, asIs)
	}
	return list
}

// avoid follows avoidDNS: names that must not be asked for in DNS (RFC 7686).
func avoid(name string) bool { return endsFold(strings.TrimSuffix(name, "."), ".onion") }

func absolute(domain string) string {
	if strings.HasSuffix(domain, ".") {
		return domain
	}
	return domain + "."
}

// wireName returns a candidate's name in presentation format; ok is false when no message can hold it.
func wireName(name string) (shown string, ok bool) {
	if name == "." {
		return name, true
	}
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > resolver.MaxLabelBytes {
			return resolver.ShowName(name), false
		}
	}
	return resolver.JoinLabels(labels), true
}
