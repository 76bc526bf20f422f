package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/tui"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// The formats of -o.
const (
	formatTUI      = "tui"
	formatText     = "text"
	formatMarkdown = "markdown"
	formatJSON     = "json"
	formatYAML     = "yaml"
	formatNDJSON   = "ndjson"
	formatSVG      = "svg"
)

var formats = []string{formatTUI, formatText, formatMarkdown, formatJSON, formatYAML, formatNDJSON, formatSVG}

// source runs whatever a command does and emits what happens. It ends when all is done; an error means that the tool could not
// do its work. It may emit from several goroutines.
type source func(ctx context.Context, emit func(probe.Event)) error

// outputFlags say how a run is shown; every command that resolves has them.
type outputFlags struct {
	format string
	failOn string
	plain  bool
	save   string
	redact bool
}

func (f *outputFlags) add(fs *pflag.FlagSet) {
	fs.StringVarP(&f.format, "output", "o", "", "how to show the run: "+strings.Join(formats, ", ")+" (default: tui on a terminal, else text)")
	fs.StringVar(&f.failOn, "fail-on", "", "exit with 4 for findings of this severity or worse: info, warning, critical")
	fs.BoolVar(&f.plain, "plain", false, "ASCII only, no colour, and line by line where there would be a screen")
	fs.StringVar(&f.save, "save", "", "write the event stream to this file too")
	fs.BoolVar(&f.redact, "redact", false, "replace names and addresses in all that is shown and saved, the same by the same")
}

// output is how a run is shown.
type output struct {
	format string
	// hosts are those whose outcome decides the exit code.
	hosts  []string
	failOn probe.Severity
	plain  bool
	// save is the file for the event stream; empty for none.
	save string
	// redact replaces names and addresses. secrets are those that messages can hold before any event does.
	redact  bool
	secrets []string
	// title is that of the terminal's window.
	title string
	// pace is how many real seconds a second of the run takes, 0 when it runs in real time.
	pace   float64
	getenv func(string) string
}

// complete settles the format: what the flag says, else the TUI when both ends are terminals.
func (f *outputFlags) complete(streams genericiooptions.IOStreams, hosts []string) (output, error) {
	o := output{
		format: f.format, hosts: hosts, failOn: probe.Severity(f.failOn), plain: f.plain, save: f.save, redact: f.redact,
		title: "dnsprobe " + strings.Join(hosts, " "), getenv: os.Getenv,
	}
	if o.redact {
		o.title = "dnsprobe"
	}
	interactive := isTerminal(streams.In) && isTerminal(streams.Out)
	switch {
	case o.format == "" && interactive:
		o.format = formatTUI
	case o.format == "":
		o.format = formatText
	case !slices.Contains(formats, o.format):
		return o, usageError("use one of: "+strings.Join(formats, ", "), "-o %q is not a format", o.format)
	case o.format == formatTUI && !interactive:
		return o, usageError("use -o text", "-o tui needs a terminal on stdin and stdout")
	}
	if o.failOn != "" && severityRank(o.failOn) == 0 {
		return o, usageError("use one of: info, warning, critical", "--fail-on %q is not a severity", f.failOn)
	}
	return o, nil
}

// sayer returns where to say what is being done before there is anything to show: stderr.
func (o output) sayer(streams genericiooptions.IOStreams) func(string) {
	if o.redact {
		// What is said here names pods before anybody knows that they are names.
		return func(string) {}
	}
	return sayer(streams)
}

func sayer(streams genericiooptions.IOStreams) func(string) {
	return func(text string) { fmt.Fprintln(streams.ErrOut, printable.Text(text, printable.MaxText)) }
}

// isTerminal says whether a stream of the command is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// present runs src, shows it as o says, and returns nil or an error with the exit code.
func present(ctx context.Context, streams genericiooptions.IOStreams, o output, src source) (err error) {
	if o.redact {
		x := newRedaction(append(slices.Clone(o.hosts), o.secrets...)...)
		o.hosts, src = x.hosts(o.hosts), x.source(src)
		defer func() { err = x.err(err) }()
	}
	if o.save != "" {
		file, err := os.Create(o.save)
		if err != nil {
			return fmt.Errorf("save the run: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		src = saved(src, file)
	}
	run, err := show(ctx, streams, o, src)
	if isBrokenPipe(err) {
		// Nobody reads any more: no message, and the code of what is known.
		return &exitError{code: verdict(run, o.hosts, o.failOn)}
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return &exitError{code: ExitInterrupted}
	}
	if err != nil {
		return err
	}
	code := verdict(run, o.hosts, o.failOn)
	if code == ExitOK {
		return nil
	}
	if code == ExitFailed {
		return &exitError{code: code, err: errors.New("the run ended before every host was resolved"), next: strings.Join(run.Problems, "\n")}
	}
	return &exitError{code: code}
}

// show runs src behind the face that o names and returns the run as far as it came.
func show(ctx context.Context, streams genericiooptions.IOStreams, o output, src source) (probe.Run, error) {
	switch o.format {
	case formatNDJSON:
		enc := probe.NewEncoder(streams.Out)
		return collect(ctx, src, enc.Encode)
	case formatJSON:
		return document(ctx, src, func(run probe.Run) error { return report.JSON(streams.Out, run) })
	case formatYAML:
		return document(ctx, src, func(run probe.Run) error { return report.YAML(streams.Out, run) })
	case formatMarkdown:
		return document(ctx, src, func(run probe.Run) error { return report.Markdown(streams.Out, run) })
	case formatSVG:
		return picture(ctx, streams.Out, src)
	case formatTUI:
		return onScreen(ctx, streams, o, src)
	}
	return document(ctx, src, func(run probe.Run) error { return report.Text(streams.Out, run, o.textOptions(streams.Out)) })
}

// textOptions fit a text report to where it goes.
func (o output) textOptions(out io.Writer) report.Options {
	r := report.Options{ASCII: o.plain || !view.UTF8(o.getenv)}
	if file, ok := out.(*os.File); ok && isTerminal(file) {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			r.Width = width
		}
		r.Color = !o.plain && o.getenv("NO_COLOR") == "" && o.getenv("TERM") != "dumb"
	}
	return r
}

// onScreen runs src behind the TUI. The screen begins with the first event: what is said before, and why there is none, stays
// on the terminal as text. Leaving the screen before the end stops src.
func onScreen(ctx context.Context, streams genericiooptions.IOStreams, o output, src source) (probe.Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		events = make(chan probe.Event, 256)
		began  = make(chan struct{})
		once   sync.Once
		left   atomic.Bool
		failed error
	)
	happened := false
	go func() {
		// failed and happened are written before a channel is closed, and read after.
		defer once.Do(func() { close(began) })
		defer close(events)
		failed = src(ctx, func(ev probe.Event) {
			events <- ev
			once.Do(func() { happened = true; close(began) })
		})
	}()
	if <-began; !happened {
		return probe.Run{}, failed
	}
	run, err := tui.Run(ctx, tui.Options{
		Events: events, In: streams.In, Out: streams.Out, Title: o.title, Plain: o.plain, Getenv: o.getenv,
		Failed:   func() error { return failed },
		OnCancel: func() { left.Store(true); cancel() },
	})
	cancel()
	for range events {
		// What is still sent is of no use, but src has to come to its end before the session in the pod is left.
		continue
	}
	switch {
	case err != nil:
		return run, err
	case !left.Load():
		return run, failed
	case verdict(run, o.hosts, "") == ExitFailed:
		// Somebody left before there was an answer.
		return run, context.Canceled
	}
	return run, nil
}

// document runs src and writes the run at its end. A run that failed or was interrupted is written as far as it came, when
// there is a resolution in it.
func document(ctx context.Context, src source, write func(probe.Run) error) (probe.Run, error) {
	run, err := collect(ctx, src, nil)
	if err != nil && len(run.Resolutions) == 0 {
		return run, err
	}
	return run, errors.Join(err, write(run))
}

// The size of a picture, in cells: wide enough for the time column, and no wider than a page.
const pictureWidth, pictureHeight = 100, 30

// picture runs src and draws the screen that it ends with.
func picture(ctx context.Context, out io.Writer, src source) (probe.Run, error) {
	var events []probe.Event
	run, err := collect(ctx, src, func(ev probe.Event) error {
		events = append(events, ev)
		return nil
	})
	if err != nil && len(run.Resolutions) == 0 {
		return run, err
	}
	return run, errors.Join(err, tui.SVG(ctx, out, events, pictureWidth, pictureHeight))
}

// collect runs src and folds its events, each after it went through each (when that is not nil). An error of each stops src.
func collect(ctx context.Context, src source, each func(probe.Event) error) (probe.Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu     sync.Mutex
		fold   probe.Fold
		failed error
	)
	err := src(ctx, func(ev probe.Event) {
		mu.Lock()
		defer mu.Unlock()
		fold.Add(ev)
		if each == nil || failed != nil {
			return
		}
		if failed = each(ev); failed != nil {
			cancel()
		}
	})
	mu.Lock()
	defer mu.Unlock()
	if failed != nil {
		// What src returned is only the consequence.
		return fold.Run(), failed
	}
	return fold.Run(), err
}

// saved returns src with every event also written to w. What cannot be saved is a failure of the run: somebody counts on it.
func saved(src source, w io.Writer) source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		enc := probe.NewEncoder(w)
		_, err := collect(ctx, src, func(ev probe.Event) error {
			emit(ev)
			if err := enc.Encode(ev); err != nil {
				return fmt.Errorf("save the run: %w", err)
			}
			return nil
		})
		return err
	}
}
