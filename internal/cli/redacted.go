package cli

import (
	"context"
	"errors"
	"sync"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/redact"
)

// redaction is a redactor for one run, whose events come from several goroutines.
type redaction struct {
	mu sync.Mutex
	r  *redact.Redactor
}

func newRedaction(names ...string) *redaction {
	out := &redaction{r: redact.New()}
	out.r.Learn(names...)
	return out
}

// source returns src with every event redacted before anybody sees or saves it.
func (x *redaction) source(src source) source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		err := src(ctx, func(ev probe.Event) {
			x.mu.Lock()
			out, ok := x.r.Event(ev)
			x.mu.Unlock()
			if ok {
				emit(out)
			}
		})
		x.mu.Lock()
		note := x.r.Note()
		x.mu.Unlock()
		if note != "" {
			emit(probe.Event{Kind: probe.KindProblem, Note: note})
		}
		return err
	}
}

// hosts returns hosts as they stand in the redacted run.
func (x *redaction) hosts(hosts []string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []string
	for _, h := range hosts {
		out = append(out, x.r.Name(h))
	}
	return out
}

// err returns an error with the same code whose words are redacted.
func (x *redaction) err(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*exitError](err); ok && e.err == nil {
		return err
	}
	if errors.Is(err, context.Canceled) || isBrokenPipe(err) {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	out := &exitError{code: exitCode(err), err: errors.New(x.r.Text(err.Error()))}
	if n, ok := errors.AsType[nextStepper](err); ok {
		out.next = x.r.Text(n.NextStep())
	}
	return out
}
