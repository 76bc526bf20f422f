package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

// TestCases holds real incidents, cut down to scenarios, against what they expect. Those on the list of open ones are known not to be
// met yet; the list may only shrink.
func TestCases(t *testing.T) { checkFolder(t, "testdata/cases") }

// TestVariations holds what can happen besides: other names, addresses, zones, libcs, and two faults at once.
func TestVariations(t *testing.T) { checkFolder(t, "testdata/variations") }

// TestEveryClassHasACase: a class of finding without an incident that leads to it is a guess.
func TestEveryClassHasACase(t *testing.T) {
	pages, err := filepath.Glob("../../docs/findings/*.md")
	if err != nil || len(pages) < 40 {
		t.Fatal(len(pages), err)
	}
	shown := map[string]bool{}
	for _, dir := range []string{"testdata/cases", "testdata/variations"} {
		files, err := cases.Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenario.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			shown[s.Expect.Class] = true
			for _, class := range s.Expect.Also {
				shown[class] = true
			}
		}
	}
	for _, page := range pages {
		if class := strings.TrimSuffix(filepath.Base(page), ".md"); !shown[class] {
			t.Errorf("no case leads to %s", class)
		}
	}
}

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
