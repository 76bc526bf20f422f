package probe

// MaxAttempts bounds the attempts that Fold keeps of one resolution: 32 search domains and the host itself, repeated four
// times by glibc for big answers, fit many times over.
const MaxAttempts = 1 << 14

// Fold builds a Run out of events, one at a time. The zero Fold is ready to use.
//
// It accepts any sequence: events that point at nothing are dropped, since a stream can be cut anywhere.
type Fold struct {
	run   Run
	index map[string]int
	// last is the newest Event.Seq seen: a client that reconnects can be sent an event twice.
	last int64
}

// FoldAll returns the run that events tell.
func FoldAll(events []Event) Run {
	var f Fold
	for _, ev := range events {
		f.Add(ev)
	}
	return f.Run()
}

// Run returns the run so far. It shares memory with the fold: callers that keep it while adding events see it grow.
func (f *Fold) Run() Run {
	run := f.run
	if run.Schema == "" {
		run.Schema = Schema
	}
	return run
}

// Resolution returns the resolution with this id, or nil.
func (f *Fold) Resolution(id string) *Resolution {
	i, ok := f.index[id]
	if !ok {
		return nil
	}
	return &f.run.Resolutions[i]
}

// Add takes in one event.
func (f *Fold) Add(ev Event) {
	if ev.Seq != 0 {
		if ev.Seq <= f.last {
			return
		}
		f.last = ev.Seq
	}
	switch ev.Kind {
	case KindRun:
		if ev.Run != nil {
			f.run.Schema, f.run.Tool, f.run.Target = ev.Run.Schema, ev.Run.Tool, ev.Run.Target
		}
	case KindSettings:
		if ev.Settings != nil {
			f.run.Settings = *ev.Settings
		}
	case KindResolver:
		if ev.Resolver != nil {
			f.run.Resolver = *ev.Resolver
		}
	case KindWhatIf:
		f.run.WhatIf = ev.WhatIf
	case KindFacts:
		f.run.Facts = ev.Facts
	case KindFindings:
		f.run.Findings = ev.Findings
	case KindPatch:
		f.run.Patch = ev.Patch
	case KindComparisons:
		f.run.Comparisons = ev.Comparisons
	case KindFollowUps:
		f.run.FollowUps = ev.FollowUps
	case KindProblem:
		f.run.Problems = append(f.run.Problems, ev.Note)
	case KindBegin:
		f.begin(ev)
	default:
		if r := f.Resolution(ev.Resolution); r != nil {
			r.add(ev)
		}
	}
}

func (f *Fold) begin(ev Event) {
	if ev.Begin == nil || ev.Resolution == "" {
		return
	}
	if _, again := f.index[ev.Resolution]; again {
		return
	}
	if f.index == nil {
		f.index = map[string]int{}
	}
	f.index[ev.Resolution] = len(f.run.Resolutions)
	b := ev.Begin
	f.run.Resolutions = append(f.run.Resolutions, Resolution{
		ID: ev.Resolution, Host: b.Host, Variant: b.Variant, Libc: b.Libc, LibcVersion: b.LibcVersion, Source: b.Source, Purpose: b.Purpose.OrAsked(), Question: b.Question, StartedAt: b.StartedAt,
		Addresses: []string{}, Attempts: []Attempt{},
	})
}

// add takes in one event of this resolution.
func (r *Resolution) add(ev Event) {
	switch ev.Kind {
	case KindAttempt:
		if ev.Attempt != nil && len(r.Attempts) < MaxAttempts {
			t := ev.Attempt
			r.Attempts = append(r.Attempts, Attempt{
				N: t.N, Name: t.Name, Origin: t.Origin, SearchIndex: t.SearchIndex, Start: ev.At, Queries: make([]Query, 0, 2),
			})
		}
	case KindSent:
		r.sent(ev)
	case KindReceived:
		r.received(ev)
	case KindLost:
		r.lost(ev)
	case KindAttemptEnded:
		if ev.AttemptEnded == nil {
			return
		}
		if a := r.attempt(ev.AttemptEnded.N); a != nil {
			a.Outcome, a.Duration = ev.AttemptEnded.Outcome, ev.At-a.Start
		}
	case KindNote:
		r.Notes = append(r.Notes, ev.Note)
	case KindEnded:
		r.ended(ev)
	}
}

func (r *Resolution) attempt(n int) *Attempt {
	// The newest attempt is nearly always the one meant.
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		if r.Attempts[i].N == n {
			return &r.Attempts[i]
		}
	}
	return nil
}

func (r *Resolution) query(ref Ref) *Query {
	a := r.attempt(ref.Attempt)
	if a == nil {
		return nil
	}
	for i := range a.Queries {
		if a.Queries[i].Type == ref.Type {
			return &a.Queries[i]
		}
	}
	return nil
}

func (r *Resolution) sent(ev Event) {
	if ev.Sent == nil {
		return
	}
	s := ev.Sent
	a := r.attempt(s.Attempt)
	if a == nil {
		return
	}
	q := r.query(s.Ref)
	if q == nil {
		a.Queries = append(a.Queries, Query{Type: s.Type, Answers: []Answer{}, Transmissions: []Transmission{}})
		q = &a.Queries[len(a.Queries)-1]
		r.QueriesSent++
	}
	r.TransmissionsSent++
	q.Transmissions = append(q.Transmissions, Transmission{
		Try: s.Try, Server: s.Server, Transport: s.Transport, Socket: s.Socket, LocalPort: s.LocalPort, ID: s.ID, Sent: ev.At,
	})
}

// waiting returns the newest transmission of q to this server that still waited on this socket with this id at that time, and
// whether there are more: musl asks several servers from one socket. A libc can read a reply after it sent again; what was sent
// after the reply arrived did not cause it.
func (q *Query) waiting(server string, socket int, id uint16, at Millis) (t *Transmission, ambiguous bool) {
	for i := len(q.Transmissions) - 1; i >= 0; i-- {
		c := &q.Transmissions[i]
		if c.Received != nil || c.Server != server || c.Socket != socket || c.ID != id || c.Sent > at {
			continue
		}
		if t != nil {
			return t, true
		}
		t = c
	}
	return t, false
}

func (r *Resolution) received(ev Event) {
	if ev.Received == nil {
		return
	}
	rc := ev.Received
	q := r.query(rc.Ref)
	if q == nil {
		return
	}
	t, ambiguous := q.waiting(rc.Server, rc.Socket, rc.ID, ev.At)
	if t == nil {
		return
	}
	if rc.Use == UseIgnored {
		// An ignored message answers nothing: the transmission goes on waiting.
		return
	}
	at, rtt := ev.At, ev.At-t.Sent
	t.Received, t.Reply, t.Ambiguous = &at, rc.Rcode, ambiguous
	t.Flags, t.Size, t.SOAMinimum, t.Use = rc.Flags, rc.Size, rc.SOAMinimum, rc.Use
	q.Rcode, q.RTT, q.Answers = rc.Rcode, &rtt, rc.Answers
	if q.Answers == nil {
		q.Answers = []Answer{}
	}
}

func (r *Resolution) lost(ev Event) {
	if ev.Lost == nil {
		return
	}
	q := r.query(ev.Lost.Ref)
	if q == nil {
		return
	}
	for i := range q.Transmissions {
		t := &q.Transmissions[i]
		if t.Received == nil && t.Reply == "" && t.Socket == ev.Lost.Socket && t.ID == ev.Lost.ID {
			t.Reply = ev.Lost.Reason
		}
	}
}

func (r *Resolution) ended(ev Event) {
	if ev.Ended == nil {
		return
	}
	e := ev.Ended
	r.Outcome, r.Code, r.AnsweredBy, r.Duration = e.Outcome, e.Code, e.AnsweredBy, ev.At
	if e.Addresses != nil {
		r.Addresses = e.Addresses
	}
	r.QueriesWasted = r.QueriesSent
	if a := r.attempt(e.DecidedBy); a != nil {
		a.Decided = true
		r.QueriesWasted -= len(a.Queries)
	}
	for i := range r.Attempts {
		r.Attempts[i].giveUp()
	}
}

// giveUp marks what no reply can reach any more.
func (a *Attempt) giveUp() {
	for i := range a.Queries {
		for j := range a.Queries[i].Transmissions {
			if t := &a.Queries[i].Transmissions[j]; t.Reply == "" {
				t.Reply = ReplyLost
			}
		}
	}
}
