package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// trouble is what resolutions met that another setting than the order of names could change.
type trouble struct {
	// halfLost: one query of a pair was lost and answered when it was sent again, while the other was answered at once. A query that is
	// never answered is another trouble: sending it in another way changes nothing.
	halfLost bool
	// lost: a message over UDP got no reply. failed: that cost a resolution its answer.
	lost, failed bool
	// aaaa: the A query of an attempt was answered with data, and the AAAA query was lost, or answered with SERVFAIL.
	aaaa bool
	// tcp: TCP was tried and did not work, so that use-vc would make things worse.
	tcp bool
	// servers: a server was silent or closed, or the answers did not lead to an address.
	servers bool
	// asked are the servers that were sent something, and whether one of their replies came.
	asked map[string]bool
}

// silent says whether a server was asked and never answered.
func (t trouble) silent(server string) bool {
	replied, asked := t.asked[server]
	return asked && !replied
}

// troubleOf looks for trouble in resolutions under the settings as they are.
func troubleOf(resolutions []probe.Resolution) trouble {
	t := trouble{asked: map[string]bool{}}
	for i := range resolutions {
		r := &resolutions[i]
		t.servers = t.servers || r.Outcome != probe.OK
		for j := range r.Attempts {
			t.attempt(r, &r.Attempts[j])
		}
	}
	return t
}

func (t *trouble) attempt(r *probe.Resolution, a *probe.Attempt) {
	lost, late, answered := 0, 0, 0
	for _, q := range a.Queries {
		gone := false
		for _, x := range q.Transmissions {
			if server, ok := serverAddr(x.Server); ok {
				t.asked[server.String()] = t.asked[server.String()] || x.Received != nil
			}
			missing := x.Received == nil && (x.Reply == probe.ReplyLost || x.Reply == probe.ReplyICMPRefused || x.Reply == probe.ReplyUnreachable)
			gone = gone || x.Reply == probe.ReplyLost && x.Transport == probe.UDP
			t.servers = t.servers || missing
			t.tcp = t.tcp || x.Transport == probe.TCP && (missing || x.Reply == probe.ReplyClosed)
		}
		switch {
		case gone && q.Rcode != "":
			lost, late = lost+1, late+1
		case gone:
			lost++
		case q.Rcode != "":
			answered++
		}
	}
	t.lost = t.lost || lost > 0
	t.failed = t.failed || lost > 0 && r.Outcome != probe.OK
	t.halfLost = t.halfLost || late == 1 && answered == 1
	t.aaaa = t.aaaa || aaaaFails(a)
}

// aaaaFails says whether an attempt got addresses for A and no usable reply for AAAA.
func aaaaFails(a *probe.Attempt) bool {
	found, failed := false, false
	for _, q := range a.Queries {
		switch q.Type {
		case probe.TypeA:
			found = q.Rcode == "NOERROR" && len(q.Answers) > 0
		case probe.TypeAAAA:
			failed = len(q.Transmissions) > 0 && (q.Rcode == "" || q.Rcode == "SERVFAIL")
		}
	}
	return found && failed
}

// remedyOption is an option that some trouble calls for.
type remedyOption struct {
	words []string
	when  func(trouble) bool
	// by says which libcs heed it.
	by func(probe.Libc, string) bool
}

// glibcOrGo are the libcs that heed most options; musl and c-ares read a few only (package resolvconf has the details).
func glibcOrGo(l probe.Libc, _ string) bool { return l == probe.Glibc || l == probe.Go }

func glibcOnly(l probe.Libc, _ string) bool { return l == probe.Glibc }

func muslOnly(l probe.Libc, _ string) bool { return l == probe.Musl }

// notMusl: musl's timeout covers all tries together, so that a lower one takes tries away. c-ares before 1.20 does not know the word.
func notMusl(l probe.Libc, version string) bool {
	v, known := resolvconf.ParseVersion(version)
	return l == probe.Glibc || l == probe.Go || l == probe.CAres && (!known || v.AtLeast(1, 20))
}

// noAAAA came with glibc 2.36.
func noAAAA(l probe.Libc, version string) bool {
	v, known := resolvconf.ParseVersion(version)
	return l == probe.Glibc && (!known || v.AtLeast(2, 36))
}

func halfLost(t trouble) bool { return t.halfLost }

// options are what resolv.conf offers against trouble. Go treats single-request-reopen as single-request (net, dnsReadConfig), so it is
// offered only one of them. musl sends again every timeout/attempts seconds.
var options = []remedyOption{
	{[]string{"single-request"}, halfLost, glibcOrGo},
	{[]string{"single-request-reopen"}, halfLost, glibcOnly},
	{[]string{"use-vc"}, func(t trouble) bool { return t.halfLost && !t.tcp }, glibcOrGo},
	{[]string{"no-aaaa"}, func(t trouble) bool { return t.aaaa }, noAAAA},
	{[]string{"timeout:1"}, func(t trouble) bool { return t.lost }, notMusl},
	{[]string{"timeout:1", "attempts:5"}, func(t trouble) bool { return t.failed }, notMusl},
	{[]string{"timeout:5", "attempts:10"}, func(t trouble) bool { return t.halfLost }, muslOnly},
}

// OptionVariant is the variant that sets resolv.conf options.
func OptionVariant(words ...string) probe.Variant {
	return probe.Variant{Name: strings.Join(words, " "), Options: words}
}

// againstTrouble returns the variants that could change what the resolutions under the settings as they are met, and a sentence
// about options that are often advised against it and that the libc ignores; empty when there are none.
func againstTrouble(s probe.Settings, resolutions []probe.Resolution) (variants []probe.Variant, ignored string) {
	if len(resolutions) == 0 {
		return nil, ""
	}
	t := troubleOf(resolutions)
	libc, version := resolutions[0].Libc, resolutions[0].LibcVersion
	var deaf []string
	for _, o := range options {
		switch {
		case !o.when(t) || inForce(s, o.words):
		case o.by(libc, version):
			variants = append(variants, OptionVariant(o.words...))
		case len(o.words) == 1 && !strings.Contains(o.words[0], ":"):
			deaf = append(deaf, o.words[0])
		}
	}
	if len(deaf) > 0 {
		ignored = fmt.Sprintf("%s ignores %s, so they are not tried", resolverName(libc, version), strings.Join(deaf, ", "))
		if len(deaf) == 1 {
			ignored = fmt.Sprintf("%s ignores %s, so it is not tried", resolverName(libc, version), deaf[0])
		}
	}
	if t.servers && len(s.Nameservers) > 1 {
		for _, server := range s.Nameservers {
			// One that has never answered would only take its time.
			if !t.silent(server) {
				variants = append(variants, OnlyServers(server))
			}
		}
	}
	return variants, ignored
}

func resolverName(l probe.Libc, version string) string {
	if version == "" {
		return string(l)
	}
	upstream, _, _ := strings.Cut(version, "-")
	return string(l) + " " + upstream
}

// inForce says whether the settings have all these options already.
func inForce(s probe.Settings, words []string) bool {
	for _, w := range words {
		switch {
		case w == fmt.Sprintf("timeout:%d", s.TimeoutSeconds), w == fmt.Sprintf("attempts:%d", s.Attempts), slices.Contains(s.Options, w):
		default:
			return false
		}
	}
	return true
}

// OnlyServers is the variant that asks these nameservers alone.
func OnlyServers(servers ...string) probe.Variant {
	return probe.Variant{Name: "only " + strings.Join(servers, " and "), Nameservers: servers}
}

// Without is the variant with these domains taken out of the search list.
func Without(search []string, domains ...string) probe.Variant {
	left := []string{}
	for _, d := range search {
		if !slices.Contains(domains, d) {
			left = append(left, d)
		}
	}
	return probe.Variant{Name: "without " + strings.Join(domains, " and "), Search: left}
}

// shorter returns the variants with a shorter search list: without each domain outside of the cluster's zone that a host was asked in
// for nothing, and without all of them.
func shorter(s probe.Settings, hosts []probe.Resolution) []probe.Variant {
	zone := probe.ClusterZone(s.Search)
	if _, fixed := s.Env["LOCALDOMAIN"]; fixed || zone == "" {
		// Without a zone nobody knows which domains are the cluster's; LOCALDOMAIN is stronger than the file.
		return nil
	}
	var foreign []string
	for i, d := range s.Search {
		if !probe.InZone(d, zone) && strings.Trim(d, ".") != "" && slices.ContainsFunc(hosts, func(r probe.Resolution) bool { return askedInVain(r, i) }) {
			foreign = append(foreign, d)
		}
	}
	var out []probe.Variant
	for i, d := range foreign {
		if i < mostShorter {
			out = append(out, Without(s.Search, d))
		}
	}
	if len(foreign) > 1 {
		out = append(out, Without(s.Search, foreign...))
	}
	return out
}

// mostShorter bounds the search domains that are tried to be taken away one by one.
const mostShorter = 3

// askedInVain says whether r asked in the search domain of this index and got nothing for it, and the walk was worth shortening.
func askedInVain(r probe.Resolution, index int) bool {
	return walked(r) && slices.ContainsFunc(r.Attempts, func(a probe.Attempt) bool {
		return a.Origin == probe.OriginSearch && a.SearchIndex == index && len(a.Queries) > 0 && !a.Decided
	})
}
