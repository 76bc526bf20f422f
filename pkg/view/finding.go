package view

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxShown bounds how many entries of one list of a finding or a what-if table are shown.
const maxShown = 64

// Findings returns, for each finding, its lines: sign, severity and class, the title, and the explanation below.
func Findings(run *probe.Run, f Frame) [][]Line {
	class := 0
	for i := range run.Findings {
		class = max(class, nameWidth(run.Findings[i].Class))
	}
	class = min(class, 20)
	out := make([][]Line, 0, len(run.Findings))
	for i := range run.Findings {
		out = append(out, findingLines(&run.Findings[i], f, class))
	}
	return out
}

func findingLines(d *probe.Finding, f Frame, class int) []Line {
	sign, tone := f.Glyphs.Severity(d.Severity)
	explain := d.Explain
	if f.Brief {
		explain = ""
	}
	name := S(Strong, d.Class)
	name.text = padRight(elide(name.text, class, f.Glyphs.Ellipsis), class)
	severity := S(tone, string(d.Severity))
	severity.text = padRight(elide(severity.text, 8, f.Glyphs.Ellipsis), 8)
	head := Line{S(tone, padRight(sign, 2)), severity, S(Plain, "  "), name, S(Plain, "  ")}
	if f.Width < 84 {
		// In a narrow place the words need the room more than the columns do.
		var lines []Line
		if f.Width-head.Width() >= 40 {
			lines = Hang(head, Plain, d.Title, f.Width)
		} else {
			lines = append([]Line{head.Clip(f.Width, f.Glyphs.Ellipsis)}, Indent(Wrap(Plain, d.Title, f.Width-2), 2)...)
		}
		return append(lines, Indent(Wrap(Plain, explain, f.Width-2), 2)...)
	}
	lines := Hang(head, Plain, d.Title, f.Width)
	return append(lines, Indent(Wrap(Plain, explain, f.Width-head.Width()), head.Width())...)
}

// Finding returns one finding in full: explanation, evidence, remedies.
func Finding(d *probe.Finding, f Frame) []Line {
	sign, tone := f.Glyphs.Severity(d.Severity)
	out := Hang(Line{S(tone, sign+" "), S(tone, string(d.Severity)), S(Plain, "  "), S(Strong, d.Class), S(Plain, "  ")},
		Strong, d.Title, f.Width)
	out = append(out, Line{})
	out = append(out, Wrap(Plain, d.Explain, f.Width)...)
	if len(d.Evidence) > 0 {
		out = append(out, Line{}, L(Strong, "What it rests on"))
		for i, e := range d.Evidence {
			if i == maxShown {
				out = append(out, L(Faint, fmt.Sprintf("  and %d more", len(d.Evidence)-i)))
				break
			}
			text := e.Text
			if e.Attempt > 0 {
				text += fmt.Sprintf(" (attempt %d)", e.Attempt)
			}
			out = append(out, Hang(Line{S(Faint, "  "+f.Glyphs.Dot+" ")}, Plain, text, f.Width)...)
		}
	}
	return append(out, remedies(d, f)...)
}

func remedies(d *probe.Finding, f Frame) []Line {
	if len(d.Remedies) == 0 {
		return nil
	}
	out := []Line{{}, L(Strong, "What to do, best first")}
	for i, r := range d.Remedies {
		if i == maxShown {
			break
		}
		out = append(out, remedy(Line{S(Good, fmt.Sprintf("  %d. ", i+1))}, r, f)...)
	}
	return out
}

// remedy returns one remedy beside its head: what to do, and below what it brings and what speaks against it.
func remedy(head Line, r probe.Remedy, f Frame) []Line {
	n := head.Width()
	out := Hang(head, Plain, r.Text, f.Width)
	if r.Gain != "" {
		out = append(out, Indent(Hang(Line{S(Good, "gain: ")}, Plain, r.Gain, f.Width-n), n)...)
	}
	if r.Caveat != "" {
		out = append(out, Indent(Hang(Line{S(Caution, "but: ")}, Plain, r.Caveat, f.Width-n), n)...)
	}
	return out
}

// Remedies returns, for each remedy of the findings, one entry of a list, without those said before.
func Remedies(run *probe.Run, f Frame) []Line {
	var out []Line
	seen := map[string]bool{}
	for i := range run.Findings {
		for _, r := range run.Findings[i].Remedies {
			if seen[r.Text] || len(seen) == maxShown {
				continue
			}
			seen[r.Text] = true
			out = append(out, remedy(Line{S(Good, padRight(f.Glyphs.Arrow, 3))}, r, f)...)
		}
	}
	return out
}
