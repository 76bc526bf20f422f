package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func noEnv(string) string { return "" }

// model returns a model that has taken in events, at a size.
func model(t testing.TB, events []probe.Event, ended bool, w, h int) Model {
	t.Helper()
	m := newModel(t.Context(), Options{Getenv: noEnv}, &bytes.Buffer{}, false, view.Unicode)
	return then(m, tea.WindowSizeMsg{Width: w, Height: h}, eventsMsg{events: events, at: noon, ended: ended})
}

// then gives messages to a model.
func then(m Model, msgs ...tea.Msg) Model {
	for _, msg := range msgs {
		next, _ := m.Update(msg)
		m = next.(Model)
	}
	return m
}

// press gives keys to a model.
func press(m Model, names ...string) Model {
	for _, name := range names {
		m = then(m, keyMsg(name))
	}
	return m
}

func keyMsg(name string) tea.KeyMsg {
	special := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "ctrl+c": tea.KeyCtrlC,
	}
	if typ, ok := special[name]; ok {
		return tea.KeyMsg{Type: typ}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	viewtest.Golden(t, *update, filepath.Join("testdata", name+".golden"), got)
}

// picture is a screen as a golden file keeps it: no blanks at the ends of lines.
func picture(m Model) string {
	var out []string
	for l := range strings.SplitSeq(m.View(), "\n") {
		out = append(out, strings.TrimRight(l, " "))
	}
	return strings.Join(out, "\n") + "\n"
}

var sizes = [][2]int{{60, 20}, {80, 24}, {120, 40}, {200, 60}}

func TestScreens(t *testing.T) {
	for name, s := range viewtest.Runs() {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				m := model(t, s.Events, name != "in-progress", size[0], size[1])
				golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), picture(m))
			})
		}
	}
}

func TestOtherScreens(t *testing.T) {
	for _, size := range sizes[:3] {
		at := fmt.Sprintf("-%dx%d", size[0], size[1])
		m := model(t, viewtest.Several().Events, true, size[0], size[1])
		golden(t, "patch"+at, picture(press(m, "p")))
		golden(t, "help"+at, picture(press(m, "?")))
		golden(t, "details-attempt"+at, picture(press(m, "up", "enter")))
		golden(t, "details-finding"+at, picture(press(m, "tab", "enter")))
		golden(t, "details-what-if"+at, picture(press(m, "tab", "tab", "down", "enter")))
		golden(t, "next-host"+at, picture(press(m, "right")))
		libcs := model(t, viewtest.Libcs().Events, true, size[0], size[1])
		golden(t, "details-libc"+at, picture(press(libcs, "tab", "down", "enter")))
		lost := model(t, viewtest.HalfLost().Events, true, size[0], size[1])
		golden(t, "details-half-lost"+at, picture(press(lost, "enter")))
	}
}

func TestColour(t *testing.T) {
	for _, size := range sizes {
		m := model(t, viewtest.Classic().Events, true, size[0], size[1])
		plain := m.View()
		m.styles = newStyles(&bytes.Buffer{}, true)
		if diff := cmp.Diff(plain, ansi.Strip(m.View())); diff != "" {
			t.Errorf("without its escapes the coloured screen is another (-plain +coloured):\n%s", diff)
		}
		golden(t, fmt.Sprintf("colour-%dx%d", size[0], size[1]), strings.ReplaceAll(picture(m), "\x1b", "ESC"))
	}
}

func TestASCII(t *testing.T) {
	var events []probe.Event
	for _, name := range []string{"several", "wide"} {
		events = append(events, viewtest.Runs()[name].Events...)
	}
	m := newModel(t.Context(), Options{Getenv: noEnv}, &bytes.Buffer{}, false, view.ASCII)
	m = then(m, tea.WindowSizeMsg{Width: 80, Height: 24}, eventsMsg{events: events, at: noon, ended: true})
	golden(t, "ascii-80x24", picture(m))
	for _, page := range []Model{m, press(m, "left"), press(m, "p"), press(m, "?"), press(m, "enter"), press(m, "tab", "enter")} {
		for _, r := range page.View() {
			if r > unicode.MaxASCII {
				t.Fatalf("page %d holds %q", page.page, r)
			}
		}
	}
}

// TestEverySize draws every screen at every size: nothing may be wider or higher than asked for, and nothing may panic.
func TestEverySize(t *testing.T) {
	runs := viewtest.Runs()
	for i, name := range []string{"several", "hostile", "half-lost", "long-names", "wide", "empty", "in-progress", "many-domains"} {
		m := model(t, runs[name].Events, name != "in-progress", 80, 24)
		m.err = errors.New("exec into pod: connection lost")
		screens := []Model{m, press(m, "enter"), press(m, "p"), press(m, "?"), press(m, "end"), press(m, "tab", "enter")}
		for w := 1; w <= 120; w++ {
			for h := 1; h <= 40; h++ {
				for j, s := range screens {
					// The first screen of the first run goes through all sizes; for the others the widths matter.
					if (i > 0 || j > 0) && h != 6 && h != 13 && h != 40 {
						continue
					}
					s = then(s, tea.WindowSizeMsg{Width: w, Height: h})
					check(t, s, fmt.Sprintf("%s, screen %d at %dx%d", name, j, w, h))
				}
			}
		}
	}
}

func check(t *testing.T, m Model, what string) {
	t.Helper()
	lines := strings.Split(m.View(), "\n")
	if len(lines) != m.height {
		t.Fatalf("%s: %d lines", what, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got > m.width {
			t.Fatalf("%s: line %d takes %d cells: %q", what, i+1, got, l)
		}
		for _, r := range l {
			if r < ' ' || r > '~' && unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				t.Fatalf("%s: line %d holds %U: %q", what, i+1, r, l)
			}
		}
	}
}

func TestTooSmallSaysSo(t *testing.T) {
	m := model(t, viewtest.Classic().Events, true, 19, 10)
	if got := m.View(); !strings.Contains(got, "Make the window") {
		t.Errorf("View = %q", got)
	}
}

func TestKeys(t *testing.T) {
	start := model(t, viewtest.Several().Events, true, 80, 24)
	for _, c := range []struct {
		name string
		keys []string
		page page
		want cursor
	}{
		{"begins at the attempt that decided", nil, pageRun, cursor{partAttempts, 4}},
		{"up", []string{"k", "up"}, pageRun, cursor{partAttempts, 2}},
		{"down goes on into the findings", []string{"j"}, pageRun, cursor{partFindings, 0}},
		{"home and end", []string{"end", "home"}, pageRun, cursor{partAttempts, 0}},
		{"end", []string{"G"}, pageRun, cursor{partProblems, 0}},
		{"no further than the end", []string{"G", "j", "j"}, pageRun, cursor{partProblems, 0}},
		{"page up", []string{"pgup"}, pageRun, cursor{partAttempts, 0}},
		{"tab", []string{"tab", "tab"}, pageRun, cursor{partWhatIf, 0}},
		{"tab goes round", []string{"tab", "tab", "tab", "tab"}, pageRun, cursor{partAttempts, 0}},
		{"tab backwards", []string{"shift+tab"}, pageRun, cursor{partProblems, 0}},
		{"details and back", []string{"enter", "esc"}, pageRun, cursor{partAttempts, 4}},
		{"details", []string{"enter"}, pageDetails, cursor{partAttempts, 4}},
		{"next attempt goes round", []string{"enter", "right"}, pageDetails, cursor{partAttempts, 0}},
		{"patch", []string{"p"}, pagePatch, cursor{partAttempts, 4}},
		{"help over the patch, and back to it", []string{"p", "?", "esc"}, pagePatch, cursor{partAttempts, 4}},
		{"a problem has no details", []string{"G", "enter"}, pageRun, cursor{partProblems, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := press(start, c.keys...)
			if m.page != c.page || m.cursor != c.want {
				t.Errorf("page %d, cursor %v, want page %d, cursor %v", m.page, m.cursor, c.page, c.want)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	m := model(t, viewtest.Several().Events, true, 80, 24)
	var hosts []string
	for range 4 {
		hosts = append(hosts, m.resolution().Host)
		m = press(m, "right")
	}
	if diff := cmp.Diff([]string{"api.stripe.com", "ledger", "legder", "api.stripe.com"}, hosts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m = press(m, "left"); m.resolution().Host != "api.stripe.com" {
		t.Errorf("left leads to %s", m.resolution().Host)
	}
}

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	m := model(t, viewtest.NoSuchName().Events, true, 80, 24)
	for key, want := range map[string]string{
		"p": "no change of dnsConfig was found to help", "c": "no change", "right": "there is one host only", "esc": "this is the first screen",
	} {
		if got := press(m, key).status; !strings.Contains(got, want) {
			t.Errorf("%s: status %q, want %q in it", key, got, want)
		}
	}
	if got := m.View(); strings.Contains(got, "p patch") || strings.Contains(got, "next host") {
		t.Errorf("the line of keys names keys that do nothing:\n%s", got)
	}
	live := model(t, viewtest.InProgress().Events, false, 80, 24)
	if got := press(live, "p").status; !strings.Contains(got, "the run is not finished") {
		t.Errorf("status %q", got)
	}
}

func TestHelpNamesEveryKeyOnce(t *testing.T) {
	m := press(model(t, viewtest.Classic().Events, true, 100, 60), "?")
	for a := range numActions {
		if got := strings.Count(m.View(), "  "+keys[a].Help().Key+" "); got < 1 {
			t.Errorf("help does not name %q", keys[a].Help().Key)
		}
	}
	used := map[string]action{}
	for a := range numActions {
		for _, k := range keys[a].Keys() {
			if other, twice := used[k]; twice {
				t.Errorf("%q stands for %q and %q", k, keys[a].Help().Desc, keys[other].Help().Desc)
			}
			used[k] = a
		}
	}
}

func TestLiveRunGrowsWithTheClock(t *testing.T) {
	m := model(t, viewtest.InProgress().Events, false, 120, 40)
	before := m.frame(120).Elapsed
	m = then(m, beatMsg(noon.Add(2*time.Second)))
	if got := m.frame(120).Elapsed - before; got != viewtest.Ms(2000) {
		t.Errorf("2 s later the resolution is %s further", view.Duration(got))
	}
	if got := m.View(); !strings.Contains(got, "resolving, 2.039 s so far") || !strings.Contains(got, "waiting") {
		t.Errorf("the screen does not show a running resolution:\n%s", got)
	}
	_, cmd := m.Update(beatMsg(noon.Add(3 * time.Second)))
	if cmd == nil {
		t.Error("the clock stopped while the run goes on")
	}
	m = then(m, eventsMsg{ended: true, at: noon.Add(4 * time.Second)})
	if _, cmd := m.Update(beatMsg(noon.Add(5 * time.Second))); cmd != nil {
		t.Error("the clock goes on after the run")
	}
}

func TestSlowRunKeepsItsOwnTime(t *testing.T) {
	m := model(t, viewtest.InProgress().Events, false, 120, 40)
	m.pace = 100
	before := m.frame(120).Elapsed
	m = then(m, beatMsg(noon.Add(time.Second)))
	if got := m.frame(120).Elapsed - before; got != viewtest.Ms(10) {
		t.Errorf("in slow motion a second is %s", view.Duration(got))
	}
}

func TestCursorFollowsUntilSomebodyMovesIt(t *testing.T) {
	events := viewtest.Classic().Events
	m := model(t, events[:12], false, 80, 24)
	if n := len(m.resolution().Attempts); n < 2 || m.cursor != (cursor{partAttempts, n - 1}) {
		t.Fatalf("cursor %v with %d attempts", m.cursor, n)
	}
	m = press(m, "up")
	at := m.cursor
	m = then(m, eventsMsg{events: events[12:], at: noon, ended: true})
	if m.cursor != at {
		t.Errorf("the cursor moved from %v to %v by itself", at, m.cursor)
	}
}

func TestStreamErrorIsShownInPlace(t *testing.T) {
	m := model(t, viewtest.InProgress().Events, false, 80, 24)
	m = then(m, eventsMsg{ended: true, at: noon, err: errors.New("exec into pod shop/payments-7d4: \x1b[31mgone")})
	got := m.View()
	if !strings.Contains(got, `the run stopped: exec into pod shop/payments-7d4: \x1b[31mgone`) || !strings.Contains(got, "api.stripe.com.ec2.internal.") {
		t.Errorf("View:\n%s", got)
	}
	if m = press(m, "home"); m.cursor != (cursor{partAttempts, 0}) {
		t.Errorf("after the error the cursor is at %v", m.cursor)
	}
	if _, cmd := m.Update(keyMsg("q")); cmd == nil {
		t.Error("q does not quit after an error")
	}
}

func TestOnlyWhatWasAskedForHasAPicture(t *testing.T) {
	s := viewtest.Open(viewtest.ClusterSearch...)
	s.Add(probe.Event{Kind: probe.KindNote, Note: "waiting for the probe's container"})
	if got := model(t, s.Events, false, 80, 24).View(); !strings.Contains(got, "waiting for the probe's container") {
		t.Errorf("the screen does not say what is done:\n%s", got)
	}
	viewtest.ClassicWalk(s)
	s.Add(probe.Event{
		Kind: probe.KindBegin, Resolution: "v1",
		Begin: &probe.Begin{Host: "api.stripe.com", Variant: "ndots:2", Purpose: probe.PurposeWhatIf},
	})
	m := model(t, s.Events, false, 80, 24)
	if len(m.shown) != 1 {
		t.Errorf("%d resolutions have a picture, want the one that was asked for", len(m.shown))
	}
	if got := m.View(); !strings.Contains(got, "what if ndots:2: api.stripe.com") {
		t.Errorf("the screen does not say what is done:\n%s", got)
	}
}

func TestCopy(t *testing.T) {
	var out bytes.Buffer
	m := model(t, viewtest.Classic().Events, true, 80, 24)
	m.out = &out
	for key, want := range map[string]string{"c": view.Command(m.run.Patch), "y": view.YAML(m.run.Patch)} {
		for _, tmux := range []bool{false, true} {
			out.Reset()
			m.tmux = tmux
			_, cmd := m.Update(keyMsg(key))
			if out.Len() > 0 {
				t.Fatal("Update wrote to the terminal itself")
			}
			msg := cmd()
			sequence := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(want)) + "\a"
			if !strings.Contains(out.String(), sequence) {
				t.Errorf("%s: %q was written", key, out.String())
			}
			if wrapped := strings.Contains(out.String(), "\x1bPtmux;"); wrapped != tmux {
				t.Errorf("%s: wrapped for tmux: %v, want %v", key, wrapped, tmux)
			}
			if got := then(m, msg).View(); !strings.Contains(got, "also printed when you quit") {
				t.Errorf("the screen does not say where else the text is:\n%s", got)
			}
		}
	}
}

func TestListenGathersAndEnds(t *testing.T) {
	ch := make(chan probe.Event, 3)
	ch <- probe.Event{Kind: probe.KindNote, Note: "1"}
	ch <- probe.Event{Kind: probe.KindNote, Note: "2"}
	close(ch)
	why := errors.New("connection lost")
	msg := listen(t.Context(), ch, func() error { return why })().(eventsMsg)
	if len(msg.events) != 2 || !msg.ended || !errors.Is(msg.err, why) {
		t.Errorf("listen = %d events, ended %v, %v", len(msg.events), msg.ended, msg.err)
	}
	many := make(chan probe.Event, most+1)
	for range most + 1 {
		many <- probe.Event{Kind: probe.KindNote}
	}
	if msg := listen(t.Context(), many, nil)().(eventsMsg); len(msg.events) == 0 || len(msg.events) > most || msg.ended {
		t.Errorf("listen took %d events at once, ended %v", len(msg.events), msg.ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if msg := listen(ctx, make(chan probe.Event), nil)().(eventsMsg); !msg.ended || !errors.Is(msg.err, context.Canceled) {
		t.Errorf("listen on a cancelled context: %+v", msg)
	}
}

// TestScreenInTheDocs keeps the screen that the documentation shows true.
func TestScreenInTheDocs(t *testing.T) {
	got := picture(model(t, viewtest.Classic().Events, true, 100, 30))
	viewtest.Golden(t, *update, "../../docs/screen.txt", got)
}
