package resolver

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Trace reports the steps of one call as events: it numbers attempts and the transmissions of a query, and has every time counted
// from the start of the call. What a step means is for the libc's resolver to say.
type Trace struct {
	n     Network
	emit  func(probe.Event)
	start time.Time
	// attempts counts attempts; open tells that the last one has not ended yet.
	attempts int
	open     bool
	// tries counts transmissions by query.
	tries map[probe.Ref]int
	// servers has the addresses seen so far as text: every message carries one.
	servers map[netip.AddrPort]string
}

// NewTrace begins the trace of a call that starts now.
func NewTrace(n Network, emit func(probe.Event)) Trace {
	return Trace{n: n, emit: emit, start: n.Now(), tries: map[probe.Ref]int{}, servers: map[netip.AddrPort]string{}}
}

// Exchange is what a message belongs to: a query on a socket towards a server.
type Exchange struct {
	Ref       probe.Ref
	Server    netip.AddrPort
	Transport probe.Transport
	// Socket is the network's, Number the place of the socket among those of the call.
	Socket Socket
	Number int
}

// Start is when the call began.
func (t *Trace) Start() time.Time { return t.start }

func (t *Trace) event(at time.Time, ev probe.Event) {
	ev.At = probe.Millis(max(0, at.Sub(t.start)))
	t.emit(ev)
}

// Note reports something that people should know and no other event says.
func (t *Trace) Note(format string, args ...any) {
	t.event(t.n.Now(), probe.Event{Kind: probe.KindNote, Note: fmt.Sprintf(format, args...)})
}

// Attempts is the number of attempts so far, which is that of the last one.
func (t *Trace) Attempts() int { return t.attempts }

// BeginAttempt opens an attempt and returns its number, from 1. The index is the place of the domain in the search list, -1 for a
// name as it is.
func (t *Trace) BeginAttempt(name string, origin probe.Origin, index int) int {
	t.attempts++
	t.open = true
	t.event(t.n.Now(), probe.Event{Kind: probe.KindAttempt, Attempt: &probe.Try{N: t.attempts, Name: name, Origin: origin, SearchIndex: index}})
	return t.attempts
}

// EndAttempt says what an attempt came to.
func (t *Trace) EndAttempt(n int, outcome probe.Outcome) {
	if n == t.attempts {
		t.open = false
	}
	t.event(t.n.Now(), probe.Event{Kind: probe.KindAttemptEnded, AttemptEnded: &probe.AttemptEnded{N: n, Outcome: outcome}})
}

// EndLast ends the last attempt, unless there is none or it has ended.
func (t *Trace) EndLast(outcome probe.Outcome) {
	if t.open {
		t.EndAttempt(t.attempts, outcome)
	}
}

// Tries is how often a query was sent.
func (t *Trace) Tries(ref probe.Ref) int { return t.tries[ref] }

// server returns a server's address as text.
func (t *Trace) server(addr netip.AddrPort) string {
	text, known := t.servers[addr]
	if !known {
		text = addr.String()
		t.servers[addr] = text
	}
	return text
}

// Sent reports a transmission that was handed over at that time.
func (t *Trace) Sent(at time.Time, x Exchange, id uint16) {
	t.tries[x.Ref]++
	t.event(at, probe.Event{Kind: probe.KindSent, Sent: &probe.Sent{
		Ref: x.Ref, Try: t.tries[x.Ref], Server: t.server(x.Server), Transport: x.Transport, Socket: x.Number,
		LocalPort: t.n.LocalPort(x.Socket), ID: id,
	}})
}

// Arrival is when something came: now where the network does not know.
func (t *Trace) Arrival(ev Event) time.Time {
	if ev.At.IsZero() {
		return t.n.Now()
	}
	return ev.At
}

// Received reports a reply that came at that time, and what was made of it (probe.UseAccepted and the like). The kernel's clock of
// arrivals and ours differ by a little: a time before the transmission is for the caller to mend, who knows what a reply answers.
func (t *Trace) Received(at time.Time, x Exchange, reply *Reply, use string) {
	rc := Describe(reply)
	rc.Ref, rc.Server, rc.Transport, rc.Socket, rc.Use = x.Ref, t.server(x.Server), x.Transport, x.Number, use
	t.event(at, probe.Event{Kind: probe.KindReceived, Received: &rc})
}

// Lost reports that nothing will come of a transmission on the socket of this number, and why (probe.ReplyLost and the like).
func (t *Trace) Lost(ref probe.Ref, number int, id uint16, reason string) {
	t.event(t.n.Now(), probe.Event{Kind: probe.KindLost, Lost: &probe.Lost{Ref: ref, Socket: number, ID: id, Reason: reason}})
}

// Ended reports the result, the attempt that decided (0 for none) and the source it came from.
func (t *Trace) Ended(res Result, decidedBy int, answeredBy string) {
	ended := probe.Ended{Outcome: res.Outcome, Code: res.Code, DecidedBy: decidedBy, AnsweredBy: answeredBy}
	for _, a := range res.Addresses {
		ended.Addresses = append(ended.Addresses, a.String())
	}
	t.event(t.n.Now(), probe.Event{Kind: probe.KindEnded, Ended: &ended})
}

// LostReason says what an error of a socket makes of the transmissions on it.
func LostReason(err error) string {
	switch {
	case errors.Is(err, ErrRefused):
		return probe.ReplyICMPRefused
	case errors.Is(err, ErrReset):
		return probe.ReplyClosed
	}
	return probe.ReplyUnreachable
}

// What Ended.AnsweredBy says of the source of a result.
const (
	ByDNS     = "dns"
	ByLiteral = "literal"
	ByHosts   = "hosts"
)

// EAIOutcome is what an error of getaddrinfo means (netdb.h, by name; empty is success). glibc and musl mean the same by them.
func EAIOutcome(code string) probe.Outcome {
	switch code {
	case "":
		return probe.OK
	case "EAI_NONAME":
		return probe.NXDomain
	case "EAI_NODATA":
		return probe.NoData
	case "EAI_AGAIN":
		return probe.Again
	}
	return probe.Fail
}
