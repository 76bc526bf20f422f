package view

import (
	"fmt"
	"strconv"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// cell is what one query of an attempt came to: a sign and a word or two.
type cell struct {
	sign, text string
	// more counts the addresses beside the one in text.
	more int
	tone Tone
}

// String returns the whole text of a cell.
func (c cell) String() string {
	s := c.text
	if c.sign != "" {
		s = c.sign + " " + s
	}
	if c.more > 0 {
		s += fmt.Sprintf(" +%d", c.more)
	}
	return s
}

// width returns the cells of String, without making it: ten thousand of them are measured for one screen. signs is the width of
// the widest sign.
func (c cell) width(signs int) int {
	n := nameWidth(c.text)
	if c.sign != "" {
		n += signs + 1
	}
	if c.more > 0 {
		n += len(" +") + len(strconv.Itoa(c.more))
	}
	return n
}

// signWidth returns the width of the widest sign of a cell.
func (g Glyphs) signWidth() int {
	return max(width(g.OK), width(g.No), width(g.None), width(g.Waiting))
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
	if q == nil && t == probe.TypeA {
		if c, ok := recordCell(a, ended, g); ok {
			return c
		}
	}
	if q == nil {
		switch {
		case a.Outcome == probe.Unsent:
			return cell{sign: g.No, text: "cannot be sent", tone: Bad}
		case a.Outcome == "" && !ended:
			return cell{}
		}
		return cell{sign: g.None, text: "not asked", tone: Faint}
	}
	return result(q, ended || a.Outcome != "", g)
}

// recordCell is what a query for other records than addresses came to, in the place of the A query that such an attempt has not.
func recordCell(a *probe.Attempt, ended bool, g Glyphs) (cell, bool) {
	for _, t := range []probe.QueryType{probe.TypeTXT, probe.TypeSRV} {
		q := queryOf(a, t)
		if q == nil {
			continue
		}
		c := result(q, ended || a.Outcome != "", g)
		if a.Outcome == probe.OK {
			c = cell{sign: g.OK, text: "found", tone: Good}
		}
		c.text = string(t) + " " + c.text
		return c, true
	}
	return cell{}, false
}

func result(q *probe.Query, ended bool, g Glyphs) cell {
	if q.Rcode == "" {
		return noReply(q, ended, g)
	}
	if used := lastUse(q); used == probe.UseRejected {
		// The libc threw the reply away: it stands for a server that is of no use, not for an answer.
		if q.Rcode == "NOERROR" {
			return cell{sign: g.No, text: "reply rejected", tone: Bad}
		}
		return cell{sign: g.No, text: q.Rcode, tone: Bad}
	}
	switch q.Rcode {
	case "NOERROR":
		if data, n := addressesIn(q); n > 0 {
			return cell{sign: g.OK, text: data, more: n - 1, tone: Good}
		}
		return cell{sign: g.None, text: "no data", tone: Faint}
	case "NXDOMAIN":
		return cell{sign: g.No, text: "NXDOMAIN", tone: Caution}
	}
	return cell{sign: g.No, text: q.Rcode, tone: Bad}
}

func noReply(q *probe.Query, ended bool, g Glyphs) cell {
	if n := len(q.Transmissions); n > 0 {
		switch q.Transmissions[n-1].Reply {
		case probe.ReplyICMPRefused:
			return cell{sign: g.No, text: "port closed", tone: Bad}
		case probe.ReplyUnreachable:
			return cell{sign: g.No, text: "unreachable", tone: Bad}
		case probe.ReplyAbandoned:
			return cell{sign: g.None, text: "given up", tone: Faint}
		case probe.ReplyClosed:
			return cell{sign: g.No, text: "cut off", tone: Bad}
		case probe.ReplyLost:
			return cell{sign: g.No, text: "no answer", tone: Bad}
		}
	}
	if ended {
		return cell{sign: g.No, text: "no answer", tone: Bad}
	}
	return cell{sign: g.Waiting, text: "waiting", tone: Accent}
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
