package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxLosses bounds the lines that one attempt may have below it.
const maxLosses = 8

// losses says, in the order of time, why messages of an attempt were sent more than once, and what was given up.
func losses(r *probe.Resolution, a *probe.Attempt) []string {
	if quiet(a) {
		return nil
	}
	type said struct {
		at   probe.Millis
		text string
		who  []string
	}
	var all []said
	add := func(at probe.Millis, who, text string) {
		for i := range all {
			if all[i].text == text && len(all[i].who) == 1 && all[i].who[0] != who {
				all[i].who = append(all[i].who, who)
				return
			}
		}
		all = append(all, said{at, text, []string{who}})
	}
	for i := range a.Queries {
		q := &a.Queries[i]
		for j := range q.Transmissions {
			t := &q.Transmissions[j]
			switch next := j + 1; {
			case spared(q, j) || next < len(q.Transmissions) && together(t, &q.Transmissions[next]):
			case next < len(q.Transmissions):
				add(q.Transmissions[next].Sent, string(q.Type), sentAgain(t, &q.Transmissions[next]))
			default:
				if text := givenUp(r, a, t); text != "" {
					add(t.Sent, string(q.Type), text)
				}
			}
		}
	}
	var out []string
	for i, s := range all {
		if i == maxLosses {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		out = append(out, strings.Join(s.who, " and ")+" "+s.text)
	}
	return out
}

// together reports whether two messages went to two servers at once, as musl sends them: then neither is a repetition.
func together(a, b *probe.Transmission) bool {
	const once = probe.Millis(5 * time.Millisecond)
	return a.Server != b.Server && max(a.Sent-b.Sent, b.Sent-a.Sent) < once && (a.Received == nil || *a.Received > b.Sent)
}

// spared reports whether nothing hung on transmission j of q any more: it got no reply, but one that went out together with it did.
func spared(q *probe.Query, j int) bool {
	t := &q.Transmissions[j]
	if t.Received != nil {
		return false
	}
	for i := range q.Transmissions {
		if o := &q.Transmissions[i]; o.Received != nil && o.Use != probe.UseRejected && together(o, t) {
			return true
		}
	}
	return false
}

// quiet reports whether every query of an attempt was sent once and answered, or still waits: nearly all are like that.
func quiet(a *probe.Attempt) bool {
	for i := range a.Queries {
		t := a.Queries[i].Transmissions
		if len(t) > 1 || len(t) == 1 && t[0].Received == nil && t[0].Reply != "" {
			return false
		}
	}
	return true
}

func sentAgain(t, next *probe.Transmission) string {
	after := " after " + Duration(next.Sent-t.Sent)
	to := ""
	if next.Server != t.Server {
		to = " to " + next.Server
	}
	if next.Transport != t.Transport {
		to += " over " + string(next.Transport)
	}
	return what(t) + ", sent again" + to + after
}

// what says what came of a transmission that was not the last one of its query.
func what(t *probe.Transmission) string {
	switch {
	case t.Reply == "" || t.Reply == probe.ReplyLost:
		return "lost"
	case t.Reply == probe.ReplyICMPRefused:
		return "met a closed port at " + t.Server
	case t.Reply == probe.ReplyUnreachable:
		return "could not reach " + t.Server
	case t.Reply == probe.ReplyAbandoned:
		return "dropped by the libc before a reply came"
	case t.Reply == probe.ReplyClosed:
		return "cut off by " + t.Server
	case hasFlag(t, "TC"):
		return "answer too big (TC)"
	case t.Use == probe.UseRejected:
		return t.Reply + " from " + t.Server + " rejected"
	}
	return "was answered (" + t.Reply + ")"
}

func givenUp(r *probe.Resolution, a *probe.Attempt, t *probe.Transmission) string {
	if t.Received != nil {
		return ""
	}
	end := r.Duration
	if a.Outcome != "" {
		end = a.Start + a.Duration
	}
	after := ""
	if end > t.Sent {
		after = " after " + Duration(end-t.Sent)
	}
	switch t.Reply {
	case probe.ReplyLost:
		return "lost, given up" + after
	case probe.ReplyICMPRefused:
		return "met a closed port at " + t.Server + ", given up"
	case probe.ReplyUnreachable:
		return "could not reach " + t.Server + ", given up"
	case probe.ReplyAbandoned:
		return "dropped by the libc before a reply came"
	case probe.ReplyClosed:
		return "cut off by " + t.Server + ", given up"
	}
	return ""
}

func hasFlag(t *probe.Transmission, flag string) bool {
	for _, f := range t.Flags {
		if f == flag {
			return true
		}
	}
	return false
}
