package tui

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// runPlain says what happens in sentences, one a line, and prints the report in the end.
func runPlain(ctx context.Context, o Options, ascii bool) (probe.Run, error) {
	var fold probe.Fold
	for {
		select {
		case ev, open := <-o.Events:
			if !open {
				run := fold.Run()
				if o.Failed != nil {
					if err := o.Failed(); err != nil {
						if _, err := fmt.Fprintln(o.Out, printable.Text("the run stopped: "+err.Error(), printable.MaxText)); err != nil {
							return run, err
						}
					}
				}
				if len(run.Resolutions) == 0 && len(run.Problems) == 0 {
					return run, nil
				}
				return run, report.Text(o.Out, run, report.Options{ASCII: ascii})
			}
			fold.Add(ev)
			if text := sentence(fold.Resolution(ev.Resolution), ev); text != "" {
				if _, err := io.WriteString(o.Out, printable.Text(text, printable.MaxText)+"\n"); err != nil {
					leave(o)
					return fold.Run(), err
				}
			}
		case <-ctx.Done():
			leave(o)
			return fold.Run(), ctx.Err()
		}
	}
}

// sentence says what an event means for a resolution that has taken it in, "" for events that need no words.
func sentence(r *probe.Resolution, ev probe.Event) string {
	if r == nil {
		return ""
	}
	switch ev.Kind {
	case probe.KindBegin:
		return "resolving " + r.Host + variantWords(r)
	case probe.KindLost:
		if ev.Lost != nil {
			return fmt.Sprintf("%s: the %s query of attempt %d got no answer by %s", r.Host, ev.Lost.Type, ev.Lost.Attempt, view.Duration(ev.At))
		}
	case probe.KindAttemptEnded:
		if ev.AttemptEnded != nil {
			return fmt.Sprintf("%s: attempt %d ended with %s after %s", r.Host, ev.AttemptEnded.N, ev.AttemptEnded.Outcome, view.Duration(ev.At))
		}
	case probe.KindEnded:
		return fmt.Sprintf("%s%s ended with %s after %s %s", r.Host, variantWords(r), r.Outcome, view.Duration(r.Duration),
			strings.Join(r.Addresses[:min(len(r.Addresses), 3)], " "))
	}
	return ""
}

func variantWords(r *probe.Resolution) string {
	if r.Variant == "" || r.Variant == probe.VariantNow {
		if r.Purpose == probe.PurposeCompare {
			return " through " + string(r.Libc)
		}
		return ""
	}
	return " with " + r.Variant
}
