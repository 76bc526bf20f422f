package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// mostNameservers is how many nameservers of a resolv.conf count: glibc, musl and Go use no more (glibc resolv.h MAXNS), and the kubelet
// writes no more (k8s.io/kubernetes pkg/apis/core/validation, MaxDNSNameservers).
const mostNameservers = 3

// mostLeftAsked bounds how many nameservers are asked that were left out.
const mostLeftAsked = 2

// nameserverLimit: more than three nameservers were meant, the last of them were left out, and one of those knows the host that the
// three deny.
var nameserverLimit = rule{class: "nameserver-limit", judge: func(v *view) []probe.Finding {
	left, event := v.nameserversLeft()
	var findings []probe.Finding
	for _, r := range v.now {
		if !notFound(r) {
			continue
		}
		if f, ok := v.nameserverFinding(r, left, event); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	left, _ := v.nameserversLeft()
	var asks []FollowUp
	for _, r := range v.now {
		if !notFound(r) {
			continue
		}
		for _, server := range left[:min(len(left), mostLeftAsked)] {
			asks = append(asks, ask(probe.Question{Server: server, Tries: 1}, v.likelyName(r)))
		}
	}
	return asks
}, page: page{
	needs: "A fourth nameserver: in the resolv.conf itself, in the node's file or dnsConfig while the pod has three others, or an event " +
		"DNSConfigForming that says that some were omitted; a host that the three deny. Where the omitted one is known it is asked, and has to know the host.",
	remedies: "dnsPolicy None with the nameserver that knows the zone first. Better for all: one nameserver that forwards each zone to whoever knows it.",
	wrong: "Adding the nameserver through dnsConfig.nameservers: those come after the ones that are there, and are the first to be cut. A libc also " +
		"never asks a second nameserver because the first one denied a name.",
}}

// nameserversLeft returns the nameservers that were meant and are not asked, and the event that tells of it, empty without one.
func (v *view) nameserversLeft() (left []string, event string) {
	if event = v.dnsEvent("nameservers have been omitted"); event == "" {
		event = v.dnsEvent("nameserver limits were exceeded")
	}
	used := v.run.Settings.Nameservers
	full := len(used) >= mostNameservers
	if !full {
		return nil, ""
	}
	add := func(list []string) {
		for _, s := range list {
			if isAddress(s) && !slices.Contains(used, s) && !slices.Contains(left, s) {
				left = append(left, s)
			}
		}
	}
	add(v.written().nameservers)
	add(strings.Fields(v.dnsConfigLine("nameserver")))
	if policy, _ := v.facts.Text(fact.DNSPolicy); policy == "Default" || policy == "ClusterFirst" && v.onNodesNetwork() || event != "" && policy == "" {
		node := strings.Fields(v.nodeLine("nameserver"))
		// Where none of the three is the node's, the file has changed since, which is another fault.
		if slices.ContainsFunc(node, func(s string) bool { return slices.Contains(used, s) }) {
			add(node)
		}
	}
	return left, event
}

func (v *view) onNodesNetwork() bool {
	text, _ := v.facts.Text(fact.HostNetwork)
	return text == "true"
}

// likelyName is the name that r's host most likely means: itself when it has a dot, else in the first search domain.
func (v *view) likelyName(r *probe.Resolution) string {
	if dots(r.Host) > 0 || len(v.run.Settings.Search) == 0 || !domainFits(v.run.Settings.Search[0]) {
		return r.Host
	}
	return r.Host + "." + v.run.Settings.Search[0]
}

func (v *view) nameserverFinding(r *probe.Resolution, left []string, event string) (probe.Finding, bool) {
	f := probe.Finding{Severity: probe.Critical, Evidence: []probe.Evidence{v.see(r, &r.Attempts[len(r.Attempts)-1])}}
	if event != "" {
		f.Evidence = append(f.Evidence, probe.Evidence{Text: clean(event), Fact: fact.DNSEvents})
	}
	limit := fmt.Sprintf("Three nameservers are the most that a pod gets and that %s asks: %s.", libcName(r.Libc), listOr(v.run.Settings.Nameservers, ""))
	for _, server := range left {
		known := v.foundAt(server, v.likelyName(r))
		if known == nil {
			continue
		}
		f.Title = fmt.Sprintf("%s is known to nameserver %s, which was left out: it is beyond the limit of three nameservers.", clean(r.Host), clean(server))
		f.Explain = limit + fmt.Sprintf(" The one left out is %s, and it has the name. The three say that it does not exist.", clean(server))
		f.Evidence = append(f.Evidence, probe.Evidence{Text: fmt.Sprintf("%s, asked directly for %s: %s", clean(server), bare(known.Host), list(answersOf(known))), Resolution: known.ID})
		f.Remedies = v.nameserverRemedies(server)
		return f, true
	}
	if event == "" || len(left) > 0 {
		return probe.Finding{}, false
	}
	f.Severity = probe.Warning
	f.Title = fmt.Sprintf("Nameservers were left out of this pod's resolv.conf, and those that are in it say that %s does not exist.", clean(r.Host))
	f.Explain = limit + " Which were left out, and whether one of them knows the name, is not known from here: look at the node's file and at dnsConfig."
	f.Remedies = v.nameserverRemedies("")
	return f, true
}

func (v *view) nameserverRemedies(server string) []probe.Remedy {
	none := "Set dnsPolicy to None and write out three nameservers, first the one that knows the zone."
	if server != "" {
		first := append([]string{clean(server)}, v.run.Settings.Nameservers[:mostNameservers-1]...)
		none = fmt.Sprintf("Set dnsPolicy to None with nameservers %s, search %s and ndots %d.", listOr(first, ""), listOr(v.run.Settings.Search, "empty"), v.run.Settings.Ndots)
	}
	return []probe.Remedy{
		{Text: none, Caveat: "Adding it through dnsConfig.nameservers does nothing while dnsPolicy stays: additions come last and are cut."},
		{Text: "For all pods: shorten the node's file to three, or let one nameserver forward each zone to the server that knows it."},
	}
}
