package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxRaw bounds, in bytes, values that take part in longer lines.
const maxRaw = 256

// Header returns the line that says where this was seen and through whose eyes, and more lines where that takes more words.
func Header(run *probe.Run, f Frame) []Line {
	left := Line{S(Strong, "dnsprobe"), S(Plain, "  "), S(Plain, targetName(run.Target, f.Glyphs.Dot))}
	right := S(Plain, libcName(run.Resolver))
	how := sourceWords(run.Resolver)
	full := S(Faint, how)
	if run.Resolver.Source == probe.SourceAssumed {
		full.tone = Caution
	}
	lines := Hang(left[:2], Plain, left[2].text, f.Width)
	if run.Resolver.Libc == "" {
		return lines
	}
	know := Line{right, S(Plain, " "), full}
	if gap := f.Width - left.Width() - know.Width(); gap >= 2 {
		return []Line{append(append(left, S(Plain, strings.Repeat(" ", gap))), know...)}
	}
	return append(lines, Hang(Line{S(Plain, "  "), right, S(Plain, " ")}, full.tone, full.text, f.Width)...)
}

// HeaderLine returns Header in one line: where there is no room, how the libc is known gives way to a word, then the place.
func HeaderLine(run *probe.Run, f Frame) Line {
	full := Header(run, f)
	if len(full) == 1 {
		return full[0].Clip(f.Width, f.Glyphs.Ellipsis)
	}
	right := L(Plain, libcName(run.Resolver))
	if run.Resolver.Source == probe.SourceAssumed {
		right = append(right, S(Caution, " (assumed)"))
	}
	left := Line{S(Strong, "dnsprobe"), S(Plain, "  "), S(Plain, targetName(run.Target, f.Glyphs.Dot))}
	room := f.Width - right.Width() - 2
	if room < 2*len("dnsprobe") || run.Resolver.Libc == "" {
		return left.Clip(f.Width, f.Glyphs.Ellipsis)
	}
	left = left.Clip(room, f.Glyphs.Ellipsis).Pad(room)
	return append(append(left, S(Plain, "  ")), right...)
}

// Settings returns the settings in force as their file says them, and how the libc is known.
func Settings(run *probe.Run, f Frame) []Line {
	var out []Line
	if why := run.Resolver.Why; run.Resolver.Libc != "" {
		out = append(out, Hang(Line{S(Plain, libcName(run.Resolver)+"  ")}, Faint, why, f.Width)...)
	}
	for _, l := range printable.Lines(run.Settings.Raw, maxYAML, maxYAMLLine) {
		out = append(out, Wrap(Plain, l, f.Width)...)
	}
	return out
}

// Facts returns what is known about pod, node and cluster, and what is known to be unknown.
func Facts(run *probe.Run, f Frame) []Line {
	var out []Line
	for i, name := range slices.Sorted(maps.Keys(run.Facts)) {
		if i == maxShown {
			out = append(out, L(Faint, fmt.Sprintf("and %d more", len(run.Facts)-i)))
			break
		}
		fact := run.Facts[name]
		head := Line{S(Accent, name), S(Plain, "  ")}
		switch {
		case fact.Unknown != "":
			out = append(out, Hang(head, Caution, "unknown: "+fact.Unknown, f.Width)...)
		case fact.Source != "":
			out = append(out, Hang(head, Plain, inOneLine(fact.Value)+" (from "+fact.Source+")", f.Width)...)
		default:
			out = append(out, Hang(head, Plain, inOneLine(fact.Value), f.Width)...)
		}
	}
	return out
}

// fewLines is how many lines of a value are shown beside each other.
const fewLines = 4

// inOneLine is a value as it stands among others. Of a whole file only its length is said: the JSON of the run has it.
func inOneLine(value string) string {
	lines := strings.Split(strings.TrimSuffix(value, "\n"), "\n")
	if len(lines) > fewLines {
		return fmt.Sprintf("%d lines, in full with -o json", len(lines))
	}
	return strings.Join(lines, " / ")
}

func targetName(t probe.Target, dot string) string {
	var parts []string
	switch {
	case t.Pod != "" && t.Namespace != "":
		parts = append(parts, t.Namespace+"/"+t.Pod)
	case t.Pod != "":
		parts = append(parts, t.Pod)
	case t.Via == "local":
		parts = append(parts, "this machine")
	case t.Via == "model":
		parts = append(parts, "a modelled pod")
	}
	for _, p := range []string{t.Container, t.Node} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if t.Via == "model" && t.Pod != "" {
		parts = append(parts, "modelled")
	}
	return strings.Join(parts, " "+dot+" ")
}

func libcName(r probe.Resolver) string {
	name := string(r.Libc)
	switch r.Libc {
	case probe.Go:
		name = "Go's resolver"
	case probe.CAres:
		name = "c-ares"
	}
	if r.Version != "" {
		name += " " + strings.TrimPrefix(r.Version, "go")
	}
	switch {
	case r.Caller == "":
	case slices.Contains([]probe.Libc{probe.Glibc, probe.Musl, probe.Go, probe.CAres}, r.Libc):
		name = r.Caller + " over " + name
	default:
		// A tool that calls no libc.
		name = r.Caller
	}
	return name
}

// sourceWords says how the libc is known: the resolver's own sentence, with a word before it when the libc was not detected.
func sourceWords(r probe.Resolver) string {
	why := r.Why
	if len(why) > maxRaw {
		why = why[:maxRaw] + "..."
	}
	switch {
	case r.Source == probe.SourceAssumed && why != "":
		return "(assumed: " + why + ")"
	case r.Source == probe.SourceAssumed:
		return "(assumed)"
	case r.Source == probe.SourceFlag:
		return "(as asked for)"
	case why != "":
		return "(" + why + ")"
	case r.Source == probe.SourceDetected:
		return "(detected)"
	}
	return ""
}

// Summary returns the line of one resolution: what came of it, how long it took, what it cost, under which settings.
func Summary(run *probe.Run, r *probe.Resolution, f Frame) []Line {
	out, tone := outcome(r, f)
	host := S(Strong, hostLabel(r))
	items := []Span{S(tone, out)}
	if r.QueriesSent > 0 || r.Outcome != "" && r.AnsweredBy == "" {
		items = append(items, S(Plain, queries(r)))
	}
	items = append(items, S(Faint, settings(run.Settings)))
	if r.Source == probe.Predicted {
		items = append(items, S(Faint, "predicted on a model"))
	}
	head := Line{host, S(Plain, "   ")}
	if host.text == "" {
		head = nil
	}
	if head.Width() > f.Width/2 {
		// Its whole length is worth lines where there are some: the attempts below only show its ends.
		name := Wrap(Strong, host.text, f.Width)
		if f.Brief {
			name = []Line{L(Strong, elide(host.text, f.Width, f.Glyphs.Ellipsis))}
		}
		return append(name, Indent(flow(items, f.Width-2), 2)...)
	}
	lines := flow(items, f.Width-head.Width())
	if len(lines) > 2 {
		return append([]Line{head}, Indent(flow(items, f.Width-2), 2)...)
	}
	lines = Indent(lines, head.Width())
	if len(lines) > 0 {
		lines[0] = append(head, lines[0][1:]...)
	}
	return lines
}

// hostLabel is the host, with the variant and the libc where they are not the ones of the run.
func hostLabel(r *probe.Resolution) string {
	label := r.Host
	if !isNow(r.Variant) {
		label += " (" + r.Variant + ")"
	}
	return label
}

func queries(r *probe.Resolution) string {
	s := plural(r.QueriesSent, "query", "queries")
	switch {
	case r.Outcome == "" || r.QueriesSent == 0:
		return s
	case !answered(r):
		s += ", none of them answered"
	case r.QueriesWasted == r.QueriesSent:
		s += ", all of them wasted"
	case r.QueriesWasted > 0:
		s += fmt.Sprintf(", %d of them wasted", r.QueriesWasted)
	}
	if again := r.TransmissionsSent - r.QueriesSent; again > 0 {
		s += fmt.Sprintf(", %d sent again", again)
	}
	return s
}

// answered reports whether any message of a resolution got a reply.
func answered(r *probe.Resolution) bool {
	for i := range r.Attempts {
		if replied(&r.Attempts[i]) {
			return true
		}
	}
	return false
}

func settings(s probe.Settings) string {
	if s.Raw == "" && len(s.Search) == 0 && len(s.Nameservers) == 0 {
		return ""
	}
	return fmt.Sprintf("ndots:%d, %s", s.Ndots, plural(len(s.Search), "search domain", "search domains"))
}

// outcome says in words how a resolution ended.
func outcome(r *probe.Resolution, f Frame) (string, Tone) {
	after := " after " + Duration(r.Duration)
	switch r.AnsweredBy {
	case "hosts":
		after = " by the hosts file"
	case "literal":
		if r.Outcome == probe.OK {
			return "is an address already, nothing to ask", Good
		}
	}
	code := ""
	if r.Code != "" {
		code = " (" + r.Code + ")"
	}
	switch r.Outcome {
	case "":
		if f.Live {
			return "resolving, " + Duration(f.total(r)) + " so far", Accent
		}
		return "unfinished: its events end after " + Duration(f.total(r)), Caution
	case probe.OK:
		return "resolved to " + addresses(r.Addresses) + after, Good
	case probe.NXDomain:
		return "does not exist (NXDOMAIN), known" + after, Bad
	case probe.NoData:
		return "has no address (no data)" + after, Bad
	case probe.Again:
		return "not resolved, a temporary failure" + code + after, Bad
	case probe.Fail:
		return "not resolved" + code + after, Bad
	}
	return "ended with " + string(r.Outcome) + code + after, Bad
}

// addresses names the first one and counts the others.
func addresses(list []string) string {
	switch len(list) {
	case 0:
		return "no address"
	case 1:
		return list[0]
	case 2:
		return list[0] + " and " + list[1]
	}
	return fmt.Sprintf("%s and %s", list[0], plural(len(list)-1, "more", "more"))
}

// Remarks returns what has to be known about the inputs of a run before its pictures are believed: settings of another
// place, lines that the libc reads otherwise than their author meant, inputs that could not be read, the pod that was chosen.
func Remarks(run *probe.Run, f Frame) []Line {
	var out []Line
	say := func(tone Tone, text string) {
		out = append(out, Hang(Line{S(tone, f.Glyphs.Info+" ")}, Plain, text, f.Width)...)
	}
	if run.Target.Chosen != "" {
		say(Accent, run.Target.Chosen)
	}
	s := run.Settings
	if s.Source == "sandbox" {
		why := s.Why
		if why == "" {
			why = "no reason is known"
		}
		say(Caution, "the settings are those of the pod's sandbox, the container's own files could not be read: "+why)
	}
	for i, u := range s.Unknown {
		if i == maxRemarks {
			break
		}
		say(Caution, "not known, so not taken into account: "+u)
	}
	for i, w := range s.Warnings {
		if i == maxRemarks {
			say(Caution, fmt.Sprintf("and %d more odd lines", len(s.Warnings)-i))
			break
		}
		where := "resolv.conf"
		if w.Line > 0 {
			where = fmt.Sprintf("resolv.conf line %d", w.Line)
		}
		text := w.Text
		if len(text) > 60 {
			text = text[:60] + "..."
		}
		if text != "" {
			text = fmt.Sprintf(" %q", text)
		}
		say(Caution, where+text+": "+w.Effect)
	}
	return out
}

// maxRemarks bounds how many remarks of one sort are shown.
const maxRemarks = 8

// Notes returns the remarks of the resolver on one resolution.
func Notes(r *probe.Resolution, f Frame) []Line {
	var out []Line
	for i, n := range r.Notes {
		if i == maxRemarks {
			out = append(out, L(Faint, fmt.Sprintf("note  and %d more", len(r.Notes)-i)))
			break
		}
		out = append(out, Hang(Line{S(Accent, "note  ")}, Plain, n, f.Width)...)
	}
	return out
}

// Problems returns what the run could not do, each with its next step.
func Problems(run *probe.Run, f Frame) []Line {
	var out []Line
	for _, p := range run.Problems {
		out = append(out, Hang(Line{S(Bad, f.Glyphs.No+" ")}, Plain, p, f.Width)...)
	}
	return out
}
