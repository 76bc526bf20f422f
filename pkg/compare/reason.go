package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// rule says why x differs from y in attempt i, where x is the one with the peculiarity; empty when it does not apply. Attempts before i
// are the same on both sides; x or y may have no attempt i.
type rule func(x, y side, i int) string

// rules are tried in order, each in both directions: first what the network did to one side only, then what decides which names are
// tried, then what is made of replies, then only how long that takes.
var rules = []rule{
	otherReplies,
	hostsFile, nothingSent,
	noSearch, rootDomain, longLine, otherSearch, otherNdots, otherServers,
	askedAgain, stops, leavesSearch,
	rotates, noAAAA, overTCP, bothHalves, firstHalf, halfGone, truncated, allAtOnce,
	contentWithHalf, wholeSilence, insists, lateReply,
	cutReply, tooSlow, otherWait,
}

// reason returns why two sides part at attempt i, empty when no reason fits.
func reason(a, b side, i int) string {
	for _, r := range rules {
		for _, pair := range [][2]side{{a, b}, {b, a}} {
			if why := r(pair[0], pair[1], i); why != "" {
				return why
			}
		}
	}
	return ""
}

// otherReplies: the same first question to the same one server was answered on one side and lost on the other. Late replies do not
// count, since it depends on the libc whether they come in time.
func otherReplies(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || ax.Name != ay.Name {
		return ""
	}
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		tx, ty := sent(ax, typ), sent(ay, typ)
		if len(tx) == 0 || len(ty) == 0 || tx[0].Server != ty[0].Server || tx[0].Transport != ty[0].Transport || len(asked(ax)) > 1 || len(asked(ay)) > 1 {
			continue
		}
		if tx[0].Reply == probe.ReplyLost && ty[0].Use == probe.UseAccepted && ty[0].Received != nil && (*ty[0].Received-ty[0].Sent).Duration() < noticeable {
			return fmt.Sprintf("the first %s query of %s got no reply and that of %s did: what the network did differs, not the libc; run again", typ, x.name(), y.name())
		}
	}
	return ""
}

// asked lists the servers that an attempt sent to.
func asked(a *probe.Attempt) []string {
	var servers []string
	for _, typ := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		for _, t := range sent(a, typ) {
			if !slices.Contains(servers, t.Server) {
				servers = append(servers, t.Server)
			}
		}
	}
	return servers
}

func hostsFile(x, y side, _ int) string {
	if x.AnsweredBy == "hosts" && len(x.Attempts) == 0 && len(y.Attempts) > 0 {
		return fmt.Sprintf("%s finds the host in its hosts file; %s does not, and asks DNS", x.name(), y.name())
	}
	return ""
}

func nothingSent(x, y side, _ int) string {
	if x.TransmissionsSent > 0 || y.TransmissionsSent == 0 || x.AnsweredBy == "hosts" || x.AnsweredBy == "literal" {
		return ""
	}
	switch {
	case x.Libc == probe.Glibc && x.conf.Attempts <= 0:
		return "with attempts:0 glibc sends nothing at all"
	case x.Libc == probe.Musl && x.conf.TimeoutSeconds == 0:
		return "with timeout:0 musl gives up before it sends anything"
	case strings.ContainsFunc(x.Host, odd):
		return fmt.Sprintf("%s does not take this for the name of a host and asks nobody; %s asks for it", x.name(), y.name())
	}
	return ""
}

func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// noSearch: musl's name_from_dns_search (src/network/lookup_name.c) has no way from the name itself to the search list.
func noSearch(x, y side, i int) string {
	next := y.attempt(i)
	if x.Libc != probe.Musl || x.attempt(i) != nil || next == nil || next.Origin != probe.OriginSearch || x.attempt(0) == nil || x.Attempts[0].Origin != probe.OriginAsIs {
		return ""
	}
	dots := strings.Count(x.Host, ".")
	if dots < x.conf.Ndots {
		return ""
	}
	return fmt.Sprintf("musl never searches once the name has ndots dots (%s, ndots is %d): it tries the name itself and nothing else; %s goes on with the search list",
		counted(dots, "dot"), x.conf.Ndots, y.name())
}

// rootDomain: musl before 1.2.4 puts a name with two dots at its end into a message that is not well-formed.
func rootDomain(x, y side, i int) string {
	ax := x.attempt(i)
	if x.Libc != probe.Musl || ax == nil || !strings.HasSuffix(ax.Name, "..") || !otherNames(x, y, i) {
		return ""
	}
	return "for the search domain \".\" musl before 1.2.4 sends a malformed name; " + y.name() + " does not"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// otherNames says whether the two try different names in attempt i.
func otherNames(x, y side, i int) bool {
	ax, ay := x.attempt(i), y.attempt(i)
	return ax == nil || ay == nil || ax.Name != ay.Name
}

// muslLine is the longest line in bytes that musl reads (src/network/resolvconf.c has a buffer of 256 with the newline and the final
// zero in it).
const muslLine = 254

func longLine(x, y side, i int) string {
	if x.Libc != probe.Musl || !otherNames(x, y, i) || strings.Join(x.conf.Search, " ") == strings.Join(y.conf.Search, " ") {
		return ""
	}
	for line := range strings.SplitSeq(x.raw, "\n") {
		if len(line) > muslLine && (strings.HasPrefix(line, "search") || strings.HasPrefix(line, "domain")) {
			return fmt.Sprintf("musl ignores lines of more than %d characters, and the %s line has %d: it searches %s where %s searches %s",
				muslLine, line[:len("search")], len(line), counted(len(x.conf.Search), "domain"), y.name(), counted(len(y.conf.Search), "domain"))
		}
	}
	return ""
}

func otherSearch(x, y side, i int) string {
	if !otherNames(x, y, i) || strings.Join(x.conf.Search, " ") == strings.Join(y.conf.Search, " ") {
		return ""
	}
	from := func(s side) string {
		if len(s.conf.Search) == 0 {
			return "nothing"
		}
		list := strings.Join(s.conf.Search[:min(len(s.conf.Search), 6)], " ")
		switch s.conf.SearchFrom {
		case "hostname":
			return list + " (the domain of the machine's own host name)"
		case "LOCALDOMAIN":
			return list + " (LOCALDOMAIN in the environment)"
		}
		return list
	}
	return fmt.Sprintf("they read the search list differently: %s searches %s; %s searches %s", x.name(), from(x), y.name(), from(y))
}

func otherNdots(x, y side, i int) string {
	dots := strings.Count(x.Host, ".")
	if !otherNames(x, y, i) || (dots >= x.conf.Ndots) == (dots >= y.conf.Ndots) {
		return ""
	}
	text := fmt.Sprintf("they read ndots differently: %d is in force for %s, %d for %s", x.conf.Ndots, x.name(), y.conf.Ndots, y.name())
	if x.env["RES_OPTIONS"] != "" {
		text += ", and not all of them heed RES_OPTIONS in the environment"
	}
	return text
}

func otherServers(x, y side, i int) string {
	ax, ay := x.attempt(i), y.attempt(i)
	if ax == nil || ay == nil || len(x.conf.Nameservers) == 0 || len(y.conf.Nameservers) == 0 {
		return ""
	}
	servers := func(s side) string {
		var list []string
		for _, a := range s.conf.Nameservers {
			list = append(list, a.String())
		}
		return strings.Join(list[:min(len(list), 6)], " ")
	}
	if servers(x) == servers(y) {
		return ""
	}
	return fmt.Sprintf("they read the nameserver lines differently: %s asks %s; %s asks %s", x.name(), servers(x), y.name(), servers(y))
}

// askedAgain: glibc's get_nss_addresses calls the module again with a buffer twice as large, which asks everything anew.
func askedAgain(x, y side, i int) string {
	again, before := x.attempt(i), x.attempt(i-1)
	if x.Libc != probe.Glibc || again == nil || before == nil || y.attempt(i) != nil || before.Outcome != probe.OK || again.Name != x.Attempts[0].Name {
		return ""
	}
	return "the answer does not fit glibc's buffer of 1024 bytes, so it asks everything again with a larger one; " + y.name() + " asks once"
}

// stops: x ends the walk after an attempt that the other goes on from.
func stops(x, y side, i int) string {
	last := x.attempt(i - 1)
	if last == nil || x.attempt(i) != nil || y.attempt(i) == nil {
		return ""
	}
	goesOn := "; " + y.name() + " goes on with the next name"
	switch {
	case x.Libc == probe.Musl && last.Outcome == probe.NoData:
		return "musl stops at a name that has no address (NODATA)" + goesOn
	case x.Libc == probe.Musl && worse(last.Outcome) == probe.Fail:
		return "musl ends the lookup when a name gets no usable reply" + goesOn
	case x.Libc == probe.CAres && worse(last.Outcome) == probe.Fail:
		return "c-ares ends the lookup after a timeout or an error" + goesOn
	case x.Libc == probe.Glibc && last.Outcome == probe.Unreachable:
		return "glibc ends the lookup when every server is unreachable" + goesOn
	case x.Libc == probe.Glibc && last.Outcome == probe.Timeout && y.attempt(i).Origin == probe.OriginSearch:
		return "glibc leaves the search list after a timeout" + goesOn
	case x.Libc == probe.Glibc && onlyCNAME(last):
		return "glibc stops at a CNAME that leads to no address" + goesOn
	}
	return ""
}

func onlyCNAME(a *probe.Attempt) bool {
	found := false
	for i := range a.Queries {
		for _, r := range a.Queries[i].Answers {
			if r.Type != "CNAME" {
				return false
			}
			found = true
		}
	}
	return found
}

// leavesSearch: glibc's __res_context_search breaks off its loop over the search list after a timeout or an unusual rcode, and then
// tries the name itself; others go on with the next domain.
func leavesSearch(x, y side, i int) string {
	ax, ay, last := x.attempt(i), y.attempt(i), x.attempt(i-1)
	if x.Libc != probe.Glibc || ax == nil || ay == nil || last == nil || worse(last.Outcome) != probe.Fail ||
		ax.Origin != probe.OriginAsIs || ay.Origin != probe.OriginSearch {
		return ""
	}
	return fmt.Sprintf("glibc leaves the search list after %s and tries the name itself; %s goes on with the next domain", word(last), y.name())
}
