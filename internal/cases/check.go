package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

// OpenFile lists, in a folder of cases, those that are known not to be met yet: a name a line, and why.
const OpenFile = "open.txt"

// Checked is a scenario file held against its expectations.
type Checked struct {
	// Name is that of the file, without its extension. Case is that of the incident: several files can be one incident on several
	// targets.
	Name, Case string
	// Result is what came of it.
	Result Result
	// Summary stands for what came of it, where Result has nothing to say.
	Summary string
	// Statements are the demands, each met or not.
	Statements []scenario.Statement
	// Err says why the file could not be carried through.
	Err error
}

// Met says whether everything was as expected.
func (c *Checked) Met() bool {
	return c.Err == nil && !slices.ContainsFunc(c.Statements, func(s scenario.Statement) bool { return !s.Met })
}

// Files returns the scenario files of a folder, in order. Files of other kinds have one more word before their extension
// (x.entry.yaml) and are left out.
func Files(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".entry.yaml") })
	if err == nil && len(files) == 0 {
		err = errors.New("there is no file *.yaml in it; docs/scenarios.md says how a case is written")
	}
	if err != nil {
		return nil, fmt.Errorf("read the cases of %s: %w", dir, err)
	}
	return files, nil
}

// Check carries a scenario file through and holds it against its expectations. A file without any is an error.
func Check(ctx context.Context, file string) Checked {
	c := Checked{Name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
	c.Case = c.Name
	text, err := os.ReadFile(file)
	if err != nil {
		c.Err = err
		return c
	}
	s, err := scenario.Read(text)
	if err == nil && s.Expect == nil {
		err = errors.New("it has no block expect, so that nothing can be checked")
	}
	if err != nil {
		c.Err = fmt.Errorf("%s: %w", file, err)
		return c
	}
	if s.Case != "" {
		c.Case = s.Case
	}
	if c.Result, c.Err = Run(ctx, s, 1); c.Err == nil {
		c.Statements = s.Expect.Judge(c.Result.Run, c.Result.Early)
	}
	return c
}

// Open returns the names in the list of a folder, with the reasons.
func Open(dir string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, OpenFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	open := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, why, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && !strings.HasPrefix(name, "#") {
			open[name] = strings.TrimSpace(why)
		}
	}
	return open, nil
}

// Report writes a line about each file, what was missed under it, and the total. It returns how many incidents were met, of how many.
func Report(out io.Writer, list []Checked, open map[string]string) (met, of int) {
	whole := map[string]bool{}
	for i := range list {
		c := &list[i]
		if _, seen := whole[c.Case]; !seen {
			whole[c.Case] = true
		}
		whole[c.Case] = whole[c.Case] && c.Met()
		state := "met"
		if !c.Met() {
			state = "MISSED"
			if _, known := open[c.Name]; known {
				state = "open"
			}
		}
		fmt.Fprintf(out, "%-24s %-7s %s\n", c.Name, state, c.summary())
		if c.Err != nil {
			fmt.Fprintf(out, "%26s%v\n", "", c.Err)
		}
		for _, s := range c.Statements {
			if !s.Met {
				fmt.Fprintf(out, "%26s%s\n", "", s)
			}
		}
	}
	for _, ok := range whole {
		if ok {
			met++
		}
	}
	fmt.Fprintf(out, "%d of %d", met, len(whole))
	if len(list) != len(whole) {
		fmt.Fprintf(out, " (%d files)", len(list))
	}
	fmt.Fprintln(out)
	return met, len(whole)
}

// summary is what came of a case, in a line.
func (c *Checked) summary() string {
	class, change := c.Summary, scenario.NoPatch
	if class == "" {
		class = "no finding"
	}
	if f := c.Result.Run.Findings; len(f) > 0 {
		class = f[0].Class
	}
	if p := c.Result.Run.Patch; p != nil {
		change = p.Variant
	}
	said, of, forbidden := 0, 0, 0
	for _, s := range c.Statements {
		if s.Kind == "never" || s.Kind == "neverAdvised" {
			if !s.Met {
				forbidden++
			}
			continue
		}
		of++
		if s.Met {
			said++
		}
	}
	return fmt.Sprintf("%-22s patch %-10s %d of %d statements, %d forbidden", class, change, said, of, forbidden)
}
