package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// WildcardLabel begins the random label that is asked for in a search domain to find out whether it answers for any name.
const WildcardLabel = "dnsprobe-"

// wildcardSearch: a search domain outside of the cluster answered for the host, and it gives the same address to a random name.
var wildcardSearch = rule{class: "wildcard-search", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		domain := ForeignDomain(*r, v.zone)
		if slices.Contains(v.explained[r.Host], "nxdomain-hijack") {
			// Every name that does not exist has this address: the domain has no wildcard of its own.
			continue
		}
		if test := v.wildcardTest(domain); test != nil && test.Outcome == probe.OK && shareAddress(r, test) {
			findings = append(findings, v.wildcardFinding(r, test, domain))
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		domain := ForeignDomain(*r, v.zone)
		if domain == "" {
			continue
		}
		itself := probe.Variant{Name: probe.VariantDot, TrailingDot: true}
		asks = append(asks,
			FollowUp{Ask: probe.Ask{Host: WildcardLabel + v.label + "." + domain, Purpose: probe.PurposeTest}},
			FollowUp{Ask: probe.Ask{Host: r.Host, Variant: itself, Purpose: probe.PurposeTest}})
	}
	return asks
}, page: page{
	needs: "An answer from a search domain outside of the cluster, and the same address for a random name in that domain. Where " +
		"the host itself exists, its own address is shown beside it.",
	remedies: "For all pods of the node: take the domain out of the node's resolv.conf, or drop the wildcard. For one workload: " +
		"dnsPolicy None with the cluster's nameserver and search domains written out.",
	wrong: "ndots:2 for a host with one dot: it is still searched. Taking the answer for a success because it is NOERROR: the " +
		"address is that of somebody else.",
}}

func (v *view) wildcardFinding(r, test *probe.Resolution, domain string) probe.Finding {
	d, own := decided(r), v.asIs(r.Host)
	f := probe.Finding{
		Severity: probe.Warning,
		Title: fmt.Sprintf("%s gets the answer of %s: the search domain %s answers for any name.",
			clean(r.Host), clean(d.Name), bare(domain)),
		Evidence: []probe.Evidence{
			at(r, d, fmt.Sprintf("%s: %s", clean(d.Name), list(addresses(r)))),
			{Text: fmt.Sprintf("%s, a random name: %s", clean(test.Host), list(addresses(test))), Resolution: test.ID},
		},
		Remedies: []probe.Remedy{
			{Text: fmt.Sprintf("Take %s out of the node's resolv.conf (kubelet resolvConf), or drop the wildcard.", bare(domain))},
			{
				Text: fmt.Sprintf("For this workload alone: dnsPolicy None with nameserver %s, the cluster's search domains and ndots %d written out.",
					listOr(v.run.Settings.Nameservers, "of the cluster"), v.run.Settings.Ndots),
				Caveat: "A lower ndots helps only hosts with at least that many dots.",
			},
		},
	}
	if own == nil || own.Outcome != probe.OK || shareAddress(r, own) {
		f.Explain = fmt.Sprintf("%s is what the wildcard of %s says. If that is not meant, the lookup succeeds with the wrong address, and so "+
			"does every misspelled name.", list(addresses(r)), bare(domain))
		return f
	}
	f.Severity = probe.Critical
	f.Explain = fmt.Sprintf("The lookup succeeds with the wrong address: %s is what the wildcard of %s says, the name itself has %s.",
		list(addresses(r)), bare(domain), list(addresses(own)))
	f.Evidence = append(f.Evidence, probe.Evidence{
		Text: fmt.Sprintf("%s. itself: %s", bare(r.Host), list(addresses(own))), Resolution: own.ID,
	})
	return f
}

func shareAddress(a, b *probe.Resolution) bool {
	return slices.ContainsFunc(a.Addresses, func(addr string) bool { return slices.Contains(b.Addresses, addr) })
}

// ForeignDomain returns the search domain, with its final dot, that answered for r's host although it is not of the cluster's
// zone; empty when none did.
func ForeignDomain(r probe.Resolution, zone string) string {
	d := decided(&r)
	if r.Outcome != probe.OK || d == nil || d.Origin != probe.OriginSearch || isHost(d, &r) || probe.InZone(d.Name, zone) {
		return ""
	}
	prefix := len(strings.TrimSuffix(r.Host, ".")) + 1
	if prefix >= len(d.Name) {
		return ""
	}
	return d.Name[prefix:]
}

// wildcardTest returns the resolution of a random label in domain, nil when there was none or it did not come to an end that
// says anything.
func (v *view) wildcardTest(domain string) *probe.Resolution {
	for _, r := range v.all {
		label, rest, _ := strings.Cut(r.Host, ".")
		if !strings.HasPrefix(label, WildcardLabel) || canonical(rest) != canonical(domain) || domain == "" {
			continue
		}
		if r.Outcome == probe.OK || r.Outcome == probe.NXDomain || r.Outcome == probe.NoData {
			return r
		}
	}
	return nil
}

// asIs returns the resolution of host with a final dot, nil when there was none.
func (v *view) asIs(host string) *probe.Resolution {
	for _, r := range v.all {
		if r.Host == host && r.Variant == probe.VariantDot {
			return r
		}
	}
	return nil
}
