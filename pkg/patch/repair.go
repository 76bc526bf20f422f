package patch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/diagnose"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
)

// Repairs are the changes that the findings of a run call for, the best first, and whether they come before a change of ndots. None of
// them has been tried. A finding that no setting of the pod can mend has none.
type Repairs struct {
	// First are tried before ndots, Last when no value of ndots helps.
	First, Last []Change
	// Hopeless names the class of a cause that no dnsConfig helps against: then nothing is proposed. Empty when there is none.
	Hopeless string
}

// All are all changes, in order.
func (r Repairs) All() []Change { return slices.Concat(r.First, r.Last) }

// hopeless are causes that lie outside of the pod, or in the name. A change that only saves queries would not touch them, and whoever
// reads of it would think that it does.
var hopeless = []string{
	"stub-loopback", "kubelet-dns-config", "stale-resolvconf", "wrong-cluster-domain", "mesh-dns", "no-endpoints", "egress-blocked", "egress-blocked-udp",
	"tcp53-blocked", "dead-backend", "rollout-window", "conntrack-full", "overlay-udp", "large-udp-lost", "truncated-no-tc", "edns-rejected",
	"nodelocal-upstream", "server-overload", "upstream-inconsistent", "upstream-servfail", "aaaa-servfail", "lame-nodata", "multi-nameserver",
	"nxdomain-hijack", "namespace-shadow", "autopath-mismatch",
}

// repairers have, for a class, the changes that can mend it.
var repairers = map[string]func(*repairer) []Change{
	"wildcard-search":    (*repairer).withoutWildcard,
	"search-limit":       (*repairer).shorterSearch,
	"resolvconf-invalid": (*repairer).cleanSearch,
	"nameserver-limit":   (*repairer).omittedFirst,
	"dead-nameserver":    (*repairer).liveServers,
	"nodelocal-blocked":  (*repairer).aroundTheCache,
	"wrong-dns-policy":   (*repairer).clusterPolicy,
	"aaaa-blackhole":     (*repairer).withoutAAAA,
	"half-pair-loss":     (*repairer).apartFromEachOther,
}

// lastRepairers are those for which a change of ndots is the smaller one.
var lastRepairers = map[string]func(*repairer) []Change{
	"nodata-in-search":   (*repairer).withoutDomain,
	"servfail-in-search": (*repairer).withoutDomain,
	"refused-in-search":  (*repairer).withoutDomain,
	"timeout-in-search":  (*repairer).withoutDomain,
}

// RepairsOf returns what the findings of run call for. Hosts are their resolutions under the settings as they are.
func RepairsOf(run probe.Run, hosts []probe.Resolution) Repairs {
	r := newRepairer(run, hosts)
	var out Repairs
	add := func(list []Change, class string, make func(*repairer) []Change) []Change {
		for _, c := range make(r) {
			c.Class = class
			known := func(other Change) bool { return other.Variant.Label() == c.Variant.Label() }
			if c.possible() == nil && !slices.ContainsFunc(out.All(), known) {
				list = append(list, c)
			}
		}
		return list
	}
	for i, f := range run.Findings {
		if i == 0 && slices.Contains(hopeless, f.Class) {
			return Repairs{Hopeless: f.Class}
		}
		if make, ok := repairers[f.Class]; ok {
			out.First = add(out.First, f.Class, make)
		}
		if make, ok := lastRepairers[f.Class]; ok {
			out.Last = add(out.Last, f.Class, make)
		}
	}
	return out
}

// repairer is a run as repairs look at it.
type repairer struct {
	run   probe.Run
	facts fact.Facts
	hosts []probe.Resolution
	zone  string
	// written is the resolv.conf without what the environment changes and without the limits of any libc but the oldest.
	written resolvconf.Config
}

func newRepairer(run probe.Run, hosts []probe.Resolution) *repairer {
	r := &repairer{run: run, facts: run.Facts, hosts: hosts, zone: probe.ClusterZone(run.Settings.Search)}
	r.written = resolvconf.ParseGlibc(run.Settings.Raw, resolvconf.Inputs{})
	if r.zone == "" {
		r.zone = probe.ClusterZone(r.written.Search)
	}
	return r
}

// none is the change to dnsPolicy None with these lists and the options that are in force: all that the kubelet adds by itself under
// another policy, ndots:5 above all, is gone under this one.
func (r *repairer) none(what string, nameservers, search []string, caveats ...string) Change {
	search = lower(search)
	// A list that stays as it is need not be put into the variant.
	v := probe.Variant{Name: "dnsPolicy None " + what}
	if !slices.Equal(search, lower(r.run.Settings.Search)) {
		v.Search = search
	}
	if !slices.Equal(nameservers, r.run.Settings.Nameservers) {
		v.Nameservers = nameservers
	}
	c := Change{
		Variant: v,
		Policy:  PolicyNone, Nameservers: nameservers, Searches: search, Options: withOptions(nil, asOptions(r.written.Options)), Caveats: caveats,
	}
	c.Caveats = append(c.Caveats, "With dnsPolicy None the pod no longer follows the cluster: when the address of the cluster's DNS or the node's search domains "+
		"change, this list has to be changed too.")
	return c
}

// lower returns domains as the API server takes them: it refuses capitals, which DNS does not tell apart.
func lower(domains []string) []string {
	out := []string{}
	for _, d := range domains {
		out = append(out, strings.ToLower(d))
	}
	return out
}

func (r *repairer) nameservers() []string { return slices.Clone(r.run.Settings.Nameservers) }

// without returns the search list without some of its domains.
func (r *repairer) without(gone func(string) bool) (left, taken []string) {
	left = []string{}
	for _, d := range r.written.Search {
		if gone(d) {
			taken = append(taken, d)
		} else {
			left = append(left, d)
		}
	}
	return left, taken
}

func sameDomain(a, b string) bool {
	return strings.EqualFold(strings.Trim(a, "."), strings.Trim(b, "."))
}

// withoutWildcard takes away the search domains that answered for hosts and answer for any name.
func (r *repairer) withoutWildcard() []Change {
	left, taken := r.without(func(d string) bool {
		return slices.ContainsFunc(r.hosts, func(h probe.Resolution) bool {
			foreign := diagnose.ForeignDomain(h, r.zone)
			return foreign != "" && sameDomain(foreign, d)
		})
	})
	if len(taken) == 0 {
		return nil
	}
	c := r.none("without "+strings.Join(taken, " and "), r.nameservers(), left,
		fmt.Sprintf("Pods of other workloads still get %s from the node's resolv.conf.", strings.Join(taken, " and ")))
	c.Replaces = taken
	return []Change{c}
}

// shorterSearch keeps as many search domains, from the first on, as the libc reads.
func (r *repairer) shorterSearch() []Change {
	all := r.written.Search
	for n := len(all) - 1; n > 0; n-- {
		if r.reads(all[:n]) {
			return []Change{r.none(fmt.Sprintf("with %d of %d search domains", n, len(all)), r.nameservers(), all[:n],
				fmt.Sprintf("Names that need one of the last %d search domains have to be written in full: %s.", len(all)-n, strings.Join(all[n:], ", ")))}
		}
	}
	return nil
}

// reads says whether the libc of the run reads a search list as a whole.
func (r *repairer) reads(search []string) bool {
	libc, version := r.run.Resolver.Libc, r.run.Resolver.Version
	if len(r.hosts) > 0 {
		libc, version = r.hosts[0].Libc, r.hosts[0].LibcVersion
	}
	c, err := resolvconf.Parse(resolvconf.Libc(libc), resolvconf.WithSearch(r.run.Settings.Raw, search), resolvconf.Inputs{Version: version})
	return err == nil && len(c.Search) == len(search)
}

// cleanSearch takes away what is no domain: a lone dot, words of a comment.
func (r *repairer) cleanSearch() []Change {
	left, taken := r.without(func(d string) bool { return !searchDomain(strings.ToLower(d)) })
	servers := slices.DeleteFunc(r.nameservers(), func(s string) bool {
		addr, err := netip.ParseAddr(s)
		return err != nil || addr.IsLoopback()
	})
	if len(taken) == 0 || len(servers) == 0 {
		return nil
	}
	var words []string
	for _, d := range taken {
		words = append(words, fmt.Sprintf("%q", d))
	}
	return []Change{r.none("without "+strings.Join(words, " and "), servers, left,
		fmt.Sprintf("Where %s comes from the node's resolv.conf, pods of other workloads still have it.", strings.Join(words, " and ")))}
}

// omittedFirst puts a nameserver first that was left out because three others are there.
func (r *repairer) omittedFirst() []Change {
	node, _ := r.facts.Text(fact.NodeResolvConf)
	var omitted []string
	for _, text := range []string{r.run.Settings.Raw, node} {
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) < 2 || words[0] != "nameserver" || slices.Contains(r.run.Settings.Nameservers, words[1]) || slices.Contains(omitted, words[1]) {
				continue
			}
			if _, err := netip.ParseAddr(words[1]); err == nil {
				omitted = append(omitted, words[1])
			}
		}
	}
	var out []Change
	for _, s := range omitted {
		if !r.knows(s) {
			continue
		}
		list := append([]string{s}, r.nameservers()...)
		out = append(out, r.none("with "+s+" first", list[:min(len(list), maxNameservers)], r.written.Search,
			fmt.Sprintf("Adding %s through dnsConfig.nameservers under the present dnsPolicy does nothing: what is added comes last, and only %d count.", s, maxNameservers)))
	}
	return out
}

// knows says whether a server answered with an address when it was asked directly, or was not asked at all.
func (r *repairer) knows(server string) bool {
	asked := false
	for _, res := range r.run.Resolutions {
		if res.Question == nil || res.Question.Server != server {
			continue
		}
		if asked = true; res.Outcome == probe.OK {
			return true
		}
	}
	return !asked
}

// liveServers leaves out the servers that never replied. Waiting less for them is the smaller change, and leaves a wait.
func (r *repairer) liveServers() []Change {
	replied, silent := map[string]bool{}, map[string]bool{}
	for _, res := range r.run.Resolutions {
		for _, a := range res.Attempts {
			for _, q := range a.Queries {
				for _, t := range q.Transmissions {
					server := strings.Trim(strings.TrimSuffix(t.Server, ":53"), "[]")
					replied[server] = replied[server] || t.Received != nil
					silent[server] = silent[server] || t.Received == nil && t.Reply != probe.ReplyAbandoned
				}
			}
		}
	}
	var live, dead []string
	for _, s := range r.nameservers() {
		if silent[s] && !replied[s] {
			dead = append(dead, s)
		} else {
			live = append(live, s)
		}
	}
	if len(dead) == 0 || len(live) == 0 {
		return nil
	}
	without := strings.Join(dead, " and ")
	return []Change{
		r.none("without nameserver "+without, live, r.written.Search, fmt.Sprintf("When %s comes back, this workload does not use it.", without)),
		setting("timeout:1"),
	}
}

// aroundTheCache asks the cluster's DNS past a node cache that cannot be reached.
func (r *repairer) aroundTheCache() []Change {
	text, _ := r.facts.Text(fact.DNSService)
	servers := addresses(text)
	if len(servers) == 0 {
		return nil
	}
	return []Change{r.none("with nameserver "+strings.Join(servers, " and "), servers, r.written.Search,
		"A stopgap: it goes around the NodeLocal DNSCache. To keep the cache, allow egress to its address on port 53, UDP and TCP.")}
}

func addresses(text string) []string {
	var out []string
	for _, a := range fact.Addresses(text) {
		if len(out) < maxNameservers {
			out = append(out, a.String())
		}
	}
	return out
}

// clusterPolicy is the policy for pods that use the cluster's DNS, on the node's network or on their own.
func (r *repairer) clusterPolicy() []Change {
	text, _ := r.facts.Text(fact.DNSService)
	servers, namespace := addresses(text), r.run.Target.Namespace
	zone, known := r.facts.Text(fact.ClusterDomain)
	if !known {
		zone = "cluster.local"
	}
	if len(servers) == 0 || namespace == "" {
		return nil
	}
	policy := PolicyHostNet
	if text, known := r.facts.Text(fact.HostNetwork); known && text != "true" {
		policy = PolicyClusterFirst
	}
	// What the kubelet writes then (k8s.io/kubernetes pkg/kubelet/network/dns, generateSearchesForDNSClusterFirst).
	search := append([]string{namespace + ".svc." + zone, "svc." + zone, zone}, r.written.Search...)
	return []Change{{
		Variant: probe.Variant{Name: "dnsPolicy " + policy, Search: search, Nameservers: servers, Options: []string{"ndots:5"}},
		Policy:  policy,
	}}
}

// withoutAAAA stops asking what is never answered, where the libc can; else it waits less.
func (r *repairer) withoutAAAA() []Change {
	noAAAA, quicker := setting("no-aaaa"), setting("timeout:1")
	noAAAA.Caveats = []string{
		"no-aaaa is heeded by glibc 2.36 and later only: musl and Go ignore it, a Go program built with cgo changes to glibc's resolver because of it, and " +
			"hickory-resolver 0.25 rejects the whole file.",
		"Hosts that have only IPv6 addresses no longer resolve.",
	}
	if len(r.hosts) > 0 && r.hosts[0].Libc != probe.Glibc {
		return []Change{quicker}
	}
	return []Change{noAAAA, quicker}
}

// apartFromEachOther keeps the two queries of a pair from meeting each other on the way, where the libc can; on musl it repeats sooner.
func (r *repairer) apartFromEachOther() []Change {
	const unseen = "A few tries cannot show whether the waits end, since they come now and then: compare before and after with --count 200."
	libc := r.run.Resolver.Libc
	if len(r.hosts) > 0 {
		libc = r.hosts[0].Libc
	}
	var c Change
	switch libc {
	case probe.Glibc:
		c = setting("single-request-reopen")
		c.Caveats = []string{"Go treats it as single-request, and musl ignores it. The lasting remedy is NodeLocal DNSCache."}
	case probe.Musl:
		c = setting("timeout:5", "attempts:10")
		c.Caveats = []string{"musl then sends again every 0.5 s. Containers with glibc or Go in the same pod would try 10 times 5 s on a server that is dead."}
	default:
		return nil
	}
	c.Unseen = unseen
	return []Change{c}
}

// withoutDomain takes away the search domains outside of the cluster's zone that hosts were asked in for nothing.
func (r *repairer) withoutDomain() []Change {
	if r.zone == "" {
		return nil
	}
	left, taken := r.without(func(d string) bool {
		return !probe.InZone(d, r.zone) && slices.ContainsFunc(r.hosts, func(h probe.Resolution) bool { return stumbled(h, d) })
	})
	if len(taken) == 0 {
		return nil
	}
	return []Change{r.none("without "+strings.Join(taken, " and "), r.nameservers(), left)}
}

// stumbled says whether an attempt of r in a search domain was answered otherwise than that there is no such name.
func stumbled(r probe.Resolution, domain string) bool {
	return slices.ContainsFunc(r.Attempts, func(a probe.Attempt) bool {
		return a.Origin == probe.OriginSearch && a.Outcome != probe.NXDomain && a.Outcome != probe.OK &&
			strings.HasSuffix(strings.ToLower(a.Name), "."+strings.ToLower(strings.Trim(domain, "."))+".")
	})
}
