package view

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Detail returns one attempt in full: every message with its socket, server, times and what came back.
func Detail(run *probe.Run, r *probe.Resolution, a *probe.Attempt, f Frame) []Line {
	head := Line{S(Strong, fmt.Sprintf("attempt %d  ", a.N))}
	origin := "origin: the host as it was given"
	if a.Origin == probe.OriginSearch {
		origin = fmt.Sprintf("origin: search domain %d of %d", a.SearchIndex+1, len(run.Settings.Search))
	}
	out := Hang(head, Strong, a.Name, f.Width)
	items := []Span{S(Plain, origin), S(Plain, attemptOutcome(r, a))}
	if LeftCluster(r, a, probe.ClusterZone(run.Settings.Search)) {
		items = append(items, S(Caution, "left the cluster: asked outside, in vain"))
	}
	out = append(out, Indent(flow(items, f.Width-2), 2)...)
	out = append(out, Line{})
	if len(a.Queries) == 0 {
		out = append(out, L(Faint, "  nothing was sent"))
	}
	for i := range a.Queries {
		out = append(out, queryDetail(a, &a.Queries[i], f)...)
	}
	if text := timeoutWords(run, r, a); text != "" {
		out = append(out, Line{})
		out = append(out, Indent(Wrap(Caution, text, f.Width-2), 2)...)
	}
	return out
}

func attemptOutcome(r *probe.Resolution, a *probe.Attempt) string {
	switch {
	case a.Outcome == "" && r.Outcome == "":
		return "still waiting"
	case a.Outcome == "":
		return "not finished"
	case a.Decided:
		return string(a.Outcome) + " after " + Duration(a.Duration) + ", decided the outcome"
	}
	return string(a.Outcome) + " after " + Duration(a.Duration)
}

func queryDetail(a *probe.Attempt, q *probe.Query, f Frame) []Line {
	var out []Line
	typ := padRight(string(q.Type), 4)
	for j := range q.Transmissions {
		t := &q.Transmissions[j]
		port := ""
		if t.LocalPort != 0 {
			port = fmt.Sprintf(" :%d", t.LocalPort)
		}
		path := fmt.Sprintf("id %-5d  socket %d%s %s %s %s", t.ID, t.Socket, port, f.Glyphs.Arrow, t.Server, t.Transport)
		head := Line{S(Plain, "  "), S(Strong, typ), S(Plain, "  "), S(Faint, path), S(Plain, "  ")}
		what := Line{S(Plain, "sent "+Duration(t.Sent)+"  ")}
		what = append(what, came(a, q, t, f)...)
		switch {
		case head.Width()+what.Width() <= f.Width:
			out = append(out, append(head, what...))
		case 8+what.Width() <= f.Width:
			out = append(out, head.Clip(f.Width, f.Glyphs.Ellipsis), Indent([]Line{what}, 8)[0])
		default:
			out = append(out, head.Clip(f.Width, f.Glyphs.Ellipsis))
			out = append(out, Indent(Hang(what[:1], what[1].tone, what[1:].String(), f.Width-8), 8)...)
		}
		typ = "    "
	}
	for i, an := range q.Answers {
		if i == maxShown {
			out = append(out, L(Faint, fmt.Sprintf("        and %d more records", len(q.Answers)-i)))
			break
		}
		text := fmt.Sprintf("%s %d %s %s", an.Name, an.TTL, an.Type, an.Data)
		out = append(out, Indent(Wrap(Plain, text, f.Width-8), 8)...)
	}
	return out
}

// came says what came back for one transmission.
func came(a *probe.Attempt, q *probe.Query, t *probe.Transmission, f Frame) Line {
	g := f.Glyphs
	if t.Received == nil {
		switch t.Reply {
		case "":
			return Line{S(Accent, g.Waiting+" waiting")}
		case probe.ReplyICMPRefused:
			return Line{S(Bad, g.No+" port closed (ICMP)")}
		case probe.ReplyUnreachable:
			return Line{S(Bad, g.No+" unreachable (ICMP)")}
		case probe.ReplyAbandoned:
			return Line{S(Faint, g.None+" dropped by the libc before a reply came")}
		case probe.ReplyClosed:
			return Line{S(Bad, g.No+" connection closed")}
		}
		return Line{S(Bad, g.No+" lost")}
	}
	sign, tone := g.No, Caution
	if t.Reply == "NOERROR" && t.Use != probe.UseRejected {
		sign, tone = g.OK, Good
		if _, n := addressesIn(q); n == 0 {
			sign, tone = g.None, Faint
		}
	}
	words := t.Reply
	if sign == g.None {
		words = "no data"
	}
	line := Line{S(tone, sign+" "+words), S(Plain, " after "+Duration(*t.Received-t.Sent))}
	if len(t.Flags) > 0 {
		line = append(line, S(Faint, "  "+strings.Join(t.Flags, " ")))
	}
	if t.SOAMinimum != nil {
		line = append(line, S(Faint, fmt.Sprintf("  SOA minimum %d", *t.SOAMinimum)))
	}
	switch {
	case t.Use == probe.UseRejected:
		line = append(line, S(Bad, "  rejected"))
	case kept(a, q, t):
		line = append(line, S(Plain, "  (kept)"))
	}
	if t.Ambiguous {
		line = append(line, S(Caution, "  (could answer an earlier message too)"))
	}
	return line
}

// kept reports whether a reply had to wait for the other half of its pair, which alone was sent again.
func kept(a *probe.Attempt, q *probe.Query, t *probe.Transmission) bool {
	if q.Transmissions[len(q.Transmissions)-1].Sent > *t.Received {
		return false
	}
	for i := range a.Queries {
		o := &a.Queries[i]
		if o.Type == q.Type || len(o.Transmissions) < 2 {
			continue
		}
		if o.Transmissions[len(o.Transmissions)-1].Sent > *t.Received {
			return true
		}
	}
	return false
}

// timeoutWords explains a wait that is as long as the libc's own timeout: then a message was lost, since a slow server would
// not answer at just that time.
func timeoutWords(run *probe.Run, r *probe.Resolution, a *probe.Attempt) string {
	timeout := probe.Millis(time.Duration(run.Settings.TimeoutSeconds) * time.Second)
	if r.Libc != probe.Glibc || timeout <= 0 {
		// Each libc derives its waits in its own way; glibc waits timeout seconds for the first try of a server.
		return ""
	}
	for i := range a.Queries {
		ts := a.Queries[i].Transmissions
		for j := 0; j+1 < len(ts); j++ {
			wait := ts[j+1].Sent - ts[j].Sent
			if ts[j].Reply != probe.ReplyLost || math.Abs(float64(wait-timeout)) > 0.02*float64(timeout) {
				continue
			}
			return fmt.Sprintf("%s is glibc's own timeout (timeout:%d): a lost message, not a slow server.", Duration(wait),
				run.Settings.TimeoutSeconds)
		}
	}
	return ""
}
