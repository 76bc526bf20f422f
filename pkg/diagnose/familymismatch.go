package diagnose

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// familyMismatch: the host exists, but only with addresses of the family that this pod does not ask for or cannot reach: the lookup asked for
// one type and the name has the other, /etc/hosts has it with the other one (where musl asks nobody else), or all addresses are of a
// family that the pod has no address of.
var familyMismatch = rule{class: "family-mismatch", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		for _, judge := range []func(*probe.Resolution) (probe.Finding, bool){v.otherType, v.otherInHosts, v.unreachableFamily} {
			if f, ok := judge(r); ok {
				findings = append(findings, f)
				break
			}
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		if a, kind := oneType(r); a != nil && v.server(r) != "" {
			asks = append(asks, ask(probe.Question{Server: v.server(r)}, canonical(a.Name), otherOf(kind)))
		}
	}
	return asks
}, page: page{
	needs: "A lookup of one type that ended with no data, and a reply that has the other type; or an entry of /etc/hosts that does not help; or addresses of one family " +
		"only, and the pod's own addresses, which are of the other one.",
	remedies: "An address of the pod's family for the name; a cluster with both families.",
	wrong:    "\"The name does not exist\": it does. ndots and search domains have no part in it.",
}}

func otherOf(kind probe.QueryType) probe.QueryType {
	if kind == probe.TypeA {
		return probe.TypeAAAA
	}
	return probe.TypeA
}

// family names the addresses of a type.
func family(kind probe.QueryType) string {
	if kind == probe.TypeA {
		return "IPv4"
	}
	return "IPv6"
}

// oneType returns the attempt of a lookup that asked for one type only and ended with no data, and that type.
func oneType(r *probe.Resolution) (*probe.Attempt, probe.QueryType) {
	if r.Outcome != probe.NoData {
		return nil, ""
	}
	var empty *probe.Attempt
	var kind probe.QueryType
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if len(a.Queries) != 1 || kind != "" && a.Queries[0].Type != kind {
			return nil, ""
		}
		kind = a.Queries[0].Type
		if a.Outcome == probe.NoData && empty == nil {
			empty = a
		}
	}
	return empty, kind
}

func (v *view) otherType(r *probe.Resolution) (probe.Finding, bool) {
	a, kind := oneType(r)
	if a == nil {
		return probe.Finding{}, false
	}
	known := v.foundAt(v.server(r), canonical(a.Name))
	if known == nil {
		return probe.Finding{}, false
	}
	return probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s has only %s addresses, and this lookup asks for %s only.", bare(a.Name), family(otherOf(kind)), family(kind)),
		Explain:  fmt.Sprintf("The name exists: asked for %s it is answered with no data, asked for %s it has %s. A pod without an address of a family, or an application that is set to one, asks for one only.", kind, otherOf(kind), list(answersOf(known))),
		Evidence: []probe.Evidence{v.see(r, a), {Text: fmt.Sprintf("%s, asked directly for %s: %s", bare(a.Name), otherOf(kind), list(answersOf(known))), Resolution: known.ID}},
		Remedies: []probe.Remedy{{Text: fmt.Sprintf("Give the name an %s address, or the pod one of %s.", family(kind), family(otherOf(kind)))}},
	}, true
}

func (v *view) otherInHosts(r *probe.Resolution) (probe.Finding, bool) {
	if r.AnsweredBy != answeredByHosts || r.Outcome == probe.OK || len(r.Attempts) > 0 {
		return probe.Finding{}, false
	}
	return probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("/etc/hosts has %s with an address of the other family only, and %s then asks no server.", clean(r.Host), libcName(r.Libc)),
		Explain:  "musl takes a name that is in /etc/hosts for answered, even when no address of the wanted family stands there. glibc goes on to DNS.",
		Evidence: []probe.Evidence{{Text: clean(r.Host) + ": in /etc/hosts, no address of the wanted family, no query sent", Resolution: r.ID}},
		Remedies: []probe.Remedy{{Text: "Add an address of the other family to the entry (hostAliases of the pod, or the image), or take the entry out."}},
	}, true
}

// familyOf is the family of an address.
func familyOf(a netip.Addr) string {
	if a.Unmap().Is4() {
		return family(probe.TypeA)
	}
	return family(probe.TypeAAAA)
}

// families are those of the pod's own addresses, as its status tells, else as its interfaces do; none where nobody knows.
func (v *view) families() ([]string, probe.Evidence) {
	if text, known := v.facts.Text(fact.PodIPs); known {
		var out []string
		for _, a := range fact.Addresses(text) {
			out = append(out, familyOf(a))
		}
		return out, probe.Evidence{Text: "addresses of the pod: " + clean(text), Fact: fact.PodIPs}
	}
	own := v.run.Settings.Families
	return own, probe.Evidence{Text: "the pod's interfaces have " + listOr(own, "no") + " addresses only"}
}

// unreachableFamily finds that all addresses are of a family of which the pod has none.
func (v *view) unreachableFamily(r *probe.Resolution) (probe.Finding, bool) {
	own, evidence := v.families()
	if len(own) == 0 || r.Outcome != probe.OK || len(r.Addresses) == 0 || r.AnsweredBy == answeredByLiteral {
		return probe.Finding{}, false
	}
	var has netip.Addr
	for _, s := range r.Addresses {
		a, err := netip.ParseAddr(s)
		if err != nil || a.IsLoopback() || slices.Contains(own, familyOf(a)) {
			return probe.Finding{}, false
		}
		has = a
	}
	kind, mine := probe.TypeAAAA, probe.TypeA
	if has.Is4() {
		kind, mine = probe.TypeA, probe.TypeAAAA
	}
	f := probe.Finding{
		Severity: probe.Critical,
		Title:    fmt.Sprintf("%s has only %s addresses (%s), and this pod has none of that family.", clean(r.Host), family(kind), list(addresses(r))),
		Explain:  fmt.Sprintf("The lookup succeeds, every connection then fails: the pod's own addresses are all %s.", family(mine)),
		Evidence: []probe.Evidence{evidence},
		Remedies: []probe.Remedy{{Text: fmt.Sprintf("Give the name an %s address, reach it through something that has both, or run the pod in a cluster with both families.", family(mine))}},
	}
	if d := decided(r); d != nil {
		f.Evidence = append(f.Evidence, v.see(r, d))
	}
	return f, true
}
