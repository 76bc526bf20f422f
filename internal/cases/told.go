package cases

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Told writes all conclusions of a run, the same for every run of a scenario.
func (r Result) Told() string {
	var b strings.Builder
	b.WriteString("at first:")
	for _, f := range r.Early {
		b.WriteString(" " + f.Class)
	}
	b.WriteString("\n")
	for _, f := range r.Run.Findings {
		tellFinding(&b, f)
	}
	b.WriteString("what if\n")
	for _, w := range r.Run.WhatIf {
		fmt.Fprintf(&b, "%s %s: %s, %d queries, same %v, %s; %s\n", w.Host, w.Variant, w.Outcome, w.QueriesSent, w.SameAnswer, w.Source, w.Note)
	}
	b.WriteString("patch\n")
	if p := r.Run.Patch; p != nil {
		fmt.Fprintf(&b, "%s %s\n", p.Variant, p.Command)
		for _, n := range p.Names {
			fmt.Fprintf(&b, "%s: %s %d -> %s %d, same %v, %s\n", n.Name, n.Before.Outcome, n.Before.QueriesSent, n.After.Outcome, n.After.QueriesSent, n.Same,
				n.After.Source)
		}
	}
	for _, p := range r.Run.Problems {
		fmt.Fprintf(&b, "problem: %s\n", p)
	}
	if f := r.Run.FollowUps; f != nil {
		fmt.Fprintf(&b, "asked besides: %d, with %d messages of %d, %d left\n", f.Asked, f.Sent, f.MostSent, f.Left)
	}
	return random.ReplaceAllString(b.String(), "dnsprobe-RANDOM.")
}

func tellFinding(b *strings.Builder, f probe.Finding) {
	fmt.Fprintf(b, "%s %s\n  %s\n  %s\n", f.Severity, f.Class, f.Title, f.Explain)
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "  - %s [%s #%d%s]\n", e.Text, e.Resolution, e.Attempt, e.Fact)
	}
	for _, r := range f.Remedies {
		fmt.Fprintf(b, "  > %s\n", r.Text)
		if r.Gain != "" {
			fmt.Fprintf(b, "    gain: %s\n", r.Gain)
		}
		if r.Caveat != "" {
			fmt.Fprintf(b, "    but: %s\n", r.Caveat)
		}
	}
}

// random is the label that finds out about wildcards.
var random = regexp.MustCompile(`dnsprobe-[a-z2-7]{10}\.`)
