package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// narrow is the width in cells below which the table of libcs has no columns.
const narrow = 64

// Compared returns the libcs that r's host was followed through, nil when it was only one.
func Compared(run *probe.Run, r *probe.Resolution) *probe.Comparison {
	for i := range run.Comparisons {
		c := &run.Comparisons[i]
		if c.Host == r.Host && len(c.Libcs) > 1 {
			return c
		}
	}
	return nil
}

// Libcs returns the head of the table of libcs and the lines of each of them: what came of the host, what that cost, where it parts
// from the first one and why.
func Libcs(c *probe.Comparison, f Frame) (Line, [][]Line) {
	libcs := c.Libcs[:min(len(c.Libcs), maxShown)]
	name := width("Libc by libc")
	for i := range libcs {
		name = max(name, width(libcLabel(&libcs[i])))
	}
	name = min(name, max(f.Width/3, 12))
	head := Line{S(Strong, padRight("Libc by libc", name))}
	if f.Width >= narrow {
		head = append(head, S(Faint, "  "+padRight("came to", cameTo(f, name))+"  attempts  queries      time"))
	}
	var rows [][]Line
	for i := range libcs {
		rows = append(rows, libcLines(libcs, i, name, f))
	}
	return head.Clip(f.Width, f.Glyphs.Ellipsis), rows
}

// cameTo is the width of the column for what came of the host.
func cameTo(f Frame, name int) int {
	return max(f.Width-name-len("    attempts  queries      time"), 8)
}

func libcLines(libcs []probe.LibcResult, i, name int, f Frame) []Line {
	l := &libcs[i]
	label := S(Plain, libcLabel(l))
	label.text = padRight(elide(label.text, name, f.Glyphs.Ellipsis), name)
	text, tone := libcOutcome(l, f.Glyphs)
	var out []Line
	if f.Width >= narrow {
		w := cameTo(f, name)
		came := S(tone, text)
		came.text = padRight(elide(came.text, w, f.Glyphs.Ellipsis), w)
		line := Line{label, S(Plain, "  "), came, S(Plain, "  "+padLeft(strconv.Itoa(l.Attempts), 8)+"  "+padLeft(strconv.Itoa(l.QueriesSent), 7)+
			"  "+padLeft(Duration(l.Duration), 8))}
		out = []Line{line.Clip(f.Width, f.Glyphs.Ellipsis)}
	} else {
		out = Hang(Line{label, S(Plain, "  ")}, tone, fmt.Sprintf("%s %s, %s, %s", text, plural(l.Attempts, "attempt", "attempts"),
			plural(l.QueriesSent, "query", "queries"), Duration(l.Duration)), f.Width)
	}
	tone, text = Plain, partsWords(l, f.Brief)
	if i == 0 {
		return out
	}
	if l.Same {
		tone, text = Faint, "as "+libcLabel(&libcs[0])+": the same names, messages and outcome"
	}
	return append(out, Indent(Wrap(tone, text, f.Width-4), 4)...)
}

// partsWords says where a libc parts from the first one and why; brief keeps to the reason where there is one.
func partsWords(l *probe.LibcResult, brief bool) string {
	switch {
	case l.Why == "":
		return l.What + " (why is not known)"
	case brief:
		return l.Why
	}
	return l.What + "; why: " + l.Why
}

// libcOutcome says in few words what came of a host.
func libcOutcome(l *probe.LibcResult, g Glyphs) (string, Tone) {
	switch l.Outcome {
	case probe.OK:
		return g.OK + " " + addresses(l.Addresses), Good
	case probe.NXDomain:
		return g.No + " NXDOMAIN", Bad
	case probe.NoData:
		return g.No + " no data", Bad
	}
	if l.Code != "" {
		return g.No + " " + l.Code, Bad
	}
	return g.No + " " + string(l.Outcome), Bad
}

// libcLabel names a libc with its upstream version.
func libcLabel(l *probe.LibcResult) string {
	version, _, _ := strings.Cut(l.LibcVersion, "-")
	if l.Libc == probe.Go {
		return strings.TrimSpace("Go " + strings.TrimPrefix(version, "go"))
	}
	return libcName(probe.Resolver{Libc: l.Libc, Version: version})
}

// Libc returns all about one libc of a comparison: its walk, where it parts from the first one, and why.
func Libc(run *probe.Run, c *probe.Comparison, i int, f Frame) []Line {
	l := &c.Libcs[i]
	out := Hang(Line{S(Strong, "Libc by libc   ")}, Strong, libcLabel(l), f.Width)
	switch {
	case i == 0:
		out = append(out, Wrap(Faint, "the libc of this run", f.Width)...)
	case l.Same:
		out = append(out, Wrap(Faint, "as "+libcLabel(&c.Libcs[0])+": the same names, messages and outcome", f.Width)...)
	default:
		out = append(out, Line{})
		out = append(out, Hang(Line{S(Accent, "differs  ")}, Plain, l.What, f.Width)...)
		why := l.Why
		if why == "" {
			why = "not known"
		}
		out = append(out, Hang(Line{S(Accent, "why      ")}, Plain, why, f.Width)...)
	}
	for j := range run.Resolutions {
		r := &run.Resolutions[j]
		if r.ID != l.Resolution {
			continue
		}
		out = append(out, Line{})
		text, tone := outcome(r, f)
		out = append(out, flow([]Span{S(tone, text), S(Plain, queries(r))}, f.Width)...)
		if len(r.Attempts) > 0 {
			t := NewTable(run, r, f)
			out = append(out, Line{}, t.Head())
			for k := range r.Attempts {
				out = append(out, t.Attempt(k, false)...)
			}
		}
		out = append(out, Notes(r, f)...)
	}
	return out
}
