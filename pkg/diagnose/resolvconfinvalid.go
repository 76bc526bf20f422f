package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// resolvconfInvalid: the resolv.conf has something that the libc of the run takes otherwise than it was meant, and the trace shows what
// that does to the host: the search ends at an element that makes no name, no nameserver can be read, an option keeps every query
// from being sent, or a line is passed over that would have found the host.
//
// Libcs differ here more than anywhere else. A lone `.` on the search line is fine for glibc, Go and musl from 1.2.4 on; older musl sends
// a malformed query for it and gives up after its whole timeout, and c-ares 1.18 refuses the lookup.
var resolvconfInvalid = rule{class: "resolvconf-invalid", judge: func(v *view) []probe.Finding {
	for _, judge := range []func() []probe.Finding{v.noNameserverRead, v.nameserverPassedOver, v.nothingSent, v.oddElements, v.linesPassedOver} {
		if findings := judge(); len(findings) > 0 {
			return findings
		}
	}
	return nil
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if !notFound(r) {
			continue
		}
		for _, server := range v.misspelled() {
			for _, name := range v.meantNames(r) {
				asks = append(asks, ask(probe.Question{Server: server, Tries: 1}, name))
			}
		}
	}
	if _, limited := v.listLimit(); limited {
		return asks
	}
	return append(asks, v.askUnread(v.unread())...)
}, page: page{
	needs: "The file as text, the libc that reads it, and a trace in which the host fails because of it: the attempt that could not be made, the " +
		"loopback address that is asked in the place of the nameserver, no query at all, or a reply that has the host in a domain that is not searched.",
	remedies: "Mend the line where it comes from: the pod's dnsConfig, the node's file, or the kubelet (1.25.1 and later leave the `.` out). dnsPolicy None " +
		"with everything written out does without the node's file.",
	wrong: "\"DNS is flaky\", restarts of CoreDNS: no server is at fault, and another image in the same pod resolves the name from the same file.",
}}

// noNameserverRead: the file names nameservers, the libc can read none of them, and asks the loopback address instead, in vain.
func (v *view) noNameserverRead() []probe.Finding {
	names := v.written().nameservers
	if len(names) == 0 || v.run.Settings.Raw == "" || slices.ContainsFunc(names, isLoopback) {
		return nil
	}
	for _, s := range v.run.Settings.Nameservers {
		if !isLoopback(s) {
			return nil
		}
	}
	var findings []probe.Finding
	for _, r := range v.now {
		a := onlyLoopback(r)
		if a == nil || r.Outcome == probe.OK {
			continue
		}
		f := v.invalid(r, fmt.Sprintf("%s cannot read any nameserver of resolv.conf (%s), so it asks %s, where nothing answers.", v.libc(), listOr(names, ""),
			listOr(v.run.Settings.Nameservers, "the loopback address")))
		f.Explain = "Without a nameserver that it can read, a libc asks its own loopback address. In a pod nothing listens there, so no name resolves."
		f.Evidence = append(v.warningsOn("nameserver"), v.see(r, a))
		f.Remedies = []probe.Remedy{{
			Text:   "Write each nameserver as a plain IP address, one a line, without a port and with the line ends of Unix (no carriage return).",
			Caveat: "The file is made from the pod's dnsConfig and the node's file: mend those, then create the pod anew.",
		}}
		findings = append(findings, f)
	}
	return findings
}

// misspelled are the addresses in nameserver lines that the libc cannot read: with a port, a prefix length, or a comma behind them.
func (v *view) misspelled() []string {
	var out []string
	for _, word := range v.written().nameservers {
		if isAddress(word) {
			continue
		}
		address := strings.Trim(word, ",;\"'")
		if both, err := netip.ParseAddrPort(address); err == nil {
			address = both.Addr().String()
		}
		address, _, _ = strings.Cut(strings.Trim(address, "[]"), "/")
		if isAddress(address) && !isLoopback(address) && !slices.Contains(v.run.Settings.Nameservers, address) && len(out) < mostLeftAsked {
			out = append(out, address)
		}
	}
	return out
}

// meantNames are the names that r's host most likely means: the Service, and the name itself.
func (v *view) meantNames(r *probe.Resolution) []string {
	names := []string{canonical(v.likelyName(r))}
	if service := v.serviceIn(r.Host, v.zone); service != "" && service != names[0] {
		names = append([]string{service}, names...)
	}
	return names
}

// nameserverPassedOver: a nameserver cannot be read as it is written, the others deny the host, and that one has it.
func (v *view) nameserverPassedOver() []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if !notFound(r) {
			continue
		}
		for _, server := range v.misspelled() {
			i := slices.IndexFunc(v.meantNames(r), func(name string) bool { return v.foundAt(server, name) != nil })
			if i < 0 {
				continue
			}
			known := v.foundAt(server, v.meantNames(r)[i])
			f := v.invalid(r, fmt.Sprintf("%s passes over nameserver %s, which it cannot read as it is written, and that one has %s.", v.libc(), clean(server), clean(r.Host)))
			f.Explain = fmt.Sprintf("Only %s is asked, and says that there is no such name.", listOr(v.run.Settings.Nameservers, "another server"))
			f.Evidence = append([]probe.Evidence{
				{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(server), bare(known.Host), list(answersOf(known))), Resolution: known.ID},
				v.see(r, &r.Attempts[len(r.Attempts)-1]),
			}, v.warningsOn("nameserver")...)
			f.Remedies = []probe.Remedy{{
				Text:   fmt.Sprintf("Write the line as: nameserver %s", clean(server)),
				Caveat: "The file is made from the pod's dnsConfig and the node's file: mend those, then create the pod anew.",
			}}
			findings = append(findings, f)
			break
		}
	}
	return findings
}

func isLoopback(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.IsLoopback()
}

// onlyLoopback returns the first attempt of r when everything that it sent went to loopback addresses, and nothing was answered.
func onlyLoopback(r *probe.Resolution) *probe.Attempt {
	var first *probe.Attempt
	for i := range r.Attempts {
		for _, q := range r.Attempts[i].Queries {
			for _, t := range q.Transmissions {
				if !isLoopback(host(t.Server)) || t.Received != nil {
					return nil
				}
				if first == nil {
					first = &r.Attempts[i]
				}
			}
		}
	}
	return first
}

// nothingSent: `attempts` or `timeout` is 0, which some libcs take to mean that there is nothing to do.
func (v *view) nothingSent() []probe.Finding {
	s := v.run.Settings
	libc, _ := v.follows()
	var option string
	switch {
	case libc == probe.Glibc && s.Attempts <= 0 && v.hasOption("attempts:"):
		option = fmt.Sprintf("attempts:%d", s.Attempts)
	case libc == probe.Musl && s.Attempts <= 0 && v.hasOption("attempts:"):
		option = "attempts:0"
	case libc == probe.Musl && s.TimeoutSeconds <= 0 && v.hasOption("timeout:"):
		option = "timeout:0"
	default:
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		if r.Outcome == probe.OK || r.TransmissionsSent > 0 || r.AnsweredBy == answeredByHosts || r.AnsweredBy == answeredByLiteral {
			continue
		}
		f := v.invalid(r, fmt.Sprintf("%s makes %s send no query at all, so %s fails at once.", option, v.libc(), clean(r.Host)))
		f.Explain = "The option is meant to be at least 1. Every host that needs DNS fails, whatever the servers know."
		f.Evidence = append(v.warningsOn("options"), probe.Evidence{Text: clean(r.Host) + ": no message sent", Resolution: r.ID})
		f.Remedies = []probe.Remedy{{Text: fmt.Sprintf("Set %s to 1 or more in the pod's dnsConfig, or take it out.", strings.TrimRight(option, "0123456789-:"))}}
		if libc == probe.Musl && strings.HasPrefix(option, "attempts") {
			f.Explain += " musl divides by it: the application is killed by SIGFPE on its first lookup."
		}
		findings = append(findings, f)
	}
	return findings
}

func (v *view) hasOption(prefix string) bool {
	return slices.ContainsFunc(v.run.Settings.Options, func(o string) bool { return strings.HasPrefix(o, prefix) })
}

// oddElements: an element of the search list makes no name that can be asked for, or is no domain at all but a word of a comment.
func (v *view) oddElements() []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for i := range r.Attempts {
			a := &r.Attempts[i]
			what, odd := v.oddElement(a)
			if !odd || a.Outcome == probe.OK || isRoot(a, r) {
				continue
			}
			last := i == len(r.Attempts)-1
			if r.Outcome != probe.OK && last && a.Origin == probe.OriginSearch {
				findings = append(findings, v.endedAt(r, a, what))
				break
			}
			if a.Outcome != probe.Unsent && len(a.Queries) > 0 && what == comment {
				findings = append(findings, v.askedComment(r, a))
				break
			}
		}
	}
	return findings
}

// comment is what is odd about an element that was meant to be a comment.
const comment = "a comment"

// oddElement says what is odd about the element of the search list that a comes from.
func (v *view) oddElement(a *probe.Attempt) (what string, odd bool) {
	if a.Origin != probe.OriginSearch || a.SearchIndex < 0 || a.SearchIndex >= len(v.run.Settings.Search) {
		return "", false
	}
	domain := v.run.Settings.Search[a.SearchIndex]
	meant := slices.ContainsFunc(v.written().search, func(d writtenDomain) bool { return canonical(d.name) == canonical(domain) })
	switch {
	case domain == ".":
		return "the root", true
	case !domainFits(domain):
		return "no valid domain (a label is empty or too long)", true
	case !meant && v.run.Settings.Raw != "" && len(v.written().search) > 0 && strings.Contains(v.run.Settings.Raw, domain) && behindComment(v.run.Settings.Raw, domain):
		return comment, true
	}
	return "", false
}

// behindComment says whether a word stands behind a # or ; on a line of the search list.
func behindComment(raw, word string) bool {
	for line := range strings.Lines(raw) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "search" && words[0] != "domain" {
			continue
		}
		mark := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' || w[0] == ';' })
		if mark >= 0 && slices.Contains(words[mark:], word) {
			return true
		}
	}
	return false
}

// isRoot says whether a asks for the host itself, which is what a root element is for.
func isRoot(a *probe.Attempt, r *probe.Resolution) bool {
	return isHost(a, r) && a.Outcome != probe.Unsent && !strings.HasSuffix(a.Name, "..")
}

func (v *view) endedAt(r *probe.Resolution, a *probe.Attempt, what string) probe.Finding {
	domain := clean(v.run.Settings.Search[a.SearchIndex])
	f := v.invalid(r, fmt.Sprintf("The element %q of the search list is %s, and %s ends the lookup of %s there, after %s.", domain, what, v.libc(), clean(r.Host), took(r.Duration)))
	f.Explain = fmt.Sprintf("It is number %d of %d, and what comes after it is never asked, %s itself among it.", a.SearchIndex+1, len(v.run.Settings.Search), clean(r.Host))
	if domain == "." {
		f.Explain += " glibc, Go, newer c-ares and musl from 1.2.4 on take a lone dot; musl up to 1.2.3 sends a malformed query for it, and c-ares 1.18 refuses the whole lookup."
	}
	f.Evidence = append(f.Evidence, at(r, a, fmt.Sprintf("%s: %s, %s", clean(a.Name), outcomeWord(a), took(a.Duration))))
	f.Evidence = append(f.Evidence, v.warningsOn("search", "domain")...)
	if ndots, ok := v.ndotsRemedy(r); ok {
		ndots.Caveat = strings.TrimSpace("Hosts with fewer dots still end at that element. " + ndots.Caveat)
		f.Remedies = append(f.Remedies, ndots)
	} else if n := dots(r.Host); n > 0 && n < v.run.Settings.Ndots {
		f.Remedies = append(f.Remedies, probe.Remedy{
			Text: fmt.Sprintf("With ndots %d %s is asked as it is before the search list.", n, clean(r.Host)), Caveat: "Hosts with fewer dots still end at that element.",
		})
	}
	f.Remedies = append([]probe.Remedy{{
		Text: fmt.Sprintf("Set dnsPolicy to None and write the list out without %q: nameserver %s, search %s, ndots %d.", domain,
			listOr(v.run.Settings.Nameservers, "of the cluster"), strings.Join(v.goodDomains(), " "), v.run.Settings.Ndots),
	}}, f.Remedies...)
	source := fmt.Sprintf("At the source: take %q out of the node's file, or out of dnsConfig where it comes from there.", domain)
	if domain == "." {
		source = "At the source: update the kubelet to 1.25.1 or later, which leaves the dot out, or strip it from the node's file."
	}
	f.Remedies = append(f.Remedies, probe.Remedy{Text: source, Caveat: "Pods get it when they are created anew."})
	return f
}

// outcomeWord tells what became of an attempt.
func outcomeWord(a *probe.Attempt) string {
	if a.Outcome == probe.Unsent {
		return "cannot be sent"
	}
	return replies(a)
}

// goodDomains are the elements of the search list that make names.
func (v *view) goodDomains() []string {
	var out []string
	for _, d := range v.run.Settings.Search {
		if domainFits(d) && !behindComment(v.run.Settings.Raw, d) {
			out = append(out, clean(d))
		}
	}
	return out
}

func (v *view) askedComment(r *probe.Resolution, a *probe.Attempt) probe.Finding {
	f := v.invalid(r, fmt.Sprintf("%s takes the comment behind the search list for search domains and asks for %s.", v.libc(), bare(a.Name)))
	f.Severity = severity(r)
	f.Explain = "resolv.conf has comments only on lines of their own, with # or ; as the first character. Behind a value every word counts."
	f.Evidence = append([]probe.Evidence{v.see(r, a)}, v.warningsOn("search", "domain")...)
	f.Remedies = []probe.Remedy{{Text: "Move the comment to a line of its own in the file that the pod's is made from.", Caveat: "Pods get it when they are created anew."}}
	return f
}

// linesPassedOver: a search line was not read as it was meant, and the host exists in a domain of it.
func (v *view) linesPassedOver() []probe.Finding {
	if _, limited := v.listLimit(); limited {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		domain, found := v.foundUnread(r, v.unread())
		if found == nil {
			continue
		}
		f := v.invalid(r, fmt.Sprintf("%s exists as %s, but %s does not search %s: it does not read line %d of resolv.conf as it is written.", clean(r.Host), bare(found.Host),
			v.libc(), bare(domain.name), domain.at))
		f.Explain = fmt.Sprintf("The search list in effect in this container is: %s.", listOr(v.run.Settings.Search, "empty"))
		f.Evidence = append([]probe.Evidence{
			{Text: fmt.Sprintf("%s, asked for directly: %s", bare(found.Host), list(answersOf(found))), Resolution: found.ID},
			v.see(r, &r.Attempts[len(r.Attempts)-1]),
		}, v.warningsAt(domain.at)...)
		f.Remedies = []probe.Remedy{
			{
				Text:   "Mend the line: one `search` line in lower case at the very start of the line, all domains on it, with the line ends of Unix.",
				Caveat: "The file is made from the pod's dnsConfig and the node's file: mend those, then create the pod anew.",
			},
			{Text: fmt.Sprintf("Until then let the application ask for the full name %s.", bare(found.Host))},
		}
		findings = append(findings, f)
	}
	return findings
}

// invalid begins a finding about a file that a libc takes otherwise than it was meant.
func (v *view) invalid(r *probe.Resolution, title string) probe.Finding {
	return probe.Finding{Severity: severity(r), Title: title}
}

// warningsOn is what the libc makes of lines with one of these keywords.
func (v *view) warningsOn(keywords ...string) []probe.Evidence {
	return v.warnings(func(w resolvconf.Warning) bool {
		first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(w.Text)), " ")
		return slices.Contains(keywords, strings.TrimSpace(first))
	})
}

func (v *view) warningsAt(line int) []probe.Evidence {
	return v.warnings(func(w resolvconf.Warning) bool { return w.Line == line })
}

// mostWarnings bounds the warnings in one finding.
const mostWarnings = 4

func (v *view) warnings(fits func(resolvconf.Warning) bool) []probe.Evidence {
	var out []probe.Evidence
	for _, w := range v.run.Settings.Warnings {
		if fits(w) && len(out) < mostWarnings {
			out = append(out, probe.Evidence{Text: fmt.Sprintf("line %d, %q: %s", w.Line, clean(w.Text), clean(w.Effect))})
		}
	}
	return out
}
