package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/diagnose"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// FollowUpBudget bounds what a run asks because a verdict hangs on it.
type FollowUpBudget struct {
	// Messages bounds the messages sent, retransmissions included.
	Messages int
	// Time bounds all of it.
	Time time.Duration
}

// DefaultFollowUps are about as many messages as four lookups of an outside name cost, and less time than two lost replies.
var DefaultFollowUps = FollowUpBudget{Messages: 60, Time: 15 * time.Second}

func (b FollowUpBudget) orDefault() FollowUpBudget {
	if b.Messages <= 0 {
		b.Messages = DefaultFollowUps.Messages
	}
	if b.Time <= 0 {
		b.Time = DefaultFollowUps.Time
	}
	return b
}

// rounds bounds how often rules may ask on the strength of what they were answered.
const rounds = 6

func (r *run) input() diagnose.Input {
	return diagnose.Input{Run: r.known, Hosts: r.Hosts, Label: r.label}
}

// followUp asks what the rules want to know, until they know enough or the budget is used up, and shows what it costs.
func (r *run) followUp(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, r.FollowUps.Time)
	defer cancel()
	cost := probe.FollowUps{MostSent: r.FollowUps.Messages}
	for range rounds {
		wanted := diagnose.FollowUps(r.input())
		if len(wanted) == 0 {
			break
		}
		before := cost.Asked
		cost.Left = 0
		for _, f := range wanted {
			for range f.Times {
				if !r.askFollowUp(within, f.Ask, &cost) {
					cost.Left++
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		if cost.Asked == before {
			break
		}
		r.judge()
	}
	if cost.Asked > 0 || cost.Left > 0 {
		r.known.FollowUps = &cost
		r.emit(probe.Event{Kind: probe.KindFollowUps, FollowUps: &cost})
	}
}

// askFollowUp asks one thing and adds what it cost. It reports whether the budget allowed it.
func (r *run) askFollowUp(ctx context.Context, ask probe.Ask, cost *probe.FollowUps) bool {
	left := cost.MostSent - cost.Sent
	if left <= 0 || ctx.Err() != nil || ask.MostSent() > left {
		return false
	}
	base := r.Ask
	base.Host, base.Variant, base.Purpose, base.Question, base.MostMessages = ask.Host, ask.Variant, ask.Purpose, ask.Question, left
	if len(ask.Types) > 0 {
		base.Types = ask.Types
	}
	if ask.Libc != "" {
		base.Libc, base.LibcVersion, base.Caller = ask.Libc, ask.LibcVersion, ""
	}
	if ask.Timeout > 0 {
		base.Timeout = ask.Timeout
	}
	cost.Asked++
	res, err := r.Resolve(ctx, base)
	cost.Sent += res.TransmissionsSent
	if err != nil && ctx.Err() == nil {
		r.problem(fmt.Errorf("ask for %s (%s): %w", printable.Text(ask.Host, maxName), ask.Variant.Label(), err), "run again")
	}
	return true
}
