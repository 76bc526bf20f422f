// Package report writes a run as text for people and as JSON or YAML for programs. It reads nothing but the run: no clock, no
// terminal, no environment.
package report

//go:generate go test . -run TestSchemasAreCurrent -update-schemas

import (
	"bytes"
	"io"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// Bounds of Options.Width in cells.
const (
	DefaultWidth = 80
	MinWidth     = 40
)

// Options say how a text report looks. They never change what it says.
type Options struct {
	// Width is in cells; 0 means DefaultWidth, and less than MinWidth is taken as MinWidth.
	Width int
	// Color allows colour escapes.
	Color bool
	// ASCII keeps to ASCII, for terminals that do not read UTF-8: other characters are spelled (\u6c7a).
	ASCII bool
}

func (o Options) frame() view.Frame {
	f := view.Frame{Width: max(o.Width, MinWidth), Glyphs: view.Unicode}
	if o.Width == 0 {
		f.Width = DefaultWidth
	}
	if o.ASCII {
		f.Glyphs = view.ASCII
	}
	return f
}

// Text writes a run for people: the attempts of each host, findings, what-if, patch, and at the end what could not be done.
// No line is wider than Options.Width but the commands at the end of the patch, which are made to be copied.
func Text(w io.Writer, run probe.Run, o Options) error {
	if o.ASCII {
		run = view.ASCIIRun(run)
	}
	var b bytes.Buffer
	for _, l := range lines(&run, o.frame()) {
		b.WriteString(paint(l, o.Color))
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// lines returns the whole report.
func lines(run *probe.Run, f view.Frame) []view.Line {
	out := view.Header(run, f)
	out = append(out, view.Remarks(run, f)...)
	shown := view.Shown(run)
	for _, i := range shown {
		out = append(out, resolution(run, &run.Resolutions[i], f)...)
	}
	if len(shown) == 0 {
		out = append(out, view.Line{}, view.L(view.Caution, "No host was resolved."))
	}
	out = append(out, findings(run, f)...)
	if asked := view.FollowUps(run, narrower(f)); len(asked) > 0 {
		out = append(out, view.Line{})
		out = append(out, inset(asked)...)
	}
	out = append(out, whatIf(run, shown, f)...)
	out = append(out, patchLines(run, f)...)
	if p := view.Problems(run, narrower(f)); len(p) > 0 {
		out = append(out, view.Line{}, view.L(view.Strong, "Could not be done"))
		out = append(out, inset(p)...)
	}
	return out
}

func inset(lines []view.Line) []view.Line { return view.Indent(lines, 2) }

func narrower(f view.Frame) view.Frame {
	f.Width -= 2
	return f
}

func resolution(run *probe.Run, r *probe.Resolution, f view.Frame) []view.Line {
	out := append([]view.Line{{}}, view.Summary(run, r, f)...)
	if len(r.Attempts) > 0 {
		t := view.NewTable(run, r, f)
		out = append(out, view.Line{}, t.Head())
		for i := range r.Attempts {
			out = append(out, t.Attempt(i, false)...)
		}
	}
	out = append(out, inset(view.Notes(r, narrower(f)))...)
	return append(out, libcs(run, r, f)...)
}

// libcs is the table of the libcs that a host was followed through, where there are several.
func libcs(run *probe.Run, r *probe.Resolution, f view.Frame) []view.Line {
	c := view.Compared(run, r)
	if c == nil {
		return nil
	}
	head, rows := view.Libcs(c, narrower(f))
	out := append([]view.Line{{}}, inset([]view.Line{head})...)
	for _, lines := range rows {
		out = append(out, inset(lines)...)
	}
	return out
}

func findings(run *probe.Run, f view.Frame) []view.Line {
	if len(run.Findings) == 0 {
		return nil
	}
	out := []view.Line{{}, view.L(view.Strong, "Findings")}
	for _, lines := range view.Findings(run, narrower(f)) {
		out = append(out, inset(lines)...)
	}
	if rem := view.Remedies(run, narrower(f)); len(rem) > 0 {
		out = append(out, view.Line{}, view.L(view.Strong, "What to do"))
		out = append(out, inset(rem)...)
	}
	return out
}

func whatIf(run *probe.Run, shown []int, f view.Frame) []view.Line {
	var out []view.Line
	seen := map[string]bool{}
	for _, i := range shown {
		r := &run.Resolutions[i]
		if seen[r.Host] {
			continue
		}
		seen[r.Host] = true
		out = append(out, whatIfOf(run, r, len(shown) > 1, f)...)
	}
	for _, w := range run.WhatIf {
		if !seen[w.Host] {
			// Tried for a host that has no picture of its own: a name that must keep working.
			seen[w.Host] = true
			out = append(out, whatIfOf(run, &probe.Resolution{Host: w.Host, Variant: "-"}, true, f)...)
		}
	}
	return out
}

func whatIfOf(run *probe.Run, r *probe.Resolution, name bool, f view.Frame) []view.Line {
	head, rows := view.WhatIf(run, r, narrower(f))
	if len(rows) == 0 {
		return nil
	}
	out := []view.Line{{}}
	if name {
		out = append(out, view.L(view.Strong, r.Host).Clip(f.Width, f.Glyphs.Ellipsis))
	}
	out = append(out, inset([]view.Line{head})...)
	for _, row := range rows {
		out = append(out, inset(row.Lines)...)
	}
	return out
}

func patchLines(run *probe.Run, f view.Frame) []view.Line {
	if run.Patch == nil {
		return nil
	}
	out := []view.Line{{}, view.L(view.Strong, "Patch")}
	out = append(out, inset(view.Patch(run, narrower(f)))...)
	return append(out, view.Commands(run.Patch)...)
}

// PatchText writes the patch of a run for people: what was asked, what the variants do, the change and how it was checked. Without a
// patch it says why there is none, and what helps in its place.
func PatchText(w io.Writer, run probe.Run, o Options) error {
	if o.ASCII {
		run = view.ASCIIRun(run)
	}
	f := o.frame()
	out := view.Header(&run, f)
	shown := view.Shown(&run)
	for _, i := range shown {
		out = append(out, view.Summary(&run, &run.Resolutions[i], f)...)
	}
	out = append(out, whatIf(&run, shown, f)...)
	if run.Patch != nil {
		out = append(out, patchLines(&run, f)...)
	} else {
		out = append(out, view.Line{}, view.L(view.Strong, "No patch"))
		out = append(out, inset(view.Wrap(view.Plain, noPatch(&run), narrower(f).Width))...)
		out = append(out, findings(&run, f)...)
	}
	if p := view.Problems(&run, narrower(f)); len(p) > 0 {
		out = append(out, view.Line{}, view.L(view.Strong, "Could not be done"))
		out = append(out, inset(p)...)
	}
	var b bytes.Buffer
	for _, l := range out {
		b.WriteString(paint(l, o.Color))
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// noPatch says why there is no patch. That the run could not find out is no reason to say that nothing helps.
func noPatch(run *probe.Run) string {
	for _, f := range run.Findings {
		if f.Class != "healthy" {
			return "No change of dnsConfig was found that helps here and leaves every name in use as it is. What helps is below."
		}
	}
	if len(run.Findings) > 0 {
		return "Nothing is wrong with how these names are resolved: no change is needed."
	}
	return "There is no verdict, so no change can be proposed."
}
