package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// Difference is what changed from one run to another: before and after a patch, this pod and that one.
type Difference struct {
	Schema string `json:"schema"`
	// Before and After say where and through which libc each run was seen.
	Before string `json:"before"`
	After  string `json:"after"`
	// Settings are the lines of resolv.conf that went ("- ...") and came ("+ ..."), in their order; Resolver is set when the
	// libc or its version changed.
	Settings []string `json:"settings"`
	Resolver string   `json:"resolver,omitempty"`
	// Hosts are those of either run, in the order of the first.
	Hosts []HostDifference `json:"hosts"`
	// Gone and New are findings that only one of the runs has; Stayed are the classes of the others.
	Gone   []probe.Finding `json:"gone"`
	New    []probe.Finding `json:"new"`
	Stayed []string        `json:"stayed"`
}

// DifferenceSchema names the JSON contract of Difference.
const DifferenceSchema = "dnsprobe.diff.v1"

// HostDifference is one host in two runs.
type HostDifference struct {
	Host string `json:"host"`
	// Before and After are absent in a run that did not ask for the host.
	Before *HostResult `json:"before"`
	After  *HostResult `json:"after"`
	// Same says that outcome and addresses are equal.
	Same bool `json:"same"`
	// Attempts are the names that went ("- ...") and came ("+ ...") in the walk.
	Attempts []string `json:"attempts"`
}

// HostResult is how one run saw a host under the settings as they were.
type HostResult struct {
	Outcome       probe.Outcome `json:"outcome"`
	Addresses     []string      `json:"addresses"`
	QueriesSent   int           `json:"queriesSent"`
	QueriesWasted int           `json:"queriesWasted"`
	// Median, Least and Most are over all resolutions of the host, Samples of them.
	Median  probe.Millis `json:"medianMs"`
	Least   probe.Millis `json:"leastMs"`
	Most    probe.Millis `json:"mostMs"`
	Samples int          `json:"samples"`
}

// Compare says what changed from one run to another.
func Compare(before, after probe.Run) Difference {
	before, after = complete(before), complete(after)
	d := Difference{
		Schema: DifferenceSchema, Before: place(&before), After: place(&after),
		Settings: changes(settingsLines(&before), settingsLines(&after)), Hosts: []HostDifference{}, Gone: []probe.Finding{}, New: []probe.Finding{}, Stayed: []string{},
	}
	if a, b := view.Resolver(&before), view.Resolver(&after); a != b {
		d.Resolver = fmt.Sprintf("%s, then %s", orNone(a), orNone(b))
	}
	for _, host := range hostsOf(&before, &after) {
		d.Hosts = append(d.Hosts, compareHost(host, &before, &after))
	}
	for _, f := range before.Findings {
		if !hasClass(after.Findings, f.Class) {
			d.Gone = append(d.Gone, f)
		} else if !slices.Contains(d.Stayed, f.Class) {
			d.Stayed = append(d.Stayed, f.Class)
		}
	}
	for _, f := range after.Findings {
		if !hasClass(before.Findings, f.Class) {
			d.New = append(d.New, f)
		}
	}
	return d
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func hasClass(list []probe.Finding, class string) bool {
	return slices.ContainsFunc(list, func(f probe.Finding) bool { return f.Class == class })
}

func place(run *probe.Run) string {
	text := view.Target(run, view.Frame{Glyphs: view.Unicode})
	for _, i := range view.Shown(run) {
		if at := run.Resolutions[i].StartedAt; !at.IsZero() {
			return text + ", " + at.UTC().Format("2006-01-02 15:04:05 UTC")
		}
	}
	return text
}

func settingsLines(run *probe.Run) []string { return printable.Lines(run.Settings.Raw, 1000, 4096) }

// maxCompared bounds a list that is compared: what it takes grows with its square, and a saved run can be anybody's.
const maxCompared = 500

// changes returns the lines that are not in both lists, as a diff without context.
func changes(before, after []string) []string {
	out := []string{}
	for _, l := range patch.Edits(before[:min(len(before), maxCompared)], after[:min(len(after), maxCompared)]) {
		if l.Sign != " " {
			out = append(out, l.Sign+" "+l.Text)
		}
	}
	return out
}

func hostsOf(runs ...*probe.Run) []string {
	var hosts []string
	for _, run := range runs {
		for i := range run.Resolutions {
			r := &run.Resolutions[i]
			if p := r.Purpose.OrAsked(); (p == probe.PurposeAsked || p == probe.PurposeAlso) && !slices.Contains(hosts, r.Host) {
				hosts = append(hosts, r.Host)
			}
		}
	}
	return hosts
}

func compareHost(host string, before, after *probe.Run) HostDifference {
	d := HostDifference{Host: host, Attempts: []string{}}
	var a, b *probe.Resolution
	d.Before, a = resultOf(before, host)
	d.After, b = resultOf(after, host)
	if a != nil && b != nil {
		d.Same = a.Outcome == b.Outcome && slices.Equal(sorted(a.Addresses), sorted(b.Addresses))
		d.Attempts = changes(names(a), names(b))
	}
	return d
}

func names(r *probe.Resolution) []string {
	var out []string
	for _, a := range r.Attempts {
		out = append(out, a.Name)
	}
	return out
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// resultOf sums up the resolutions of a host under the settings as they were, and returns the first of them.
func resultOf(run *probe.Run, host string) (*HostResult, *probe.Resolution) {
	var first *probe.Resolution
	var took []probe.Millis
	for i := range run.Resolutions {
		r := &run.Resolutions[i]
		asItIs := r.Variant == "" || r.Variant == probe.VariantNow
		if r.Host != host || !asItIs || r.Outcome == "" || r.Purpose == probe.PurposeCompare || r.Question != nil {
			continue
		}
		if first == nil {
			first = r
		}
		took = append(took, r.Duration)
	}
	if first == nil {
		return nil, nil
	}
	slices.Sort(took)
	return &HostResult{
		Outcome: first.Outcome, Addresses: list(first.Addresses), QueriesSent: first.QueriesSent, QueriesWasted: first.QueriesWasted,
		Median: took[len(took)/2], Least: took[0], Most: took[len(took)-1], Samples: len(took),
	}, first
}

// String writes a result on one line.
func (h *HostResult) String() string {
	if h == nil {
		return "not asked"
	}
	text := string(h.Outcome)
	if len(h.Addresses) > 0 {
		text = strings.Join(h.Addresses[:min(3, len(h.Addresses))], ", ")
	}
	text += fmt.Sprintf(", %d queries (%d wasted), %s", h.QueriesSent, h.QueriesWasted, view.Duration(h.Median))
	if h.Samples > 1 {
		text += fmt.Sprintf(" (median of %d, %s to %s)", h.Samples, view.Duration(h.Least), view.Duration(h.Most))
	}
	return text
}

// DifferenceJSON writes a difference as an indented JSON document. As in JSON, what a terminal would obey is escaped.
func DifferenceJSON(w io.Writer, d Difference) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write the difference as JSON: %w", err)
	}
	_, err = io.WriteString(w, escapeUnsafe(string(text))+"\n")
	return err
}

// DifferenceText writes a difference for a terminal.
func DifferenceText(w io.Writer, d Difference) error {
	var b bytes.Buffer
	line := func(format string, args ...any) {
		b.WriteString(printable.Text(fmt.Sprintf(format, args...), printable.MaxText) + "\n")
	}
	line("before  %s", d.Before)
	line("after   %s", d.After)
	if d.Resolver != "" {
		line("libc    %s", d.Resolver)
	}
	line("")
	if len(d.Settings) == 0 {
		line("Settings: the same")
	} else {
		line("Settings")
		for _, l := range d.Settings {
			line("  %s", l)
		}
	}
	for _, h := range d.Hosts {
		line("")
		same := "the answer changed"
		switch {
		case h.Before == nil || h.After == nil:
			same = "asked in one run only"
		case h.Same:
			same = "same answer"
		}
		line("%s  %s", h.Host, same)
		line("  before  %s", h.Before)
		line("  after   %s", h.After)
		for _, l := range h.Attempts {
			line("    %s", l)
		}
	}
	line("")
	for _, f := range d.Gone {
		line("gone    %s  %s", f.Class, f.Title)
	}
	for _, f := range d.New {
		line("new     %s  %s", f.Class, f.Title)
	}
	if len(d.Stayed) > 0 {
		line("stayed  %s", strings.Join(d.Stayed, ", "))
	}
	if len(d.Gone)+len(d.New)+len(d.Stayed) == 0 {
		line("No findings in either run.")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// DifferenceMarkdown writes a difference for a ticket.
func DifferenceMarkdown(w io.Writer, d Difference) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### dnsprobe: before and after\n\n- before: %s\n- after: %s\n", prose(d.Before), prose(d.After))
	if d.Resolver != "" {
		fmt.Fprintf(&b, "- libc: %s\n", prose(d.Resolver))
	}
	if len(d.Settings) > 0 {
		fmt.Fprintf(&b, "\n```diff\n%s\n```\n", fenced(strings.Join(d.Settings, "\n")))
	}
	b.WriteString("\n| host | before | after | answer |\n|---|---|---|---|\n")
	for _, h := range d.Hosts {
		same := "**changed**"
		switch {
		case h.Before == nil || h.After == nil:
			same = ""
		case h.Same:
			same = "same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code(h.Host, maxMarkdownName), prose(h.Before.String()), prose(h.After.String()), same)
	}
	b.WriteString("\n")
	for _, f := range d.Gone {
		fmt.Fprintf(&b, "- gone: **%s**: %s\n", prose(f.Class), prose(f.Title))
	}
	for _, f := range d.New {
		fmt.Fprintf(&b, "- new: **%s**: %s\n", prose(f.Class), prose(f.Title))
	}
	if len(d.Stayed) > 0 {
		fmt.Fprintf(&b, "- stayed: %s\n", prose(strings.Join(d.Stayed, ", ")))
	}
	_, err := w.Write(b.Bytes())
	return err
}
