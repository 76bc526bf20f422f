package pipeline_test

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
)

// TestCases holds real incidents, cut down to scenarios, against what they expect. Those on the list of open ones are known not to be
// met yet; the list may only shrink.
func TestCases(t *testing.T) { checkFolder(t, "testdata/cases") }

// TestVariations holds what can happen besides: other names, addresses, zones, libcs, and two faults at once.
func TestVariations(t *testing.T) { checkFolder(t, "testdata/variations") }

func checkFolder(t *testing.T, dir string) {
	t.Helper()
	files, err := cases.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	open, err := cases.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		c := cases.Check(t.Context(), file)
		seen[c.Name] = true
		why, isOpen := open[c.Name]
		t.Run(c.Name, func(t *testing.T) {
			complain := t.Errorf
			switch {
			case c.Err != nil:
				t.Fatal(c.Err)
			case isOpen && c.Met():
				t.Errorf("is met now: take it off %s/%s (%s)", dir, cases.OpenFile, why)
			case isOpen:
				complain = t.Logf
			}
			for _, s := range c.Statements {
				if !s.Met {
					complain("%s", s)
				}
			}
			if t.Failed() || testing.Verbose() && !c.Met() {
				t.Log(c.Result.Told())
			}
		})
	}
	for name := range open {
		if !seen[name] {
			t.Errorf("%s lists %s, which there is not", cases.OpenFile, name)
		}
	}
}
