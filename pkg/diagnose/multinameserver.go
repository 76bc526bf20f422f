package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// multiNameserver: the settings have several nameservers that do not know the same names. musl asks all of them at once and takes the
// first reply, so the host is found or not by chance; glibc, Go and c-ares take the first one's NXDOMAIN as final and never ask the next.
var multiNameserver = rule{class: "multi-nameserver", judge: func(v *view) []probe.Finding {
	var findings []probe.Finding
	for _, r := range v.now {
		if f, ok := v.disagreement(r); ok {
			findings = append(findings, f)
		}
	}
	return findings
}, asks: func(v *view) []FollowUp {
	var asks []FollowUp
	for _, r := range v.now {
		for _, name := range v.disputed(r) {
			for _, server := range v.askable() {
				asks = append(asks, ask(probe.Question{Server: server}, name))
			}
		}
	}
	return asks
}, page: page{
	needs: "At least two nameservers in the settings, and replies to direct questions for the same name: one has it with an address, another says NXDOMAIN.",
	remedies: "One nameserver that knows everything: the cluster's, with a server block that forwards the other zone to whoever knows it. Nothing else in the " +
		"list.",
	wrong: "Another order, `rotate`, or more nameservers: a second nameserver stands in for one that is down, it is never asked because the first denied a " +
		"name.",
}}

// askable are the nameservers of the settings that can be asked, none when there are fewer than two.
func (v *view) askable() []string {
	var out []string
	for _, s := range v.run.Settings.Nameservers {
		if isAddress(s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out[:min(len(out), mostNameservers)]
}

// disputed are the names that the nameservers can be of different minds about: for a host that was denied the Service that it means
// and itself, for one that musl found the name it was found by.
func (v *view) disputed(r *probe.Resolution) []string {
	if len(v.askable()) == 0 {
		return nil
	}
	d := decided(r)
	switch {
	case r.Outcome == probe.OK && r.Libc == probe.Musl && d != nil:
		return []string{canonical(d.Name)}
	case notFound(r):
		names := []string{canonical(r.Host)}
		if service := v.serviceIn(r.Host, v.zone); service != "" && service != names[0] {
			names = append([]string{service}, names...)
		}
		return names
	}
	return nil
}

// disagreement returns the finding about a name that one nameserver has and another denies.
func (v *view) disagreement(r *probe.Resolution) (probe.Finding, bool) {
	for _, name := range v.disputed(r) {
		var has, denies []string
		var yes, no *probe.Resolution
		for _, server := range v.askable() {
			if known := v.foundAt(server, name); known != nil {
				has, yes = append(has, clean(server)), known
			} else if denied := v.deniedAt(server, name); denied != nil {
				denies, no = append(denies, clean(server)), denied
			}
		}
		if yes != nil && no != nil {
			return v.disagreeing(r, name, has, denies, yes, no), true
		}
	}
	return probe.Finding{}, false
}

func (v *view) disagreeing(r *probe.Resolution, name string, has, denies []string, yes, no *probe.Resolution) probe.Finding {
	f := probe.Finding{
		Severity: severity(r),
		Title:    fmt.Sprintf("The nameservers do not know the same names: %s exists at %s, and at %s it does not.", bare(name), list(has), list(denies)),
		Evidence: []probe.Evidence{
			{Text: fmt.Sprintf("%s: %s", list(has), list(answersOf(yes))), Resolution: yes.ID},
			{Text: list(denies) + ": NXDOMAIN", Resolution: no.ID},
			v.see(r, &r.Attempts[len(r.Attempts)-1]),
		},
		Remedies: []probe.Remedy{
			{
				Text:   fmt.Sprintf("Keep one kind of nameserver in the list: set dnsPolicy to None with %s only, or take the others out of dnsConfig or of the node's file.", list(has)),
				Caveat: "Names that only the others know are then lost, until the one that stays forwards their zone to them.",
			},
			{Text: "For all pods: let the cluster's DNS forward each private zone to the servers that know it, in a server block of its own."},
		},
	}
	if r.Libc == probe.Musl {
		f.Explain = fmt.Sprintf("musl asks all nameservers at once and takes the first reply, an NXDOMAIN too: whether %s is found is a race between them.", clean(r.Host))
		return f
	}
	f.Explain = fmt.Sprintf("%s asks the next nameserver only when one does not answer or fails. An NXDOMAIN is an answer: the lookup of %s ends with it, whatever the next one knows.",
		libcName(r.Libc), clean(r.Host))
	if strings.Contains(strings.Join(v.run.Settings.Options, " "), "rotate") {
		f.Explain += " With `rotate` the first one asked changes, so the host is found now and then."
	}
	return f
}
