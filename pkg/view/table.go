package view

import (
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Widths below which a column of the attempts table is left out, and bounds of the others, in cells.
const (
	minBar      = 8
	minName     = 24
	minTimeRoom = 96
	maxBar      = 60
	maxCell     = 26
	maxCellWide = 42
)

// Table is the attempts of one resolution, laid out for one width. Its lines are made when they are asked for, since only
// a screenful of ten thousand attempts is ever looked at.
type Table struct {
	r     *probe.Resolution
	f     Frame
	zone  string
	host  string
	total probe.Millis
	// Widths of the columns; 0 leaves a column out.
	number, name, a, aaaa, time, bar int
	// first holds the index of the first line of each attempt, and the number of lines at its end.
	first []int
}

// NewTable lays out the attempts of r.
func NewTable(run *probe.Run, r *probe.Resolution, f Frame) Table {
	t := Table{r: r, f: f, zone: probe.ClusterZone(run.Settings.Search), host: S(Plain, r.Host).text, total: f.total(r)}
	t.number = max(1, len(strconv.Itoa(len(r.Attempts))))
	t.a, t.aaaa = width("A"), width("AAAA")
	longest := width("name tried")
	t.first = make([]int, len(r.Attempts)+1)
	lines, signs, mark := 0, f.Glyphs.signWidth(), 2+width(f.Glyphs.Left)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		n := nameWidth(a.Name)
		if LeftCluster(r, a, t.zone) {
			n += mark
		}
		longest = max(longest, n)
		t.a = max(t.a, t.cell(a, probe.TypeA).width(signs))
		t.aaaa = max(t.aaaa, t.cell(a, probe.TypeAAAA).width(signs))
		t.first[i] = lines
		lines += 1 + len(t.below(a))
	}
	t.first[len(r.Attempts)] = lines
	t.share(longest)
	return t
}

// nameWidth is the width of a name once it is printable; names of plain ASCII, nearly all, need no copy for that.
func nameWidth(name string) int {
	for i := range len(name) {
		if name[i] < 0x20 || name[i] > 0x7e {
			return width(S(Plain, name).text)
		}
	}
	return len(name)
}

// share gives each column its width. The order of what gives way: time, bar, then cells and name get shorter.
func (t *Table) share(longest int) {
	most := maxCell
	if t.f.Width >= 140 {
		most = maxCellWide
	}
	if t.f.Width < 70 {
		most = 15
	}
	t.a, t.aaaa = min(t.a, most), min(t.aaaa, most)
	room := t.f.Width - 2 - t.number - 2 - 2 - t.a - 2 - t.aaaa
	if t.f.Width >= minTimeRoom && room-2-8 >= min(longest, 40)+2+minBar {
		t.time = 8
		room -= 2 + t.time
	}
	if room-2-minBar >= min(longest, minName) && room >= minName+2+minBar {
		t.name = min(longest, room-2-minBar)
		t.bar = min(room-2-t.name, maxBar)
		return
	}
	t.name = min(longest, max(room, 1))
}

func (t *Table) cell(a *probe.Attempt, typ probe.QueryType) cell {
	return cellOf(a, typ, t.r.Outcome != "" || !t.f.Live, t.f.Glyphs)
}

// Head returns the line above the columns.
func (t Table) Head() Line {
	text := "  " + padLeft("#", t.number) + "  " + padRight("name tried", t.name) + "  " + padRight("A", t.a) + "  " +
		padRight("AAAA", t.aaaa)
	if t.time > 0 {
		text += "  " + padLeft("time", t.time)
	}
	if t.bar > 0 {
		text += "  " + axis(t.total, t.bar)
	}
	return L(Faint, strings.TrimRight(text, " "))
}

// Len returns the number of lines below the head.
func (t Table) Len() int { return t.first[len(t.first)-1] }

// Lines returns the index of the first line of an attempt and how many lines it takes.
func (t Table) Lines(attempt int) (first, count int) {
	if attempt < 0 || attempt >= len(t.first)-1 {
		return 0, 0
	}
	return t.first[attempt], t.first[attempt+1] - t.first[attempt]
}

// Attempt returns the lines of one attempt; selected puts the cursor beside it.
func (t Table) Attempt(i int, selected bool) []Line {
	a := &t.r.Attempts[i]
	cursor, tone := "  ", Plain
	if selected {
		cursor, tone = padRight(t.f.Glyphs.Cursor, 2), Strong
	}
	line := Line{S(Accent, cursor), S(Faint, padLeft(strconv.Itoa(a.N), t.number)), S(Plain, "  ")}
	line = append(line, t.nameSpans(a, tone)...)
	for _, c := range []struct {
		typ probe.QueryType
		w   int
	}{{probe.TypeA, t.a}, {probe.TypeAAAA, t.aaaa}} {
		cell := t.cell(a, c.typ)
		text := S(cell.tone, cell.String())
		text.text = padRight(Line{text}.Clip(c.w, t.f.Glyphs.Ellipsis).String(), c.w)
		line = append(line, S(Plain, "  "), text)
	}
	if t.time > 0 {
		took := ""
		if d := t.took(a); d > 0 {
			took = Duration(d)
		}
		line = append(line, S(Plain, "  "), S(Plain, padLeft(took, t.time)))
	}
	if t.bar > 0 {
		line = append(line, S(Plain, "  "))
		line = append(line, t.barSpans(a)...)
	}
	out := []Line{line.Clip(t.f.Width, t.f.Glyphs.Ellipsis)}
	return append(out, t.below(a)...)
}

// below returns what has to be said about losses, below the attempt.
func (t Table) below(a *probe.Attempt) []Line {
	texts := losses(t.r, a)
	if len(texts) == 0 {
		return nil
	}
	indent := 2 + t.number + 2
	var out []Line
	for _, text := range texts {
		out = append(out, Indent(Wrap(Bad, text, max(t.f.Width-indent, 8)), indent)...)
	}
	return out
}

func (t Table) nameSpans(a *probe.Attempt, tone Tone) Line {
	room, mark := t.name, ""
	if LeftCluster(t.r, a, t.zone) {
		mark = t.f.Glyphs.Left
		// A mark that would leave next to nothing of the name is cut before the name is.
		room -= 2 + width(mark)
		if room < 12 {
			room, mark = t.name, ""
		}
	}
	if a.Decided {
		tone = Strong
	}
	name := S(tone, a.Name)
	name.text = elideName(name.text, t.host, room, t.f.Glyphs.Ellipsis)
	line := Line{name}
	used := width(name.text)
	if mark != "" {
		line = append(line, S(Plain, "  "), S(Caution, mark))
		used += 2 + width(mark)
	}
	return append(line, S(Plain, strings.Repeat(" ", max(t.name-used, 0))))
}

// took is how long an attempt took, or has taken so far.
func (t Table) took(a *probe.Attempt) probe.Millis {
	switch {
	case a.Outcome != "":
		return a.Duration
	case t.r.Outcome != "":
		return max(t.r.Duration-a.Start, 0)
	}
	return max(t.total-a.Start, 0)
}

// barSpans draws when an attempt ran. The part in which a message was waited for in vain looks different.
func (t Table) barSpans(a *probe.Attempt) Line {
	if t.total <= 0 {
		return nil
	}
	at := func(m probe.Millis) int { return int(float64(m) / float64(t.total) * float64(t.bar)) }
	from := min(max(at(a.Start), 0), t.bar-1)
	to := min(max(at(a.Start+t.took(a)), from+1), t.bar)
	tone := Caution
	if a.Decided && t.r.Outcome == probe.OK {
		tone = Good
	}
	line := Line{S(Plain, strings.Repeat(" ", from))}
	if lost := min(max(at(waitedInVain(a, a.Start+t.took(a))), from), to); lost > from {
		line = append(line, S(Bad, strings.Repeat(t.f.Glyphs.BarWaiting, lost-from)))
		from = lost
	}
	return append(line, S(tone, strings.Repeat(t.f.Glyphs.Bar, to-from)))
}

// waitedInVain returns the time up to which an attempt waited for messages that were lost: when the newest one after a loss
// was sent, or the end when nothing came any more.
func waitedInVain(a *probe.Attempt, end probe.Millis) probe.Millis {
	var until probe.Millis
	for i := range a.Queries {
		ts := a.Queries[i].Transmissions
		for j := range ts {
			if ts[j].Reply != probe.ReplyLost || spared(&a.Queries[i], j) {
				continue
			}
			if j+1 < len(ts) {
				until = max(until, ts[j+1].Sent)
			} else {
				until = end
			}
		}
	}
	return until
}
