package tui

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// page is one of the screens.
type page int

const (
	pageRun page = iota
	pageDetails
	pagePatch
	pageHelp
)

// part is one of the lists of the first screen.
type part int

const (
	partAttempts part = iota
	partLibcs
	partFindings
	partWhatIf
	partProblems
	numParts
)

// cursor points at one entry of one list.
type cursor struct {
	part  part
	index int
}

// heard is when a resolution was last heard of: by its own clock, and by ours.
type heard struct {
	at   probe.Millis
	when time.Time
}

// Model is the whole state of the screen. Everything that is shown is a function of it.
type Model struct {
	ctx    context.Context
	events <-chan probe.Event
	failed func() error
	pace   float64
	out    io.Writer
	tmux   bool
	title  string
	styles styles
	glyphs view.Glyphs
	// ascii is set for terminals that do not read UTF-8.
	ascii bool

	fold  *probe.Fold
	run   probe.Run
	heard map[string]heard
	now   time.Time
	// shown are the indexes of the resolutions with a picture, host is the id of the one that is looked at.
	shown []int
	host  string
	ended bool
	err   error
	// doing is what is done before there is anything to show, or beside it.
	doing string

	width, height int
	page          page
	// from is the page that help goes back to.
	from   page
	cursor cursor
	// moved is set when somebody chose; before that the cursor goes where something happens.
	moved  bool
	offset int
	status string
	// yamlAsked is set when the YAML was copied: then it is printed in the end, as the status line said.
	yamlAsked   bool
	interrupted bool
}

func newModel(ctx context.Context, o Options, out io.Writer, colour bool, g view.Glyphs) Model {
	m := Model{
		ctx: ctx, events: o.Events, failed: o.Failed, pace: o.Pace, out: out, tmux: o.Getenv("TMUX") != "",
		styles: newStyles(out, colour), glyphs: g, ascii: g == view.ASCII, fold: &probe.Fold{}, heard: map[string]heard{},
	}
	if m.pace <= 0 {
		m.pace = 1
	}
	if _, ok := out.(terminal); !ok {
		// No terminal says how large it is, so no such message will come.
		m.width, m.height = 80, 24
	}
	return m
}

// Init starts to listen.
func (m Model) Init() tea.Cmd {
	start := tea.Batch(listen(m.ctx, m.events, m.failed), tick())
	if m.title == "" {
		return start
	}
	return tea.Batch(tea.SetWindowTitle(m.title), start)
}

// Update takes in what happened. It waits for nothing and reads no clock.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case eventsMsg:
		return m.hear(msg)
	case beatMsg:
		m.now = time.Time(msg)
		if m.ended {
			return m, nil
		}
		return m, tick()
	case copiedMsg:
		m.status = "offered " + msg.what + " to the clipboard; it is also printed when you quit"
		if msg.err != nil {
			m.status = "could not write to the terminal: " + msg.err.Error()
		}
		return m, nil
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.offset = m.clampOffset(m.offset)
		// Terminals and tmux leave scraps behind when they change size.
		return m, tea.ClearScreen
	case tea.KeyMsg:
		return m.press(msg)
	}
	return m, nil
}

func (m Model) hear(msg eventsMsg) (tea.Model, tea.Cmd) {
	for _, ev := range msg.events {
		if m.ascii {
			ev = view.ASCIIEvent(ev)
		}
		m.fold.Add(ev)
		if ev.Resolution != "" {
			m.heard[ev.Resolution] = heard{ev.At, msg.at}
		}
		if text := doing(ev); text != "" {
			m.doing = text
		}
	}
	m.run = m.fold.Run()
	if msg.at.After(m.now) {
		m.now = msg.at
	}
	if msg.ended {
		m.ended, m.err = true, msg.err
	}
	m.shown = view.Shown(&m.run)
	if m.host == "" && len(m.shown) > 0 {
		m.host = m.run.Resolutions[m.shown[0]].ID
	}
	if !m.moved {
		m.cursor = m.liveliest()
	}
	m.cursor = m.nearest(m.cursor)
	m.offset = m.clampOffset(m.offset)
	if m.ended {
		return m, nil
	}
	return m, listen(m.ctx, m.events, m.failed)
}

// doing says what an event begins, "" for events that begin nothing.
func doing(ev probe.Event) string {
	switch {
	case ev.Kind == probe.KindNote && ev.Resolution == "":
		return ev.Note
	case ev.Kind != probe.KindBegin || ev.Begin == nil:
		return ""
	}
	host := ev.Begin.Host
	switch ev.Begin.Purpose.OrAsked() {
	case probe.PurposeAlso:
		return "resolving " + host + ", which has to keep working"
	case probe.PurposeRepeat:
		return "once more: " + host
	case probe.PurposeWhatIf:
		return "what if " + ev.Begin.Variant + ": " + host
	case probe.PurposeTest:
		if ev.Begin.Question != nil {
			host += " " + ev.Begin.Question.Label()
		}
		return "testing with " + host
	case probe.PurposeCompare:
		return "through " + string(ev.Begin.Libc) + ": " + host
	}
	return "resolving " + host
}

// resolution returns the one that is looked at; an empty one when there is none yet.
func (m Model) resolution() *probe.Resolution {
	if i := m.hostIndex(); i >= 0 {
		return &m.run.Resolutions[m.shown[i]]
	}
	return &probe.Resolution{}
}

// hostIndex returns the place in shown of the resolution that is looked at, -1 when there is none.
func (m Model) hostIndex() int {
	if i := slices.IndexFunc(m.shown, func(i int) bool { return m.run.Resolutions[i].ID == m.host }); i >= 0 {
		return i
	}
	return len(m.shown[:min(len(m.shown), 1)]) - 1
}

// frame is the room and the time for pictures of the resolution that is looked at.
func (m Model) frame(width int) view.Frame {
	f := view.Frame{Width: width, Glyphs: m.glyphs, Live: !m.ended, Brief: m.height < spacious}
	h, ok := m.heard[m.resolution().ID]
	if !ok {
		return f
	}
	f.Elapsed = h.at
	if f.Live && m.now.After(h.when) {
		f.Elapsed += probe.Millis(float64(m.now.Sub(h.when)) / m.pace)
	}
	return f
}

// liveliest is where something happens: the newest attempt, in the end the one that decided.
func (m Model) liveliest() cursor {
	r := m.resolution()
	for i := range r.Attempts {
		if r.Attempts[i].Decided {
			return cursor{partAttempts, i}
		}
	}
	return cursor{partAttempts, max(len(r.Attempts)-1, 0)}
}

// count returns the length of one of the lists.
func (m Model) count(p part) int {
	switch p {
	case partAttempts:
		return len(m.resolution().Attempts)
	case partLibcs:
		if c := view.Compared(&m.run, m.resolution()); c != nil {
			return len(c.Libcs)
		}
	case partFindings:
		return len(m.run.Findings)
	case partWhatIf:
		_, rows := view.WhatIf(&m.run, m.resolution(), m.frame(80))
		return len(rows)
	case partProblems:
		return len(m.run.Problems)
	}
	return 0
}

// whatIfIndex returns the place in Run.WhatIf of a row of the table, -1 for a row that is not from there.
func (m Model) whatIfIndex(row int) int {
	_, rows := view.WhatIf(&m.run, m.resolution(), m.frame(80))
	if row < 0 || row >= len(rows) {
		return -1
	}
	return rows[row].Index
}

// nearest returns c, or the entry next to it when its list got shorter or is empty.
func (m Model) nearest(c cursor) cursor {
	if n := m.count(c.part); n > 0 {
		return cursor{c.part, min(max(c.index, 0), n-1)}
	}
	for p := range numParts {
		if m.count(p) > 0 {
			return cursor{p, 0}
		}
	}
	return cursor{}
}

// step moves the cursor by some entries through all lists.
func (m Model) step(c cursor, by int) cursor {
	var counts [numParts]int
	flat, total := 0, 0
	for p := range numParts {
		counts[p] = m.count(p)
		if p == c.part {
			flat = total + c.index
		}
		total += counts[p]
	}
	flat = min(max(flat+by, 0), max(total-1, 0))
	for p := range numParts {
		if flat < counts[p] {
			return cursor{p, flat}
		}
		flat -= counts[p]
	}
	return m.nearest(c)
}

// section moves the cursor to the first entry of the next list that has any, or of the one before.
func (m Model) section(c cursor, by int) cursor {
	for i := 1; i <= int(numParts); i++ {
		p := part((int(c.part) + by*i + int(numParts)*i) % int(numParts))
		if m.count(p) > 0 {
			return cursor{p, 0}
		}
	}
	return c
}

func (m Model) press(msg tea.KeyMsg) (tea.Model, tea.Cmd) {
	for a := range numActions {
		if !key.Matches(msg, keys[a]) {
			continue
		}
		if a == actQuit {
			m.interrupted = msg.Type == tea.KeyCtrlC
			return m, tea.Quit
		}
		if why := m.unusable(a); why != "" {
			m.status = keys[a].Help().Key + " does nothing here: " + why
			return m, nil
		}
		m.status = ""
		return m.act(a)
	}
	return m, nil
}

func (m Model) act(a action) (tea.Model, tea.Cmd) {
	switch a {
	case actSuspend:
		return m, tea.Suspend
	case actDetails:
		return m.turn(pageDetails), nil
	case actPatch:
		return m.turn(pagePatch), nil
	case actHelp:
		m.from = m.page
		return m.turn(pageHelp), nil
	case actBack:
		if m.page == pageHelp {
			return m.turn(m.from), nil
		}
		return m.turn(pageRun), nil
	case actCopyCommand:
		return m, toClipboard(m.out, "the command", view.Command(m.run.Patch), m.tmux)
	case actCopyYAML:
		m.yamlAsked = true
		return m, toClipboard(m.out, "the YAML", view.YAML(m.run.Patch), m.tmux)
	case actSection:
		m.cursor, m.moved = m.section(m.cursor, 1), true
	case actSectionBack:
		m.cursor, m.moved = m.section(m.cursor, -1), true
	case actPrevious:
		return m.aside(-1), nil
	case actNext:
		return m.aside(1), nil
	default:
		return m.scroll(a), nil
	}
	return m, nil
}

func (m Model) turn(p page) Model {
	m.page, m.offset = p, 0
	return m
}

// aside goes to the next host, or in the details of an attempt to the next attempt.
func (m Model) aside(by int) Model {
	if m.page == pageDetails {
		n := len(m.resolution().Attempts)
		m.cursor.index, m.moved, m.offset = (m.cursor.index+by+n)%n, true, 0
		return m
	}
	n := len(m.shown)
	m.host = m.run.Resolutions[m.shown[(m.hostIndex()+by+n)%n]].ID
	m.cursor, m.moved = m.nearest(m.liveliest()), false
	return m
}

// scroll moves the cursor of the first screen, or the text of the others.
func (m Model) scroll(a action) Model {
	screenful := max(m.bodyHeight()-1, 1)
	by := map[action]int{actUp: -1, actDown: 1, actPageUp: -screenful, actPageDown: screenful, actHome: -1 << 30, actEnd: 1 << 30}[a]
	if m.page != pageRun {
		m.offset = m.clampOffset(m.offset + by)
		return m
	}
	m.cursor, m.moved = m.step(m.cursor, by), true
	return m
}

func (m Model) clampOffset(offset int) int {
	if m.page == pageRun {
		return 0
	}
	return min(max(offset, 0), max(len(m.text(m.width))-m.bodyHeight(), 0))
}
