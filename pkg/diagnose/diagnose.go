// Package diagnose turns traces and facts into findings: one rule a file, each a function from a run to findings.
//
// A rule claims only what the trace proves. What a single run cannot tell apart (a lost reply and a dead backend, a blocked
// path and a dead server) gets no finding: no verdict is better than a wrong one.
package diagnose

//go:generate go test . -run TestFindingsPagesAreCurrent -update-docs

import (
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Input is what findings rest on.
type Input struct {
	// Run holds the traces and the facts. Its WhatIf and Patch, where present, give the gains of remedies; its Findings are
	// not read.
	Run probe.Run
	// Hosts are the hosts that were asked for. Other resolutions of the run (names that must keep working, variants) serve as
	// evidence only. Empty means: every host that somebody asked for.
	Hosts []string
	// Label is a name that nobody has chosen, drawn by chance once a run: rules that ask for a name that cannot exist use it.
	Label string
}

// rule judges one class of finding.
type rule struct {
	// class is one of the list of verdict classes.
	class string
	// judge returns what the run proves, one finding a host or server, in a stable order. Nil is the usual answer.
	judge func(*view) []probe.Finding
	// asks returns what has to be asked before the rule can judge, the most telling first; nil for a rule that never asks. It is
	// called again with the answers, and may then ask for more. What was asked already need not be left out.
	asks func(*view) []FollowUp
	// page is what docs say of the class beside the comment of the rule, which says what it means.
	page page
}

// page is the rest of a class's page in docs, in sentences.
type page struct {
	// needs is the evidence without which the rule says nothing.
	needs string
	// remedies are what helps, best first.
	remedies string
	// wrong is what is often advised, and why it is wrong here.
	wrong string
}

// Diagnose returns the findings that in proves, the cause first. It never returns nil, so that JSON shows an empty list.
func Diagnose(in Input) []probe.Finding {
	v := newView(in)
	findings := []probe.Finding{}
	for _, r := range rules {
		for _, f := range r.judge(v) {
			f.Class = r.class
			findings = append(findings, finished(f))
			v.found[r.class] = true
			v.explains(r.class, f)
		}
	}
	return findings
}

// explains keeps which hosts a finding is about: those that its evidence points at.
func (v *view) explains(class string, f probe.Finding) {
	for _, e := range f.Evidence {
		for _, r := range v.now {
			if e.Resolution != "" && e.Resolution == r.ID && !slices.Contains(v.explained[r.Host], class) {
				v.explained[r.Host] = append(v.explained[r.Host], class)
			}
		}
	}
}

// pending says whether a rule of one of these classes still waits for an answer: what it would say is not known yet.
func (v *view) pending(classes []string) bool {
	for _, r := range v.rules {
		if r.asks == nil || !slices.Contains(classes, r.class) {
			continue
		}
		for _, f := range r.asks(v) {
			if v.timesAsked(f.Ask) < max(1, f.Times) {
				return true
			}
		}
	}
	return false
}

// FollowUp is something that a rule wants asked before it can judge.
type FollowUp struct {
	// Ask is what to ask. Where it names no types and no libc, those of the run are meant.
	Ask probe.Ask
	// Times is how often to ask it, 0 means once.
	Times int
}

// FollowUps returns what the rules want asked before they can judge, the causes first, without what was asked already: questions to
// servers as long as there are any, then resolutions. Asked again with the answers, it may want more; a run that has nothing to find
// out gets an empty list.
func FollowUps(in Input) []FollowUp {
	v := newView(in)
	var out []FollowUp
	for _, r := range rules {
		if r.asks == nil {
			continue
		}
		for _, f := range r.asks(v) {
			f.Times = max(1, f.Times)
			i := slices.IndexFunc(out, func(other FollowUp) bool { return sameAsk(other.Ask, f.Ask) })
			if i >= 0 {
				out[i].Times = max(out[i].Times, f.Times)
				continue
			}
			out = append(out, f)
		}
	}
	for i := range out {
		out[i].Times -= v.timesAsked(out[i].Ask)
	}
	out = slices.DeleteFunc(out, func(f FollowUp) bool { return f.Times <= 0 })
	// A question to a server costs a second at most. What its answer leaves open may need a resolution, which can cost 20.
	questions := slices.DeleteFunc(slices.Clone(out), func(f FollowUp) bool { return f.Ask.Question == nil })
	if len(questions) > 0 {
		return questions
	}
	return out
}

// timesAsked is how often the run asked just this already, whatever came of it.
func (v *view) timesAsked(ask probe.Ask) (n int) {
	for i := range v.run.Resolutions {
		r := &v.run.Resolutions[i]
		if r.Purpose.OrAsked() == ask.Purpose.OrAsked() && r.Host == ask.Host && r.Variant == ask.Variant.Label() && (ask.Question == nil || askedFor(r, ask.Types)) {
			n++
		}
	}
	return n
}

// askedFor says whether r asked for each of the types. What could not be sent at all counts: it would not be sent again either.
func askedFor(r *probe.Resolution, types []probe.QueryType) bool {
	for _, t := range types {
		for _, a := range r.Attempts {
			if len(a.Queries) > 0 && !slices.ContainsFunc(a.Queries, func(q probe.Query) bool { return q.Type == t }) {
				return false
			}
		}
	}
	return true
}

func sameAsk(a, b probe.Ask) bool {
	return a.Host == b.Host && a.Variant.Label() == b.Variant.Label() && a.Purpose.OrAsked() == b.Purpose.OrAsked() && slices.Equal(a.Types, b.Types)
}

// finished returns f with lists that are not nil, and with texts that can be printed whatever a trace had in it.
func finished(f probe.Finding) probe.Finding {
	text := func(s string) string { return printable.Text(s, printable.MaxText) }
	f.Title, f.Explain = text(f.Title), text(f.Explain)
	evidence, remedies := []probe.Evidence{}, []probe.Remedy{}
	for _, e := range f.Evidence {
		e.Text = text(e.Text)
		evidence = append(evidence, e)
	}
	for _, r := range f.Remedies {
		remedies = append(remedies, probe.Remedy{Text: text(r.Text), Gain: text(r.Gain), Caveat: text(r.Caveat)})
	}
	f.Evidence, f.Remedies = evidence, remedies
	return f
}

// view is a run as the rules look at it.
type view struct {
	run   probe.Run
	facts fact.Facts
	label string
	zone  string
	// now holds, for each host in order, its first finished resolution under the settings as they are.
	now []*probe.Resolution
	// all are the finished resolutions of the run, whatever their variant.
	all []*probe.Resolution
	// direct are the finished questions to a server of our choice.
	direct []*probe.Resolution
	// messages are those of sent, once somebody asked for them.
	messages []transmission
	// rules are all there are.
	rules []rule
	// found are the classes found so far; explained are those that a host has a finding of, by host.
	found     map[string]bool
	explained map[string][]string
}

func newView(in Input) *view {
	v := &view{rules: rules, run: in.Run, facts: in.Run.Facts, label: in.Label, zone: probe.ClusterZone(in.Run.Settings.Search), found: map[string]bool{}, explained: map[string][]string{}}
	wanted := map[string]bool{}
	for _, h := range in.Hosts {
		wanted[h] = true
	}
	seen := map[string]bool{}
	for i := range v.run.Resolutions {
		r := &v.run.Resolutions[i]
		if r.Outcome == "" || r.Purpose == probe.PurposeCompare {
			// What another libc does says nothing about the application.
			continue
		}
		r = addressesOnly(r)
		if r.Question != nil {
			v.direct = append(v.direct, r)
			continue
		}
		v.all = append(v.all, r)
		if !asTheyAre(r) || seen[r.Host] || len(wanted) > 0 && !wanted[r.Host] {
			continue
		}
		if len(wanted) == 0 && r.Purpose.OrAsked() != probe.PurposeAsked {
			continue
		}
		seen[r.Host] = true
		v.now = append(v.now, r)
	}
	return v
}

// repetitions are all resolutions of r's host under the settings as they are, r first.
func (v *view) repetitions(r *probe.Resolution) []*probe.Resolution {
	var out []*probe.Resolution
	for _, other := range v.all {
		if other.Host == r.Host && asTheyAre(other) {
			out = append(out, other)
		}
	}
	return out
}

func asTheyAre(r *probe.Resolution) bool { return r.Variant == "" || r.Variant == probe.VariantNow }

// title puts the host before text that does not name it, when the run has more than one.
func (v *view) title(r *probe.Resolution, text string) string {
	if len(v.now) < 2 {
		return text
	}
	return clean(r.Host) + ": " + text
}

// leaves says whether name is known to be asked outside of the cluster.
func (v *view) leaves(name string) bool { return LeavesCluster(name, v.zone) }

// severity is that of a fault which the host survived or not.
func severity(r *probe.Resolution) probe.Severity {
	if r.Outcome == probe.OK {
		return probe.Warning
	}
	return probe.Critical
}

// dots counts the dots of a host as resolvers do, a final one included.
func dots(host string) int { return strings.Count(host, ".") }

// decided returns the attempt that decided r, or nil.
func decided(r *probe.Resolution) *probe.Attempt {
	for i := range r.Attempts {
		if r.Attempts[i].Decided {
			return &r.Attempts[i]
		}
	}
	return nil
}

// isHost says whether a is the host itself, as-is or through a root element of the search list.
func isHost(a *probe.Attempt, r *probe.Resolution) bool {
	return a.Origin == probe.OriginAsIs || strings.TrimSuffix(a.Name, ".") == strings.TrimSuffix(r.Host, ".")
}

// negative says whether every query of a was answered and none with an address: the name cannot be what was meant.
func negative(a *probe.Attempt) bool {
	return (a.Outcome == probe.NXDomain || a.Outcome == probe.NoData) && answered(a)
}

// answered says whether every query of a got a reply.
func answered(a *probe.Attempt) bool {
	for _, q := range a.Queries {
		if q.Rcode == "" {
			return false
		}
	}
	return len(a.Queries) > 0
}

// allReplies says whether every transmission of a was answered, each with rcode.
func allReplies(a *probe.Attempt, rcode string) bool {
	n := 0
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.Received == nil || t.Reply != rcode {
				return false
			}
			n++
		}
	}
	return n > 0
}

// silence returns the number of a's transmissions when none of them was answered, refused or closed, else 0.
func silence(a *probe.Attempt) int {
	n := 0
	for _, q := range a.Queries {
		for _, t := range q.Transmissions {
			if t.Received != nil || t.Reply != probe.ReplyLost {
				return 0
			}
			n++
		}
	}
	return n
}

// see is the evidence of what an attempt was answered.
func (v *view) see(r *probe.Resolution, a *probe.Attempt) probe.Evidence {
	text := clean(a.Name) + ": " + replies(a) + ", " + took(a.Duration)
	if v.leaves(a.Name) {
		text += ", left the cluster"
	}
	return at(r, a, text)
}

// at is evidence that points at an attempt.
func at(r *probe.Resolution, a *probe.Attempt, text string) probe.Evidence {
	return probe.Evidence{Text: text, Resolution: r.ID, Attempt: a.N}
}
