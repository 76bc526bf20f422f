package cares

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// filesThenDNS is the order when no file says another one.
const filesThenDNS = "fb"

// lookupOrder returns what is looked at and in which order: the `lookup` line of resolv.conf, nsswitch.conf, or the default.
func (r *Resolver) lookupOrder() string {
	if r.feat.old {
		return r.oldLookupOrder()
	}
	if r.conf.Lost {
		return filesThenDNS
	}
	order := r.conf.Lookup
	if r.sys.NSSwitch != nil {
		// nsswitch.conf is read last and so wins, as does the last of its lines.
		for line := range strings.SplitSeq(*r.sys.NSSwitch, "\n") {
			database, services, found := strings.Cut(strings.TrimFunc(line, isSpaceRune), ":")
			if !found || strings.TrimFunc(database, isSpaceRune) != "hosts" {
				continue
			}
			words := strings.FieldsFunc(services, func(r rune) bool { return r == ' ' || r == '\t' })
			if found := resolvconf.CAresLookup(words); found != "" {
				order = found
			}
		}
	}
	if order == "" {
		return filesThenDNS
	}
	return order
}

// oldLookupOrder is that of 1.18, which looks at the first letter of a word: the first line that has one wins, and
// nsswitch.conf is only asked when resolv.conf says nothing, host.conf only after that.
func (r *Resolver) oldLookupOrder() string {
	if r.conf.Lookup != "" {
		return r.conf.Lookup
	}
	for _, file := range []struct {
		text                *string
		keyword, dns, files string
	}{{r.sys.NSSwitch, "hosts:", "dr", "f"}, {r.sys.HostConf, "order", "b", "h"}} {
		if file.text == nil {
			continue
		}
		for line := range strings.SplitSeq(*file.text, "\n") {
			line, _, _ = strings.Cut(line, "#")
			value, found := strings.CutPrefix(strings.TrimFunc(line, isSpaceRune), file.keyword)
			if !found || value == "" || !strings.HasSuffix(file.keyword, ":") && !isSpaceRune(rune(value[0])) {
				continue
			}
			if order := resolvconf.OldCAresLookup(value, file.dns, file.files); order != "" {
				return order
			}
		}
	}
	return filesThenDNS
}
