package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Bounds of what a patch may bring: lines of YAML, bytes of a line, bytes of a command.
const (
	maxYAML     = 400
	maxYAMLLine = 1024
	maxCommand  = 64 << 10
)

// Patch returns the patch as a picture: whose it is, what is added, how it was checked, what it does, how to undo it. The
// command is not among the lines, since it must not be broken or cut; see Command.
func Patch(run *probe.Run, f Frame) []Line {
	p := run.Patch
	if p == nil {
		return nil
	}
	title := Line{S(Strong, p.Kind+" "+qualified(p.Namespace, p.Name))}
	if owns := "(owner of pod " + run.Target.Pod + ")"; run.Target.Pod != "" && p.Kind != "Pod" {
		if gap := f.Width - title.Width() - width(owns); gap >= 3 {
			title = append(title, S(Faint, "   "+owns))
		}
	}
	out := []Line{title.Clip(f.Width, f.Glyphs.Ellipsis)}
	for _, l := range diffOf(p) {
		out = append(out, l.Clip(f.Width, f.Glyphs.Ellipsis))
	}
	out = append(out, checked(p, f)...)
	if p.Effect != "" {
		out = append(out, Hang(Line{S(Strong, "On apply: ")}, Plain, p.Effect, f.Width)...)
	}
	for i, c := range p.Caveats {
		if i == maxShown {
			break
		}
		out = append(out, Hang(Line{S(Caution, "But: ")}, Plain, c, f.Width)...)
	}
	return out
}

// Undo returns the command that takes a patch back, "" when there is none.
func Undo(p *probe.Patch) string { return printable.Text(p.Undo, maxCommand) }

// Command returns the command that applies a patch on one line that can be copied, "" when the object cannot be changed in
// place. What is returned is what was shown: no character that a terminal would hide.
func Command(p *probe.Patch) string {
	return strings.Join(printable.Lines(p.Command, maxYAML, maxCommand), "\n")
}

// YAML returns the patch itself as text that can be copied.
func YAML(p *probe.Patch) string {
	return strings.Join(printable.Lines(p.YAML, maxYAML, maxYAMLLine), "\n") + "\n"
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// diffOf returns the change that a patch makes, as it was compared with what the owner has, or as far as the patch alone tells.
func diffOf(p *probe.Patch) []Line {
	if p.Diff == "" {
		return diffLines(p.YAML)
	}
	var out []Line
	for _, l := range printable.Lines(p.Diff, maxYAML, maxYAMLLine) {
		tone := Plain
		switch {
		case strings.HasPrefix(l, "+"):
			tone = Added
		case strings.HasPrefix(l, "-"):
			tone = Removed
		}
		out = append(out, L(tone, l))
	}
	return out
}

// diffLines returns YAML with a sign before what the patch brings: dnsConfig and dnsPolicy with all below them. The rest
// only leads there.
func diffLines(yaml string) []Line {
	var out []Line
	under := -1
	for _, l := range printable.Lines(yaml, maxYAML, maxYAMLLine) {
		trimmed := strings.TrimLeft(l, " ")
		depth := len(l) - len(trimmed)
		if under >= 0 && depth <= under && !strings.HasPrefix(trimmed, "- ") {
			under = -1
		}
		if under < 0 && (strings.HasPrefix(trimmed, "dnsConfig:") || strings.HasPrefix(trimmed, "dnsPolicy:")) {
			under = depth
		}
		if under >= 0 {
			out = append(out, L(Added, "+ "+l))
		} else {
			out = append(out, L(Plain, "  "+l))
		}
	}
	return out
}

// checked says what the patched settings did to every name in use.
func checked(p *probe.Patch, f Frame) []Line {
	if len(p.Names) == 0 {
		return Wrap(Caution, "Not checked on any name.", f.Width)
	}
	head := "Checked on this pod with " + p.Variant + ": "
	for i := range p.Names {
		if p.Names[i].After.Source != probe.Measured {
			head = "Predicted on a model with " + p.Variant + ", not measured: "
		}
	}
	var changed, same, worse []string
	for i := range p.Names {
		if i == maxShown {
			break
		}
		n := &p.Names[i]
		switch {
		case n.Wanted:
			changed = append(changed, nameChange(n, f.Glyphs.Arrow)+noteOf(n))
		case !n.Same:
			worse = append(worse, nameChange(n, f.Glyphs.Arrow)+noteOf(n))
		case n.Before.QueriesSent != n.After.QueriesSent || n.Note != "" || len(n.Libcs) > 0:
			changed = append(changed, nameChange(n, f.Glyphs.Arrow)+noteOf(n))
		default:
			same = append(same, n.Name)
		}
	}
	if len(same) > 0 {
		changed = append(changed, strings.Join(same, ", ")+" unchanged")
	}
	out := []Line{}
	if len(changed) > 0 {
		out = append(out, Hang(Line{S(Good, f.Glyphs.OK+" ")}, Plain, head+strings.Join(changed, "; ")+".", f.Width)...)
	}
	for _, w := range worse {
		out = append(out, Hang(Line{S(Bad, f.Glyphs.No+" ")}, Plain, w, f.Width)...)
	}
	return out
}

// noteOf is what else there is to say of a name: first its fate on other libcs.
func noteOf(n *probe.PatchName) string {
	var notes []string
	for i := range n.Libcs {
		if i == maxShown {
			break
		}
		l := &n.Libcs[i]
		text := fmt.Sprintf("on %s %d to %d queries, ", libcWord(l.Libc, l.LibcVersion), l.Before.QueriesSent, l.After.QueriesSent)
		switch {
		case l.Same && l.After.Outcome == probe.OK:
			text += "same address"
		case l.Same:
			text += "same outcome"
		default:
			text += answer(&l.After) + " instead of " + answer(&l.Before)
		}
		notes = append(notes, text)
	}
	if n.Note != "" {
		notes = append(notes, n.Note)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

func nameChange(n *probe.PatchName, arrow string) string {
	count := fmt.Sprintf("%s %d %s %d queries", n.Name, n.Before.QueriesSent, arrow, n.After.QueriesSent)
	if n.Before.QueriesSent == n.After.QueriesSent {
		count = fmt.Sprintf("%s %s", n.Name, plural(n.After.QueriesSent, "query", "queries"))
	}
	if n.Same {
		if len(n.After.Addresses) == 0 {
			return count + ", same outcome"
		}
		return count + ", same address"
	}
	if n.Wanted {
		return fmt.Sprintf("%s, %s instead of %s, as it should", count, answer(&n.After), answer(&n.Before))
	}
	return fmt.Sprintf("%s, ANOTHER ANSWER: %s instead of %s", count, answer(&n.After), answer(&n.Before))
}

func answer(r *probe.NameResult) string {
	if r.Outcome != probe.OK {
		return strings.ToUpper(string(r.Outcome))
	}
	return addresses(r.Addresses)
}

// Commands returns the commands of a patch, each line as it has to be typed: never broken, never cut, so they may be wider
// than the frame they stand in.
func Commands(p *probe.Patch) []Line {
	var out []Line
	for _, c := range []struct{ what, text string }{{"Apply it", Command(p)}, {"Take it back", Undo(p)}} {
		if c.text == "" {
			continue
		}
		out = append(out, L(Strong, "  "+c.what+":"))
		for l := range strings.SplitSeq(c.text, "\n") {
			out = append(out, Line{S(Plain, "  "), Span{l, Plain}})
		}
	}
	if Command(p) == "" {
		out = append(out, L(Caution, "  It cannot be changed in place: put this into what creates it."))
	}
	return out
}
