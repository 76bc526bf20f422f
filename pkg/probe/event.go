package probe

import "time"

// Kind tells what an Event reports.
type Kind string

// The kinds of events. A reader skips kinds that it does not know, so that later versions can add some.
const (
	// KindRun opens a stream: Event.Run.
	KindRun Kind = "run"
	// KindSettings carries Event.Settings.
	KindSettings Kind = "settings"
	// KindResolver carries Event.Resolver.
	KindResolver Kind = "resolver"

	// The events of one resolution; Event.Resolution holds its id and Event.At is the time since its start.
	KindBegin        Kind = "begin"         // Event.Begin
	KindAttempt      Kind = "attempt"       // Event.Attempt
	KindSent         Kind = "sent"          // Event.Sent
	KindReceived     Kind = "received"      // Event.Received
	KindLost         Kind = "lost"          // Event.Lost: a transmission is given up
	KindAttemptEnded Kind = "attempt-ended" // Event.AttemptEnded
	KindNote         Kind = "note"          // Event.Note
	KindEnded        Kind = "ended"         // Event.Ended

	// Conclusions of a run, each replacing what an earlier event of its kind said.
	KindWhatIf   Kind = "what-if"  // Event.WhatIf
	KindFacts    Kind = "facts"    // Event.Facts
	KindFindings Kind = "findings" // Event.Findings
	KindPatch    Kind = "patch"    // Event.Patch
	KindProblem  Kind = "problem"  // Event.Note
	// KindComparisons carries Event.Comparisons.
	KindComparisons Kind = "comparisons"
	// KindFollowUps carries Event.FollowUps.
	KindFollowUps Kind = "follow-ups"
)

// Known says whether this version knows a kind.
func (k Kind) Known() bool {
	switch k {
	case KindRun, KindSettings, KindResolver, KindBegin, KindAttempt, KindSent, KindReceived, KindLost, KindAttemptEnded, KindNote, KindEnded,
		KindWhatIf, KindFacts, KindFindings, KindPatch, KindProblem, KindComparisons, KindFollowUps:
		return true
	}
	return false
}

// Event is one line of the event stream. Exactly the field that its Kind names is set.
type Event struct {
	Kind Kind `json:"event"`
	// Seq counts the events of a session from 1, 0 outside of one.
	Seq int64 `json:"seq,omitempty"`
	// Resolution is the id of the resolution that the event belongs to.
	Resolution string `json:"resolution,omitempty"`
	// At is the time since the start of that resolution.
	At Millis `json:"atMs"`
	// Raw is the line as it was read, where this version does not know all that is in it: written again, nothing is lost.
	Raw []byte `json:"-"`

	Run          *Header         `json:"run,omitempty"`
	Settings     *Settings       `json:"settings,omitempty"`
	Resolver     *Resolver       `json:"resolver,omitempty"`
	Begin        *Begin          `json:"begin,omitempty"`
	Attempt      *Try            `json:"attempt,omitempty"`
	Sent         *Sent           `json:"sent,omitempty"`
	Received     *Received       `json:"received,omitempty"`
	Lost         *Lost           `json:"lost,omitempty"`
	AttemptEnded *AttemptEnded   `json:"attemptEnded,omitempty"`
	Ended        *Ended          `json:"ended,omitempty"`
	Note         string          `json:"note,omitempty"`
	WhatIf       []WhatIf        `json:"whatIf,omitempty"`
	Facts        map[string]Fact `json:"facts,omitempty"`
	Findings     []Finding       `json:"findings,omitempty"`
	Patch        *Patch          `json:"patch,omitempty"`
	Comparisons  []Comparison    `json:"comparisons,omitempty"`
	FollowUps    *FollowUps      `json:"followUps,omitempty"`
}

// Header opens an event stream.
type Header struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Target Target `json:"target"`
}

// Begin opens a resolution.
type Begin struct {
	Host    string `json:"host"`
	Variant string `json:"variant"`
	Libc    Libc   `json:"libc"`
	// LibcVersion is the version that is followed ("2.36-9+deb12u14", "1.2.5"), empty when its writer did not say.
	LibcVersion string  `json:"libcVersion,omitempty"`
	Source      string  `json:"source"`
	Purpose     Purpose `json:"purpose,omitempty"`
	// Question is set where a server was asked directly.
	Question  *Question `json:"question,omitempty"`
	StartedAt time.Time `json:"startedAt"`
}

// Try opens an attempt.
type Try struct {
	N           int    `json:"n"`
	Name        string `json:"name"`
	Origin      Origin `json:"origin"`
	SearchIndex int    `json:"searchIndex"`
}

// Ref points at a query of the running resolution.
type Ref struct {
	// Attempt is Attempt.N.
	Attempt int       `json:"attempt"`
	Type    QueryType `json:"type"`
}

// Sent reports a transmission.
type Sent struct {
	Ref
	Try       int       `json:"try"`
	Server    string    `json:"server"`
	Transport Transport `json:"transport"`
	Socket    int       `json:"socket"`
	LocalPort uint16    `json:"localPort,omitempty"`
	ID        uint16    `json:"id"`
}

// Received reports a reply, and what the libc did with it.
type Received struct {
	Ref
	Server    string    `json:"server"`
	Transport Transport `json:"transport"`
	Socket    int       `json:"socket"`
	ID        uint16    `json:"id"`
	Rcode     string    `json:"rcode"`
	Flags     []string  `json:"flags,omitempty"`
	Size      int       `json:"size,omitempty"`
	Answers   []Answer  `json:"answers,omitempty"`
	// SOAMinimum is in seconds.
	SOAMinimum *uint32 `json:"soaMinimum,omitempty"`
	// Use is UseAccepted, UseRejected or UseIgnored.
	Use string `json:"use"`
}

// Lost reports that the libc gave up waiting for the unanswered transmissions of a query on a socket.
type Lost struct {
	Ref
	Socket int    `json:"socket"`
	ID     uint16 `json:"id"`
	// Reason is one of ReplyLost, ReplyICMPRefused, ReplyUnreachable, ReplyClosed, ReplyAbandoned.
	Reason string `json:"reason"`
}

// AttemptEnded closes an attempt.
type AttemptEnded struct {
	N       int     `json:"n"`
	Outcome Outcome `json:"outcome"`
}

// Ended closes a resolution.
type Ended struct {
	Outcome   Outcome  `json:"outcome"`
	Code      string   `json:"code,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	// DecidedBy is the N of the attempt that decided, 0 when none did (a literal, /etc/hosts, nothing sent).
	DecidedBy  int    `json:"decidedBy,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
}
