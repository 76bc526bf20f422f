package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// report is everything that one run of bench has measured.
type report struct {
	Date    time.Time `json:"date"`
	Machine machine   `json:"machine"`
	Rounds  int       `json:"rounds"`
	Host    string    `json:"host"`
	Figures []figure  `json:"figures"`
}

// figure is one measured value.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Goal is the largest value that is wished for, in Unit; 0 for none.
	Goal float64 `json:"goal,omitempty"`
	// Sample holds the values that Value is the median of.
	Sample *sample `json:"sample,omitempty"`
	// How says how it was measured, or out of what it was computed.
	How string `json:"how"`
}

// The units of figures.
const (
	unitTimes  = "times"
	unitSecond = "s"
	unitMiB    = "MiB"
	unitRate   = "per s"
	unitCount  = "per resolution"
)

const mib = 1 << 20

// verdict compares a figure with its goal.
func (f figure) verdict() string {
	switch {
	case f.Goal == 0:
		return ""
	case f.Value <= f.Goal:
		return "met"
	}
	return "missed"
}

func (f figure) value() string {
	switch f.Unit {
	case unitRate, unitCount:
		return fmt.Sprintf("%.0f %s", f.Value, f.Unit)
	}
	return fmt.Sprintf("%.2f %s", f.Value, f.Unit)
}

// ofGoal is the figure as a part of its goal, so that one sees how far away it is.
func (f figure) ofGoal() (goal, part string) {
	if f.Goal == 0 {
		return "", ""
	}
	return fmt.Sprintf("%g %s", f.Goal, f.Unit), fmt.Sprintf("%.2f", f.Value/f.Goal)
}

// table is the report for people.
func (r report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d cores, %s, load %s before and %s after, %d rounds, host %s\n\n",
		r.Date.Format(time.RFC3339), r.Machine.OS, r.Machine.Arch, r.Machine.Cores, r.Machine.Go,
		orUnknown(r.Machine.LoadBefore), orUnknown(r.Machine.LoadAfter), r.Rounds, r.Host)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUE\tGOAL\tOF GOAL\t\tHOW")
	for _, f := range r.Figures {
		goal, part := f.ofGoal()
		how := f.How
		if f.Sample != nil && f.Unit == unitSecond {
			how = f.Sample.spread() + "; " + how
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Name, f.value(), goal, part, f.verdict(), how)
	}
	_ = w.Flush() // A strings.Builder takes everything.
	return b.String()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
