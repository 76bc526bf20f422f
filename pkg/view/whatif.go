package view

import (
	"strconv"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// WhatIfRow is one row of the what-if table.
type WhatIfRow struct {
	Lines []Line
	// Index points into Run.WhatIf, -1 for the row of the settings as they are when that list has none.
	Index int
}

// WhatIf returns the head of the what-if table of one host and its rows, nil rows when nothing was tried for it. The settings
// as they are come first, so that every row has something to be compared with.
func WhatIf(run *probe.Run, r *probe.Resolution, f Frame) (Line, []WhatIfRow) {
	var list []probe.WhatIf
	var index []int
	hasNow := false
	for i, w := range run.WhatIf {
		if w.Host != r.Host || len(list) == maxShown {
			continue
		}
		hasNow = hasNow || isNow(w.Variant)
		list, index = append(list, w), append(index, i)
	}
	if len(list) == 0 {
		return nil, nil
	}
	if !hasNow && isNow(r.Variant) && r.Outcome != "" {
		now := probe.WhatIf{
			Host: r.Host, Variant: probe.VariantNow, Outcome: r.Outcome, Duration: r.Duration,
			QueriesSent: r.QueriesSent, SameAnswer: true, Source: r.Source,
		}
		list, index = append([]probe.WhatIf{now}, list...), append([]int{-1}, index...)
	}
	w := width("What if")
	for i := range list {
		w = max(w, nameWidth(list[i].Variant))
	}
	w = min(w, max(f.Width/3, 12))
	wide := 0
	for i := range list {
		wide = max(wide, len(spread(&list[i])))
	}
	title := "  " + padLeft("queries", 7) + "  " + padLeft("time", 8) + "  "
	if wide > 0 {
		wide = max(wide, len("spread"))
		title += padRight("spread", wide) + "  "
	}
	head := Line{S(Strong, padRight("What if", w)), S(Faint, title+"same answer")}
	rows := make([]WhatIfRow, 0, len(list))
	for i := range list {
		rows = append(rows, WhatIfRow{Lines: append(whatIfLines(&list[i], f, w, wide, list[0].Outcome), otherLibcs(&list[i], f)...), Index: index[i]})
	}
	return head.Clip(f.Width, f.Glyphs.Ellipsis), rows
}

// spread is the range of what was measured, in milliseconds or seconds as the median is written; "" where it is none.
func spread(w *probe.WhatIf) string {
	if w.Times < 2 {
		return ""
	}
	low, unit, _ := strings.Cut(Duration(w.Fastest), " ")
	high, same, _ := strings.Cut(Duration(w.Slowest), " ")
	switch {
	case low == high && unit == same:
		return ""
	case unit == same:
		return low + "-" + high + " " + unit
	}
	return Duration(w.Fastest) + "-" + Duration(w.Slowest)
}

// otherLibcs say what a variant does in the containers with another libc.
func otherLibcs(w *probe.WhatIf, f Frame) []Line {
	var out []Line
	for i, l := range w.Libcs {
		if i == maxShown {
			break
		}
		row := probe.WhatIf{Outcome: l.Outcome, SameAnswer: l.SameAnswer}
		same, tone := sameWords(&row)
		items := []Span{
			S(Faint, "on "+libcWord(l.Libc, l.LibcVersion)), S(Plain, plural(l.QueriesSent, "query", "queries")), S(Plain, Duration(l.Duration)),
			S(tone, "same answer: "+same),
		}
		if l.Source == probe.Predicted {
			items = append(items, S(Faint, "predicted"))
		}
		out = append(out, Indent(flow(items, f.Width-4), 4)...)
	}
	return out
}

// libcWord names a libc with its upstream version.
func libcWord(l probe.Libc, version string) string {
	upstream, _, _ := strings.Cut(version, "-")
	return strings.TrimSpace(string(l) + " " + upstream)
}

func whatIfLines(w *probe.WhatIf, f Frame, col, wide int, now probe.Outcome) []Line {
	name := S(Plain, w.Variant)
	if isNow(w.Variant) {
		name = S(Strong, probe.VariantNow)
	}
	name.text = padRight(elide(name.text, col, f.Glyphs.Ellipsis), col)
	head := Line{name, S(Plain, "  "+padLeft(strconv.Itoa(w.QueriesSent), 7)+"  "+padLeft(Duration(w.Duration), 8)+"  ")}
	if wide > 0 {
		head = append(head, S(Faint, padRight(spread(w), wide)+"  "))
	}
	same, tone := sameWords(w)
	if now != probe.OK && now != "" && w.Outcome == probe.OK {
		// Another answer is what is looked for.
		same, tone = "resolves", Good
	}
	note := whatIfNote(w)
	if isNow(w.Variant) {
		return Hang(head, Faint, note, f.Width)
	}
	head = append(head, S(tone, same))
	if note == "" {
		return []Line{head.Clip(f.Width, f.Glyphs.Ellipsis)}
	}
	head = append(head, S(Faint, " "+f.Glyphs.Dot+" "))
	if room := f.Width - head.Width(); room < 48 && width(S(Faint, note).text) > room {
		// Below it is read in one piece.
		return append([]Line{head[:len(head)-1].Clip(f.Width, f.Glyphs.Ellipsis)}, Indent(Wrap(Faint, note, f.Width-4), 4)...)
	}
	return Hang(head, Faint, note, f.Width)
}

func sameWords(w *probe.WhatIf) (string, Tone) {
	switch {
	case w.SameAnswer:
		return "yes", Good
	case w.Outcome != probe.OK && w.Outcome != "":
		return "NO, " + strings.ToUpper(string(w.Outcome)), Bad
	}
	return "NO", Bad
}

func whatIfNote(w *probe.WhatIf) string {
	note := w.Note
	if w.Source == probe.Predicted {
		if note != "" {
			return "predicted; " + note
		}
		return "predicted"
	}
	return note
}

// Variant returns all that is known about one variant: what it would do for each host it was tried for.
func Variant(run *probe.Run, variant string, f Frame) []Line {
	out := Hang(Line{S(Strong, "What if   ")}, Strong, variant, f.Width)
	shown := 0
	for i := range run.WhatIf {
		w := &run.WhatIf[i]
		if w.Variant != variant {
			continue
		}
		if shown++; shown > maxShown {
			break
		}
		same, tone := sameWords(w)
		out = append(out, Line{})
		out = append(out, Wrap(Strong, w.Host, f.Width)...)
		source := "measured in this pod"
		if w.Source == probe.Predicted {
			source = "predicted on a model of this pod"
		}
		items := []Span{
			S(Plain, string(w.Outcome)), S(Plain, plural(w.QueriesSent, "query", "queries")), S(Plain, Duration(w.Duration)),
			S(tone, "same answer: "+same), S(Faint, source),
		}
		if text := spread(w); text != "" {
			items = append(items, S(Faint, plural(w.Times, "time", "times")+", "+text))
		}
		out = append(out, Indent(flow(items, f.Width-2), 2)...)
		out = append(out, otherLibcs(w, f)...)
		out = append(out, Indent(Wrap(Plain, w.Note, f.Width-2), 2)...)
	}
	return out
}
