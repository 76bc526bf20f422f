package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

const (
	// muslLine is the longest line of resolv.conf that musl reads, in characters (src/network/resolvconf.c, char line[256] with its
	// line feed and end).
	muslLine = 254
	// caresValue is the longest value that c-ares reads from 1.24 on (ares_sysconfig_files.c, char value[512]).
	caresValue = 511
	// oldGlibcDomains and oldGlibcBytes are the limits of glibc before 2.26 (resolv/resolv.h, MAXDNSRCH and the buffer behind it).
	oldGlibcDomains, oldGlibcBytes = 6, 256
	// mostUnread bounds how many search domains are tried that the libc does not search.
	mostUnread = 4
)

// searchLimit: the libc does not search all that the search line has, since the line is too long or has too many domains for
// it, and the host exists in a domain that is left out. The same is said where the kubelet has cut the list and its event tells so.
//
// musl reads no line of more than 254 characters, c-ares none whose list has more than 511, and glibc before 2.26 takes 6 domains.
// Kubernetes itself allows 32 domains and 2048 characters, so a list can be valid there and empty in the container.
var searchLimit = rule{class: "search-limit", judge: func(v *view) []probe.Finding {
	limit, ok := v.listLimit()
	if !ok {
		return nil
	}
	var findings []probe.Finding
	for _, r := range v.now {
		if domain, at := v.foundUnread(r, limit.left); at != nil {
			findings = append(findings, v.limitFinding(r, at, domain, limit))
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	if limit, ok := v.listLimit(); ok {
		return v.askUnread(limit.left)
	}
	return nil
}, page: page{
	needs: "A search list that the libc of the run cuts or drops (or an event DNSConfigForming that says so), a host that was denied, and a reply to a " +
		"direct question that has the host in a domain that was left out.",
	remedies: "dnsPolicy None with the nameservers and the few search domains that the workload uses, the cluster's own first. A shorter list on the " +
		"node helps all pods.",
	wrong: "\"The Service does not exist\": it does, the container never asks for it. Adding search domains through dnsConfig makes the line longer " +
		"still, and no value of ndots brings back a list that was not read.",
}}

// listLimit is what cuts the search list of a run.
type listLimit struct {
	// left are the domains that are not searched because of it.
	left []writtenDomain
	// why says what the limit is and what it met, as a sentence without its full stop.
	why  string
	fact string
}

// listLimit returns the limit that is in the way, and false when there is none.
func (v *view) listLimit() (listLimit, bool) {
	if left, ok := v.cutByKubelet(); ok {
		return left, true
	}
	left := v.unread()
	if len(left) == 0 {
		return listLimit{}, false
	}
	line := left[0].line
	libc, release := v.follows()
	_, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	version, known := resolvconf.ParseVersion(release)
	switch {
	case libc == probe.Musl && len(line) > muslLine:
		return listLimit{left: left, why: fmt.Sprintf("line %d of resolv.conf has %d characters, musl ignores lines of more than %d", left[0].at, len(line), muslLine)}, true
	case libc == probe.CAres && len(strings.TrimSpace(value)) > caresValue:
		return listLimit{left: left, why: fmt.Sprintf("the search list in line %d of resolv.conf has %d characters, c-ares ignores lists of more than %d",
			left[0].at, len(strings.TrimSpace(value)), caresValue)}, true
	case libc == probe.Glibc && known && !version.AtLeast(2, 26):
		domains := len(strings.Fields(value))
		return listLimit{left: left, why: fmt.Sprintf("line %d of resolv.conf has %d search domains in %d characters, glibc before 2.26 takes %d and %d",
			left[0].at, domains, len(value), oldGlibcDomains, oldGlibcBytes)}, domains > oldGlibcDomains || len(value) >= oldGlibcBytes
	}
	return listLimit{}, false
}

// cutByKubelet reads the event by which the kubelet says that it left search domains out ("Search Line limits were exceeded, some
// search paths have been omitted", k8s.io/kubernetes pkg/kubelet/network/dns). Which ones is known from what the list was made of.
func (v *view) cutByKubelet() (listLimit, bool) {
	event := v.dnsEvent("search line limits were exceeded")
	if event == "" {
		return listLimit{}, false
	}
	var left []writtenDomain
	for _, source := range []string{v.dnsConfigLine("search"), v.nodeLine("search")} {
		for _, domain := range strings.Fields(source) {
			if domainFits(domain) && !slices.ContainsFunc(v.run.Settings.Search, func(s string) bool { return canonical(s) == canonical(domain) }) {
				left = append(left, writtenDomain{name: domain})
			}
		}
	}
	return listLimit{left: left, why: "the kubelet cut the list: " + clean(event), fact: fact.DNSEvents}, true
}

// dnsEvent returns the first event of the pod that has a phrase in it, in whatever case.
func (v *view) dnsEvent(phrase string) string {
	text, _ := v.facts.Text(fact.DNSEvents)
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), phrase) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// dnsConfigLine returns what the pod's dnsConfig has behind a keyword of resolv.conf.
func (v *view) dnsConfigLine(keyword string) string {
	text, _ := v.facts.Text(fact.DNSConfig)
	for part := range strings.SplitSeq(text, ";") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(part), keyword+" "); ok {
			return rest
		}
	}
	return ""
}

// nodeLine returns what the node's file has behind a keyword: the addresses of all nameserver lines, the list of the last search line.
func (v *view) nodeLine(keyword string) string {
	text, known := v.facts.Text(fact.NodeResolvConf)
	if !known {
		return ""
	}
	var all []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2 || words[0] != keyword:
		case keyword == "nameserver":
			all = append(all, words[1])
		default:
			all = words[1:]
		}
	}
	return strings.Join(all, " ")
}

// askUnread asks for each host that was denied in the domains that are not searched.
func (v *view) askUnread(left []writtenDomain) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		server := v.server(r)
		if !notFound(r) || server == "" || strings.HasSuffix(r.Host, ".") {
			continue
		}
		for _, domain := range left[:min(len(left), mostUnread)] {
			asks = append(asks, ask(probe.Question{Server: server}, r.Host+"."+domain.name))
		}
	}
	return asks
}

// foundUnread returns the first domain that is not searched in which r's host exists, and the reply that says so.
func (v *view) foundUnread(r *probe.Resolution, left []writtenDomain) (writtenDomain, *probe.Resolution) {
	if !notFound(r) {
		return writtenDomain{}, nil
	}
	for _, domain := range left {
		if at := v.foundAt(v.server(r), r.Host+"."+domain.name); at != nil {
			return domain, at
		}
	}
	return writtenDomain{}, nil
}

func (v *view) limitFinding(r, at *probe.Resolution, domain writtenDomain, limit listLimit) probe.Finding {
	effective := listOr(v.run.Settings.Search, "empty")
	f := probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s exists as %s, but %s never asks for that: %s.", clean(r.Host), bare(at.Host), v.libc(), limit.why),
		Explain: fmt.Sprintf("The search list in effect in this container is: %s. %s is not in it, so every host that needs it looks as if it did not exist.",
			effective, bare(domain.name)),
		Evidence: []probe.Evidence{
			{Text: fmt.Sprintf("%s, asked for directly: %s", bare(at.Host), list(answersOf(at))), Resolution: at.ID},
			v.see(r, &r.Attempts[len(r.Attempts)-1]),
		},
		Remedies: []probe.Remedy{
			{
				Text: fmt.Sprintf("Set dnsPolicy to None and write out a shorter list: nameserver %s, search %s, ndots %d.",
					listOr(v.run.Settings.Nameservers, "of the cluster"), v.shortList(), v.run.Settings.Ndots),
				Caveat: "Hosts that are found in a domain left out of the list then need their full name.",
			},
			{Text: fmt.Sprintf("Until then let the application ask for the full name %s.", bare(at.Host))},
			{Text: "Shorten the search list of the nodes where it comes from there.", Caveat: "Pods get it when they are created anew."},
		},
	}
	if limit.fact != "" {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: limit.why, Fact: limit.fact})
	}
	if r.Libc == probe.Musl {
		f.Remedies[0].Caveat += " glibc before 2.26 takes six domains at most, should another container of the pod have it."
	}
	return f
}

// shortList are the search domains of the cluster that the file has, in words.
func (v *view) shortList() string {
	var domains []string
	for _, d := range v.written().search {
		if zone := v.writtenZone(); zone != "" && probe.InZone(d.name, zone) && !slices.Contains(domains, clean(d.name)) {
			domains = append(domains, clean(d.name))
		}
	}
	if len(domains) == 0 {
		return "with only the domains that the workload uses"
	}
	return strings.Join(domains, " ")
}

// writtenZone is the cluster's zone as the file tells it, whether or not the libc reads that line.
func (v *view) writtenZone() string {
	var search []string
	for _, d := range v.written().search {
		search = append(search, d.name)
	}
	return probe.ClusterZone(search)
}

// follows returns the libc that the run follows, with its version.
func (v *view) follows() (probe.Libc, string) {
	if len(v.now) > 0 {
		return v.now[0].Libc, v.now[0].LibcVersion
	}
	return v.run.Resolver.Libc, v.run.Resolver.Version
}

// libcName is how people write the name of a libc.
func libcName(libc probe.Libc) string {
	switch libc {
	case "":
		return "the libc"
	case probe.CAres:
		return "c-ares"
	case probe.Go:
		return "Go"
	}
	return clean(string(libc))
}

// libc names the libc of the run in a sentence.
func (v *view) libc() string {
	libc, version := v.follows()
	return strings.TrimSpace(libcName(libc) + " " + clean(version))
}
