package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// Sizes in cells and lines.
const (
	// minWidth and minHeight are the least room in which anything can be read.
	minWidth, minHeight = 20, 6
	// airy is the height from which empty lines may set parts apart.
	airy = 26
	// spacious is the height from which findings are explained among the lists too.
	spacious = 30
	// besides is the width from which the details stand beside the lists.
	besides = 150
)

// View draws the screen: as many lines as the terminal has, none wider than it is.
func (m Model) View() string {
	if m.width < 1 || m.height < 1 {
		return ""
	}
	lines := m.screen()
	out := make([]string, m.height)
	for i := range out {
		if i < len(lines) {
			out[i] = m.styles.paint(lines[i].Clip(m.width, m.glyphs.Ellipsis))
		}
	}
	return strings.Join(out, "\n")
}

func (m Model) screen() []view.Line {
	if m.width < minWidth || m.height < minHeight {
		return view.Wrap(view.Caution, fmt.Sprintf("Make the window larger, please: %d x %d at least.", minWidth, minHeight), m.width)
	}
	lines := m.head()
	room := m.height - len(lines) - 2
	middle, from, total := m.middle(room)
	if total < room && m.height < airy {
		// There is room for the empty line that low screens go without.
		middle = append([]view.Line{{}}, middle...)
	}
	for len(middle) < room {
		middle = append(middle, view.Line{})
	}
	lines = append(lines, middle...)
	return append(lines, m.statusLine(from, room, total), m.keyLine())
}

// bodyHeight is the number of lines between head and status.
func (m Model) bodyHeight() int {
	if m.width < minWidth || m.height < minHeight {
		return 1
	}
	return m.height - len(m.head()) - 2
}

// head is what stays in place at the top: where, which host, what came of it, and what stopped the run.
func (m Model) head() []view.Line {
	f := m.frame(m.width)
	lines := []view.Line{view.HeaderLine(&m.run, f)}
	if m.page == pageRun {
		if len(m.shown) > 1 {
			lines = append(lines, m.hosts())
		}
		if len(m.shown) > 0 {
			lines = append(lines, view.Summary(&m.run, m.resolution(), f)...)
		} else if m.ended {
			lines = append(lines, view.L(view.Caution, "No host was resolved."))
		} else {
			lines = append(lines, view.L(view.Accent, "preparing"))
		}
	} else if r := m.resolution(); r.Host != "" {
		lines = append(lines, view.L(view.Strong, r.Host))
	}
	if m.err != nil {
		lines = append(lines, view.Hang(view.L(view.Bad, m.glyphs.No+" "), view.Bad, "the run stopped: "+m.err.Error(), m.width)...)
	}
	// At least half of a small screen belongs to what scrolls.
	if most := max(m.height/2-1, 1); len(lines) > most {
		lines = lines[:most]
	}
	if m.height >= airy {
		lines = append(lines, view.Line{})
	}
	return lines
}

// hosts is the row of hosts, the one that is looked at in the middle of what fits.
func (m Model) hosts() view.Line {
	at := m.hostIndex()
	tab := func(i int) view.Line {
		r := &m.run.Resolutions[m.shown[i]]
		sign, tone := m.glyphs.Waiting, view.Accent
		switch {
		case r.Outcome == probe.OK:
			sign, tone = m.glyphs.OK, view.Good
		case r.Outcome != "" || m.ended:
			sign, tone = m.glyphs.No, view.Bad
		}
		name := view.L(view.Faint, r.Host).Clip(30, m.glyphs.Ellipsis)
		if i == at {
			name = append(view.L(view.Accent, m.glyphs.Cursor+" "), view.L(view.Strong, r.Host).Clip(30, m.glyphs.Ellipsis)...)
		}
		return append(append(name, view.S(view.Plain, " ")), view.S(tone, sign))
	}
	line := tab(at)
	sep := view.S(view.Faint, "  "+m.glyphs.Tab+"  ")
	lo, hi := at, at
	for {
		grown := false
		if hi+1 < len(m.shown) {
			if next := append(append(append(view.Line{}, line...), sep), tab(hi+1)...); next.Width() <= m.width-8 {
				line, hi, grown = next, hi+1, true
			}
		}
		if lo > 0 {
			if next := append(append(tab(lo-1), sep), line...); next.Width() <= m.width-8 {
				line, lo, grown = next, lo-1, true
			}
		}
		if !grown {
			break
		}
	}
	if hi-lo+1 < len(m.shown) {
		line = append(line, view.S(view.Faint, fmt.Sprintf("  %d/%d", at+1, len(m.shown))))
	}
	return line
}

// middle returns the lines between head and status, the number of the first one and how many there are.
func (m Model) middle(room int) (lines []view.Line, from, total int) {
	if m.page != pageRun {
		text := m.text(m.width)
		from = min(max(m.offset, 0), max(len(text)-room, 0))
		return text[from:min(from+room, len(text))], from, len(text)
	}
	if m.width < besides {
		return m.list(m.width, room)
	}
	left := m.width * 3 / 5
	right := m.width - left - 3
	lines, from, total = m.list(left, room)
	return sideBySide(lines, m.details(m.cursor, right), left, room, m.glyphs), from, total
}

func (m Model) list(width, room int) (lines []view.Line, from, total int) {
	b := runBody(&m.run, m.resolution(), m.frame(width))
	from = b.window(m.cursor, room)
	return b.lines(from, room, m.cursor), from, b.height
}

// sideBySide puts the details beside the lists.
func sideBySide(left, right []view.Line, width, room int, g view.Glyphs) []view.Line {
	out := make([]view.Line, 0, room)
	for i := range room {
		var l view.Line
		if i < len(left) {
			l = left[i].Clip(width, g.Ellipsis)
		}
		l = append(l.Pad(width), view.S(view.Faint, " "+g.Tab+" "))
		switch {
		case i >= len(right):
		case i == room-1 && len(right) > room:
			l = append(l, view.S(view.Faint, "enter shows the rest"))
		default:
			l = append(l, right[i]...)
		}
		out = append(out, l)
	}
	return out
}

// text is the content of the screens that are text to read.
func (m Model) text(width int) []view.Line {
	switch m.page {
	case pageDetails:
		return m.details(m.cursor, width)
	case pagePatch:
		return m.patchText(width)
	case pageHelp:
		return m.helpText(width)
	}
	return nil
}

// details says all about the entry under a cursor.
func (m Model) details(c cursor, width int) []view.Line {
	f := m.frame(width)
	r := m.resolution()
	if c.index >= m.count(c.part) {
		return nil
	}
	switch c.part {
	case partAttempts:
		return view.Detail(&m.run, r, &r.Attempts[c.index], f)
	case partLibcs:
		if cmp := view.Compared(&m.run, r); cmp != nil {
			return view.Libc(&m.run, cmp, c.index, f)
		}
	case partFindings:
		return view.Finding(&m.run.Findings[c.index], f)
	case partWhatIf:
		if i := m.whatIfIndex(c.index); i >= 0 {
			return view.Variant(&m.run, m.run.WhatIf[i].Variant, f)
		}
	}
	return nil
}

func (m Model) patchText(width int) []view.Line {
	p := m.run.Patch
	if p == nil {
		return view.Wrap(view.Caution, "There is no patch: "+m.noPatch()+".", width)
	}
	lines := view.Patch(&m.run, m.frame(width))
	lines = append(lines, view.Line{})
	for _, c := range []struct{ what, text string }{{"Apply it: ", view.Command(p)}, {"Take it back: ", view.Undo(p)}} {
		if c.text != "" {
			lines = append(lines, view.Hang(view.L(view.Strong, c.what), view.Plain, c.text, width)...)
		}
	}
	if view.Command(p) == "" {
		lines = append(lines, view.Wrap(view.Caution, "It cannot be changed in place: put this into what creates it.", width)...)
	}
	return lines
}

// helpText lists every key with what it does, and why not where it does nothing now; then the signs, and what all this was seen with.
func (m Model) helpText(width int) []view.Line {
	was := m
	was.page = m.from
	lines := []view.Line{view.L(view.Strong, "Keys")}
	for a := range numActions {
		h := keys[a].Help()
		name := view.L(view.Accent, h.Key).Pad(12)
		what, tone := h.Desc, view.Plain
		if why := was.unusable(a); why != "" && a != actBack {
			name = view.L(view.Faint, h.Key).Pad(12)
			what, tone = h.Desc+" (not now: "+why+")", view.Faint
		}
		lines = append(lines, view.Hang(append(view.Line{view.S(view.Plain, "  ")}, name...), tone, what, width)...)
	}
	g := m.glyphs
	lines = append(lines, view.Line{}, view.L(view.Strong, "Signs"))
	for _, s := range []struct{ sign, what string }{
		{g.OK, "an address came"},
		{g.None, "an answer without an address (no data), or nothing asked"},
		{g.No, "no such name, an error, or no answer"},
		{g.Bar, "when an attempt ran"},
		{g.BarWaiting, "time spent waiting for a message that was lost"},
		{g.Left, "asked outside of the cluster, in vain"},
	} {
		head := append(view.Line{view.S(view.Plain, "  ")}, view.L(view.Plain, s.sign).Pad(14)...)
		lines = append(lines, view.Hang(head, view.Plain, s.what, width)...)
	}
	for _, more := range []struct {
		title string
		lines []view.Line
	}{{"The settings in force", view.Settings(&m.run, m.frame(width-2))}, {"What is known of the pod and its cluster", view.Facts(&m.run, m.frame(width-2))}} {
		if len(more.lines) > 0 {
			lines = append(lines, view.Line{}, view.L(view.Strong, more.title))
			lines = append(lines, view.Indent(more.lines, 2)...)
		}
	}
	return lines
}

// statusLine says what was done last, whether the run goes on, and where in the text we are.
func (m Model) statusLine(from, room, total int) view.Line {
	left := view.L(view.Accent, m.status)
	switch {
	case m.status != "":
	case !m.ended:
		left = view.L(view.Accent, m.doing)
	case m.ended && m.run.Patch != nil && m.page == pageRun:
		left = view.L(view.Good, "a patch was found: p shows it, and how it was checked")
	}
	right := view.Line{}
	if total > room {
		arrows := ""
		if from > 0 {
			arrows += m.glyphs.Up
		}
		if from+room < total {
			arrows += m.glyphs.Down
		}
		right = view.L(view.Faint, fmt.Sprintf("lines %d-%d of %d %s", from+1, min(from+room, total), total, arrows))
	}
	gap := m.width - right.Width()
	if m.status != "" && left.Width() >= gap {
		// What was asked for matters more than where we are.
		return left
	}
	return append(left.Clip(max(gap-1, 0), m.glyphs.Ellipsis).Pad(gap), right...)
}

// keyLine names the keys that do something now, as many as fit; help and quit are always among them.
func (m Model) keyLine() view.Line {
	entry := func(a action) view.Line {
		what := short[a]
		if a == actNext && m.page == pageDetails {
			what = "next attempt"
		}
		return view.Line{view.S(view.Accent, firstKey(a)), view.S(view.Faint, " "+what)}
	}
	end := append(append(entry(actHelp), view.S(view.Plain, "  ")), entry(actQuit)...)
	if m.page == pageHelp {
		end = entry(actQuit)
	}
	var line view.Line
	order := []action{actBack, actDetails, actSection, actPatch, actNext, actCopyCommand, actCopyYAML}
	if m.page == pageRun {
		// Copying what was not looked at is rare.
		order = order[:len(order)-2]
	}
	for _, a := range order {
		if m.unusable(a) != "" {
			continue
		}
		if m.page == pageHelp && a != actBack {
			continue
		}
		e := append(entry(a), view.S(view.Plain, "  "))
		if line.Width()+e.Width()+end.Width() > m.width {
			break
		}
		line = append(line, e...)
	}
	return append(line, end...)
}

// firstKey is the name of a key where room is dear.
func firstKey(a action) string {
	name, _, _ := strings.Cut(keys[a].Help().Key, "/")
	return name
}
