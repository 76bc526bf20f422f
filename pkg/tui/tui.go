// Package tui is the face of a run on a terminal: the run live while its events arrive, the details of every attempt, the
// patch. It is one model over lines that pkg/view makes; it decides nothing about DNS.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/tui/quiet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

func init() { quiet.Over() }

// ErrInterrupted is returned when the person at the terminal pressed Ctrl-C. It is a context.Canceled, since that is what an
// interrupt does to everything else.
var ErrInterrupted = fmt.Errorf("interrupted at the terminal: %w", context.Canceled)

// Options say what to show, and where.
type Options struct {
	// Events are shown as they come. The channel is closed by whoever sends, at the end of the run, also after OnCancel.
	Events <-chan probe.Event
	// Failed is asked once Events is closed: why the stream ended early, or nil. May be nil itself.
	Failed func() error
	// OnCancel is called once when the terminal is left while Events is still open. May be nil.
	OnCancel func()
	// In and Out are the terminal.
	In  io.Reader
	Out io.Writer
	// Title is shown as the title of the window; empty leaves it alone.
	Title string
	// Plain prints what happens line by line, for screen readers and terminals that cannot move the cursor; TERM=dumb does
	// the same.
	Plain bool
	// Pace is how many real seconds a second of the run takes, so that clocks and bars keep to its time; 0 means 1.
	Pace float64
	// Getenv reads the environment: NO_COLOR, TERM, TMUX, LC_ALL, LC_CTYPE, LANG. Nil means os.Getenv.
	Getenv func(string) string
}

// Run shows the run until the person at the terminal quits, and leaves its report behind as text. It returns the run as far as
// it came. The error is ErrInterrupted, that of the context, or one of the terminal; what Failed said is not repeated.
func Run(ctx context.Context, o Options) (probe.Run, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dumb := o.Getenv("TERM") == "dumb"
	glyphs, ascii := view.Unicode, false
	if !view.UTF8(o.Getenv) {
		glyphs, ascii = view.ASCII, true
	}
	if o.Plain || dumb {
		return runPlain(ctx, o, ascii || o.Plain)
	}
	colour := o.Getenv("NO_COLOR") == ""
	out := locked(o.Out)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(out), tea.WithAltScreen(), tea.WithFPS(30)}
	start := newModel(ctx, o, out, colour, glyphs)
	start.title = printable.Text(o.Title, 80)
	end, err := tea.NewProgram(start, options...).Run()
	m, ok := end.(Model)
	if !ok {
		leave(o)
		return probe.Run{}, fmt.Errorf("show the run on the terminal: %w", err)
	}
	if !m.ended {
		leave(o)
	}
	return m.run, errors.Join(farewell(ctx, m, err), leaveReport(o.Out, m, colour, ascii))
}

// leave tells the other side that nobody looks any more, and lets it end.
func leave(o Options) {
	if o.OnCancel != nil {
		o.OnCancel()
	}
	go func() {
		// Whoever still sends must not hang on a channel that nobody reads.
		for range o.Events {
			continue
		}
	}()
}

// farewell makes one error of the ways in which a program ends.
func farewell(ctx context.Context, m Model, err error) error {
	switch {
	case m.interrupted || errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("show the run on the terminal: %w; -o text needs no screen", err)
	}
	return nil
}

// leaveReport prints the report where the screen was, so that it stays in the terminal's history.
func leaveReport(out io.Writer, m Model, colour, ascii bool) error {
	if len(m.run.Resolutions) == 0 && len(m.run.Problems) == 0 {
		return nil
	}
	if err := report.Text(out, m.run, report.Options{Width: m.width, Color: colour, ASCII: ascii}); err != nil {
		return err
	}
	if !m.yamlAsked || m.run.Patch == nil {
		return nil
	}
	_, err := io.WriteString(out, "\n"+view.YAML(m.run.Patch))
	return err
}

// writer keeps the sequences for the clipboard from falling into the middle of what the renderer writes.
type writer struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// terminal is a writer that is still known as the terminal it writes to.
type terminal struct {
	*os.File
	w *writer
}

func (t terminal) Write(p []byte) (int, error) { return t.w.Write(p) }

func locked(out io.Writer) io.Writer {
	w := &writer{out: out}
	if f, ok := out.(*os.File); ok {
		return terminal{f, w}
	}
	return w
}
