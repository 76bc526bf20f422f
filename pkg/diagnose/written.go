package diagnose

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// written is what the author of a resolv.conf most likely meant, whatever a libc makes of the file: keywords count in any case and
// behind blanks, and what follows a # or ; is a comment.
type written struct {
	search []writtenDomain
	// nameservers are the first words of all `nameserver` lines.
	nameservers []string
}

// writtenDomain is a word of a `search` or `domain` line.
type writtenDomain struct {
	name string
	// line is the whole line as it stands in the file, and at its number, from 1.
	line string
	at   int
}

// written reads the file of the run.
func (v *view) written() written {
	var w written
	number := 0
	for line := range strings.Lines(v.run.Settings.Raw) {
		number++
		words := strings.Fields(line)
		if i := slices.IndexFunc(words, func(word string) bool { return word[0] == '#' || word[0] == ';' }); i >= 0 {
			words = words[:i]
		}
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "search", "domain":
			for _, name := range words[1:] {
				w.search = append(w.search, writtenDomain{name, strings.TrimRight(line, "\r\n"), number})
			}
		case "nameserver":
			w.nameservers = append(w.nameservers, words[1])
		}
	}
	return w
}

// unread are the search domains that the file has and that the libc of the run does not search, in order. None where the environment
// replaces the list: that is what it is for.
func (v *view) unread() []writtenDomain {
	if _, replaced := v.run.Settings.Env["LOCALDOMAIN"]; replaced {
		return nil
	}
	var out []writtenDomain
	for _, domain := range v.written().search {
		used := slices.ContainsFunc(v.run.Settings.Search, func(s string) bool { return canonical(s) == canonical(domain.name) })
		seen := slices.ContainsFunc(out, func(d writtenDomain) bool { return canonical(d.name) == canonical(domain.name) })
		if !used && !seen && domainFits(domain.name) {
			out = append(out, domain)
		}
	}
	return out
}

// domainFits says whether a search domain can stand behind a host: no root, no empty label, none that is too long (RFC 1035, 2.3.4).
func domainFits(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return len(domain) <= 253
}

// server is the address of the nameserver that r got its first reply from, else that of the first one in the settings; empty when
// there is none that can be asked.
func (v *view) server(r *probe.Resolution) string {
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if t.Received != nil && isAddress(host(t.Server)) {
					return host(t.Server)
				}
			}
		}
	}
	for _, s := range v.run.Settings.Nameservers {
		if isAddress(s) {
			return s
		}
	}
	return ""
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// foundAt says whether a server that was asked directly for a name has it: with an address.
func (v *view) foundAt(server, name string) *probe.Resolution {
	if r := v.said(probe.Question{Server: server}, name); r != nil && r.Outcome == probe.OK && len(answersOf(r)) > 0 {
		return r
	}
	return nil
}

// deniedAt says whether a server that was asked directly for a name says that there is no such name.
func (v *view) deniedAt(server, name string) *probe.Resolution {
	if r := v.said(probe.Question{Server: server}, name); r != nil && r.Outcome == probe.NXDomain && allNXDomain(r) {
		return r
	}
	return nil
}

// answersOf are the addresses that r found: its own, else those among the records of its replies.
func answersOf(r *probe.Resolution) []string {
	if len(r.Addresses) > 0 {
		return addresses(r)
	}
	var out []string
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, answer := range q.Answers {
				if (answer.Type == "A" || answer.Type == "AAAA") && !slices.Contains(out, clean(answer.Data)) {
					out = append(out, clean(answer.Data))
				}
			}
		}
	}
	return out
}

// notFound says whether r ended without an address because everything that was asked was denied or empty.
func notFound(r *probe.Resolution) bool {
	if r.Outcome != probe.NXDomain && r.Outcome != probe.NoData {
		return false
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Outcome != probe.Unsent && !negative(a) {
			return false
		}
	}
	return len(r.Attempts) > 0
}
