package engine

import (
	"context"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// joined makes one resolution out of several calls: attempts and sockets go on counting, and there is one end.
type joined struct {
	start time.Time
	now   func() time.Time
	emit  func(probe.Event)

	// attempts and sockets are the highest numbers so far.
	attempts, sockets int
	// result and ended are of the lookup of addresses that counts; looked tells that there was one.
	result resolver.Result
	ended  probe.Ended
	looked bool
}

func (j *joined) event(ev probe.Event) {
	ev.At = probe.Millis(j.now().Sub(j.start))
	j.emit(ev)
}

func (j *joined) note(text string) { j.event(probe.Event{Kind: probe.KindNote, Note: text}) }

// step runs one call. The last lookup of addresses counts.
func (j *joined) step(ctx context.Context, s stage, n resolver.Network, req resolver.Request) error {
	offset, attempts, sockets := probe.Millis(j.now().Sub(j.start)), j.attempts, j.sockets
	var ended probe.Ended
	res, err := s.res.Resolve(ctx, n, req, func(ev probe.Event) {
		ev.At += offset
		if ev.Kind == probe.KindEnded {
			if ev.Ended != nil {
				ended = *ev.Ended
			}
			return
		}
		j.emit(j.moved(ev, attempts, sockets))
	})
	if err != nil {
		return err
	}
	if s.Record == "" {
		if ended.DecidedBy != 0 {
			ended.DecidedBy += attempts
		}
		j.result, j.ended, j.looked = res, ended, true
	}
	return nil
}

// moved returns ev with the numbers of its attempt and its socket moved by what the steps before took.
func (j *joined) moved(ev probe.Event, attempts, sockets int) probe.Event {
	switch ev.Kind {
	case probe.KindAttempt:
		t := *ev.Attempt
		t.N += attempts
		j.attempts = max(j.attempts, t.N)
		ev.Attempt = &t
	case probe.KindAttemptEnded:
		t := *ev.AttemptEnded
		t.N += attempts
		ev.AttemptEnded = &t
	case probe.KindSent:
		t := *ev.Sent
		t.Attempt, t.Socket = t.Attempt+attempts, t.Socket+sockets
		j.sockets = max(j.sockets, t.Socket)
		ev.Sent = &t
	case probe.KindReceived:
		t := *ev.Received
		t.Attempt, t.Socket = t.Attempt+attempts, t.Socket+sockets
		ev.Received = &t
	case probe.KindLost:
		t := *ev.Lost
		t.Attempt, t.Socket = t.Attempt+attempts, t.Socket+sockets
		ev.Lost = &t
	}
	return ev
}
