package diagnose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// whatIf returns what is known of a variant for a host: measured before predicted.
func (v *view) whatIf(host, variant string) *probe.WhatIf {
	var best *probe.WhatIf
	for i := range v.run.WhatIf {
		w := &v.run.WhatIf[i]
		if w.Host != host || w.Variant != variant || w.Outcome == "" {
			continue
		}
		if best == nil || best.Source != probe.Measured {
			best = w
		}
	}
	return best
}

// gain compares a variant with the settings as they are: "10 → 2 queries, 47.2 ms → 4.1 ms (measured)".
func (v *view) gain(r *probe.Resolution, w *probe.WhatIf) string {
	now := r.Duration
	if n := v.whatIf(r.Host, probe.VariantNow); n != nil && n.Source == w.Source {
		now = n.Duration
	}
	text := fmt.Sprintf("%d → %d queries, %s → %s", r.QueriesSent, w.QueriesSent, took(now), took(w.Duration))
	if w.Source != "" {
		text += " (" + w.Source + ")"
	}
	return text
}

// ndotsRemedy is the change of ndots that was checked for this run, when there is one and it helps r.
func (v *view) ndotsRemedy(r *probe.Resolution) (probe.Remedy, bool) {
	p := v.run.Patch
	if p == nil || !strings.HasPrefix(p.Variant, "ndots:") {
		return probe.Remedy{}, false
	}
	w := v.whatIf(r.Host, p.Variant)
	if w == nil || !w.SameAnswer || w.QueriesSent >= r.QueriesSent {
		return probe.Remedy{}, false
	}
	where := "the pod's dnsConfig"
	if p.Kind != "" && p.Kind != "Pod" {
		where = "the dnsConfig of " + p.Kind + " " + clean(p.Name)
	}
	fine, caveats := v.checked(p)
	gain := v.gain(r, w)
	if fine != "" {
		gain += "; " + fine
	}
	if p.Effect != "" {
		caveats = append(caveats, sentence(clean(p.Effect)))
	}
	return probe.Remedy{
		Text:   fmt.Sprintf("Set ndots to %s in %s.", strings.TrimPrefix(p.Variant, "ndots:"), where),
		Gain:   gain,
		Caveat: strings.Join(caveats, " "),
	}, true
}

// checked says which other names stand behind a patch, and what speaks against it.
func (v *view) checked(p *probe.Patch) (fine string, caveats []string) {
	hosts := map[string]bool{}
	for _, r := range v.now {
		hosts[r.Host] = true
	}
	var names, dearer []string
	for _, n := range p.Names {
		if hosts[n.Name] {
			continue
		}
		names = append(names, clean(n.Name))
		if n.After.QueriesSent > n.Before.QueriesSent {
			dearer = append(dearer, clean(n.Name))
		}
	}
	if len(names) == 0 {
		return "", []string{"No other name was checked: give those that the pod uses with --also."}
	}
	if len(dearer) > 0 {
		caveats = append(caveats, "More queries for "+list(dearer)+".")
	}
	return "same answer for " + list(names), caveats
}

// sentence makes a sentence of a phrase.
func sentence(phrase string) string {
	_, first := utf8.DecodeRuneInString(phrase)
	return strings.ToUpper(phrase[:first]) + phrase[first:] + "."
}
