package view

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// cell is what one query of an attempt came to, in a word or two.
type cell struct {
	text string
	tone Tone
}

// queryOf returns the query of a type, or nil.
func queryOf(a *probe.Attempt, t probe.QueryType) *probe.Query {
	for i := range a.Queries {
		if a.Queries[i].Type == t {
			return &a.Queries[i]
		}
	}
	return nil
}

// cellOf says what the query of one type of an attempt came to.
func cellOf(a *probe.Attempt, t probe.QueryType, ended bool, g Glyphs) cell {
	q := queryOf(a, t)
	if q == nil {
		switch {
		case a.Outcome == probe.Unsent:
			return cell{g.No + " cannot be sent", Bad}
		case a.Outcome == "" && !ended:
			return cell{"", Plain}
		}
		return cell{g.None + " not asked", Faint}
	}
	return result(q, ended || a.Outcome != "", g)
}

func result(q *probe.Query, ended bool, g Glyphs) cell {
	if q.Rcode == "" {
		return noReply(q, ended, g)
	}
	if used := lastUse(q); used == probe.UseRejected {
		// The libc threw the reply away: it stands for a server that is of no use, not for an answer.
		if q.Rcode == "NOERROR" {
			return cell{g.No + " reply rejected", Bad}
		}
		return cell{g.No + " " + q.Rcode, Bad}
	}
	switch q.Rcode {
	case "NOERROR":
		if data, n := addressesIn(q); n > 0 {
			if n > 1 {
				data += fmt.Sprintf(" +%d", n-1)
			}
			return cell{g.OK + " " + data, Good}
		}
		return cell{g.None + " no data", Faint}
	case "NXDOMAIN":
		return cell{g.No + " NXDOMAIN", Caution}
	}
	return cell{g.No + " " + q.Rcode, Bad}
}

func noReply(q *probe.Query, ended bool, g Glyphs) cell {
	if n := len(q.Transmissions); n > 0 {
		switch q.Transmissions[n-1].Reply {
		case probe.ReplyICMPRefused:
			return cell{g.No + " port closed", Bad}
		case probe.ReplyUnreachable:
			return cell{g.No + " unreachable", Bad}
		case probe.ReplyAbandoned:
			return cell{g.None + " given up", Faint}
		case probe.ReplyClosed:
			return cell{g.No + " cut off", Bad}
		case probe.ReplyLost:
			return cell{g.No + " no answer", Bad}
		}
	}
	if ended {
		return cell{g.No + " no answer", Bad}
	}
	return cell{g.Waiting + " waiting", Accent}
}

// lastUse returns what the libc did with the newest reply of a query.
func lastUse(q *probe.Query) string {
	for i := len(q.Transmissions) - 1; i >= 0; i-- {
		if u := q.Transmissions[i].Use; u != "" {
			return u
		}
	}
	return ""
}

// addressesIn returns the first record of the query's own type, and how many there are.
func addressesIn(q *probe.Query) (first string, n int) {
	for i := range q.Answers {
		if q.Answers[i].Type != string(q.Type) {
			continue
		}
		if n == 0 {
			first = q.Answers[i].Data
			if len(first) > maxRaw {
				first = first[:maxRaw] + "..."
			}
		}
		n++
	}
	return first, n
}
