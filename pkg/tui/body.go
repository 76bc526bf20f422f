package tui

import (
	"sort"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// body is the scrolling middle of the first screen: lists below each other. Lines are made for what is visible only.
type body struct {
	segments []segment
	height   int
}

// segment is one list, or lines without entries (entries 0).
type segment struct {
	part    part
	entries int
	height  int
	// place returns the first line of an entry and how many it has.
	place func(i int) (first, count int)
	// draw returns the lines of an entry.
	draw func(i int, selected bool) []view.Line
}

// gutter is the room for the cursor, in cells.
const gutter = 2

// runBody puts together the first screen for one resolution.
func runBody(run *probe.Run, r *probe.Resolution, f view.Frame) body {
	var b body
	b.text(view.Remarks(run, f))
	if len(r.Attempts) > 0 {
		t := view.NewTable(run, r, f)
		b.gap()
		b.text([]view.Line{t.Head()})
		b.add(segment{part: partAttempts, entries: len(r.Attempts), height: t.Len(), place: t.Lines, draw: t.Attempt})
	}
	b.text(view.Notes(r, f))
	inner := f
	inner.Width = f.Width - gutter
	if c := view.Compared(run, r); c != nil {
		head, rows := view.Libcs(c, inner)
		b.gap()
		b.text(view.Indent([]view.Line{head}, gutter))
		b.list(partLibcs, rows, f)
	}
	if found := view.Findings(run, inner); len(found) > 0 {
		b.gap()
		b.list(partFindings, found, f)
	}
	b.text(view.Indent(view.FollowUps(run, inner), gutter))
	if head, rows := view.WhatIf(run, r, inner); len(rows) > 0 {
		b.gap()
		b.text(view.Indent([]view.Line{head}, gutter))
		lists := make([][]view.Line, 0, len(rows))
		for _, row := range rows {
			lists = append(lists, row.Lines)
		}
		b.list(partWhatIf, lists, f)
	}
	if len(run.Problems) > 0 {
		b.gap()
		b.text([]view.Line{view.L(view.Strong, "  Could not be done")})
		lists := make([][]view.Line, 0, len(run.Problems))
		for i := range run.Problems {
			one := probe.Run{Problems: run.Problems[i : i+1]}
			lists = append(lists, view.Problems(&one, inner))
		}
		b.list(partProblems, lists, f)
	}
	return b
}

func (b *body) add(s segment) {
	b.segments = append(b.segments, s)
	b.height += s.height
}

// gap adds an empty line between two lists.
func (b *body) gap() {
	if b.height > 0 {
		b.text([]view.Line{{}})
	}
}

func (b *body) text(lines []view.Line) {
	if len(lines) > 0 {
		b.add(segment{height: len(lines), draw: func(int, bool) []view.Line { return lines }})
	}
}

// list adds a list whose entries are drawn already, with room for the cursor before them.
func (b *body) list(p part, entries [][]view.Line, f view.Frame) {
	first := make([]int, len(entries)+1)
	for i, lines := range entries {
		first[i+1] = first[i] + len(lines)
	}
	b.add(segment{
		part: p, entries: len(entries), height: first[len(entries)],
		place: func(i int) (int, int) { return first[i], first[i+1] - first[i] },
		draw: func(i int, selected bool) []view.Line {
			lines := view.Indent(entries[i], gutter)
			if selected && len(lines) > 0 {
				sign := view.L(view.Accent, f.Glyphs.Cursor).Pad(gutter)
				lines[0] = append(append(view.Line{}, sign...), entries[i][0]...)
			}
			return lines
		},
	})
}

// find returns the lines of the entry under the cursor.
func (b body) find(c cursor) (first, count int) {
	line := 0
	for _, s := range b.segments {
		if s.entries > 0 && s.part == c.part && c.index < s.entries {
			first, count = s.place(c.index)
			return line + first, count
		}
		line += s.height
	}
	return 0, 0
}

// window returns the first line to show so that the entry under the cursor is in the middle of height lines, or as near as
// the ends allow.
func (b body) window(c cursor, height int) int {
	first, count := b.find(c)
	if count > height {
		// Its beginning says most.
		return first
	}
	return min(max(first+count/2-height/2, 0), max(b.height-height, 0))
}

// lines returns up to n lines from line from on.
func (b body) lines(from, n int, c cursor) []view.Line {
	var out []view.Line
	line := 0
	for _, s := range b.segments {
		if line+s.height > from && line < from+n {
			out = append(out, s.cut(max(from-line, 0), from+n-line, c)...)
		}
		line += s.height
	}
	return out
}

// cut returns the lines of a segment from one line to another.
func (s segment) cut(from, to int, c cursor) []view.Line {
	if s.entries == 0 {
		return s.draw(0, false)[from:min(to, s.height)]
	}
	var out []view.Line
	start := sort.Search(s.entries, func(i int) bool {
		first, count := s.place(i)
		return first+count > from
	})
	for i := start; i < s.entries; i++ {
		first, _ := s.place(i)
		if first >= to {
			break
		}
		for j, l := range s.draw(i, s.part == c.part && i == c.index) {
			if at := first + j; at >= from && at < to {
				out = append(out, l)
			}
		}
	}
	return out
}
