package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

// patched is the classic run after its patch: fewer attempts, another option, no search-walk.
func patched() probe.Run {
	run := viewtest.Classic().Run()
	run.Target.Pod = "payments-9c1"
	run.Settings.Raw = strings.Replace(run.Settings.Raw, "ndots:5", "ndots:2", 1)
	r := run.Resolutions[0]
	last := r.Attempts[len(r.Attempts)-1]
	last.N, last.Start = 1, 0
	r.Attempts, r.QueriesSent, r.QueriesWasted, r.Duration = []probe.Attempt{last}, 2, 0, last.Duration
	run.Resolutions[0] = r
	run.Findings = slices.DeleteFunc(slices.Clone(run.Findings), func(f probe.Finding) bool { return f.Class == "search-walk" })
	run.Findings = append(run.Findings, probe.Finding{Class: "hosts-file", Title: "a new one"})
	return run
}

func TestDifferenceGolden(t *testing.T) {
	d := Compare(viewtest.Classic().Run(), patched())
	var text, md bytes.Buffer
	if err := DifferenceText(&text, d); err != nil {
		t.Fatal(err)
	}
	if err := DifferenceMarkdown(&md, d); err != nil {
		t.Fatal(err)
	}
	golden(t, "difference", text.String())
	golden(t, "difference.md", md.String())
}

func TestDifferenceOfARunWithItself(t *testing.T) {
	for name, s := range viewtest.Runs() {
		d := Compare(s.Run(), s.Run())
		if len(d.Settings)+len(d.Gone)+len(d.New) > 0 || d.Resolver != "" {
			t.Errorf("%s: %+v", name, d)
		}
		for _, h := range d.Hosts {
			if h.Before != nil && !h.Same || len(h.Attempts) > 0 {
				t.Errorf("%s: %+v", name, h)
			}
		}
	}
}

func TestHostResultSpreadsOverRepetitions(t *testing.T) {
	var run probe.Run
	for i, ms := range []int{4, 5000, 3, 5, 6} {
		run.Resolutions = append(run.Resolutions, probe.Resolution{
			ID: fmt.Sprint(i), Host: "a", Outcome: probe.OK, Duration: probe.Millis(ms * 1e6), Purpose: []probe.Purpose{probe.PurposeAsked, probe.PurposeRepeat}[min(i, 1)],
		})
	}
	run.Resolutions = append(run.Resolutions,
		probe.Resolution{Host: "a", Outcome: probe.OK, Variant: "ndots:1", Duration: 1},
		probe.Resolution{Host: "a", Outcome: probe.OK, Purpose: probe.PurposeCompare, Duration: 1},
		probe.Resolution{Host: "a", Duration: 1})
	got, _ := resultOf(&run, "a")
	if got.Samples != 5 || got.Median != 5e6 || got.Least != 3e6 || got.Most != 5000e6 {
		t.Errorf("%+v", got)
	}
	if got, _ := resultOf(&run, "b"); got != nil {
		t.Errorf("%+v for a host that was not asked", got)
	}
}

func TestChanges(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a b c", "a b c", ""},
		{"a b c", "a x c", "- b,+ x"},
		{"a b c d", "d", "- a,- b,- c"},
		{"b", "a b c", "+ a,+ c"},
	} {
		if got := strings.Join(changes(strings.Fields(c.before), strings.Fields(c.after)), ","); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

func TestDifferenceOfHostileRuns(t *testing.T) {
	run := viewtest.Hostile().Run()
	for range 20_000 {
		run.Resolutions[0].Attempts = append(run.Resolutions[0].Attempts, probe.Attempt{Name: "\u202e\u009b31m."})
	}
	d := Compare(viewtest.Hostile().Run(), run)
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return DifferenceJSON(b, d) },
		func(b *bytes.Buffer) error { return DifferenceText(b, d) },
		func(b *bytes.Buffer) error { return DifferenceMarkdown(b, d) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(b.String(), "\u202e\u009b\x1b"); i >= 0 {
			t.Errorf("a terminal would obey %q", b.String()[i:min(b.Len(), i+20)])
		}
	}
}
