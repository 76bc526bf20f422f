package pipeline

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view/viewtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// verdicts are real incidents, cut down to scenarios, on glibc: the class that the first finding must have, empty where this
// version has no verdict, and classes that would be wrong there.
var verdicts = map[string]struct {
	want  string
	wrong []string
}{
	"O01": {"search-walk", nil},
	"O02": {"search-walk", nil},
	"O03": {"wildcard-search", []string{"healthy", "search-walk"}},
	"O04": {"search-walk", []string{"dead-nameserver"}},
	"O05": {"", []string{"healthy", "dead-nameserver", "timeout-in-search"}},
	"O07": {"", []string{"healthy", "half-pair-loss", "dead-nameserver"}},
	"O08": {"servfail-in-search", nil},
	"O09": {"wrong-dns-policy", []string{"healthy"}},
	"O10": {"stub-loopback", []string{"healthy", "dead-nameserver"}},
	"O11": {"", []string{"healthy", "dead-nameserver"}},
	"O12": {"tcp53-blocked", []string{"healthy", "dead-nameserver"}},
	"O13": {"", []string{"healthy", "egress-blocked", "dead-nameserver"}},
	// One sample of O15 is as healthy as can be, so that is not wrong at first; its golden file shows that it is taken back.
	"O15":  {"upstream-inconsistent", nil},
	"O16":  {"no-such-name", []string{"healthy"}},
	"O17":  {"healthy", []string{"no-such-name"}},
	"O18":  {"search-walk", nil},
	"O19a": {"refused-in-search", nil},
	"O19b": {"refused-in-search", nil},
	"O20":  {"aaaa-nxdomain", []string{"no-such-name", "healthy"}},
	"O21":  {"healthy", nil},
	"O23":  {"search-walk", []string{"healthy"}},
	"O24":  {"", []string{"healthy", "dead-nameserver"}},
	"O25":  {"no-such-name", []string{"healthy"}},
	"O26":  {"healthy", []string{"wildcard-search"}},
	"O27":  {"healthy", []string{"search-walk"}},
	"O29":  {"dead-nameserver", []string{"half-pair-loss"}},
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(verdicts) {
		t.Errorf("%d cases, %d verdicts", len(files), len(verdicts))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			run, early := runCase(t, file)
			verdict := verdicts[name]
			first := ""
			if len(run.Findings) > 0 {
				first = run.Findings[0].Class
			}
			if first != verdict.want {
				t.Errorf("the first finding is %q, want %q", first, verdict.want)
			}
			for _, f := range run.Findings {
				if slices.Contains(verdict.wrong, f.Class) {
					t.Errorf("%s is wrong here: %s", f.Class, f.Title)
				}
			}
			for _, f := range early {
				// What is said at once may be incomplete, but not wrong.
				if slices.Contains(verdict.wrong, f.Class) {
					t.Errorf("%s is wrong on the first screen: %s", f.Class, f.Title)
				}
			}
			viewtest.Golden(t, *update, strings.TrimSuffix(file, ".yaml")+".golden", "at first: "+classes(probe.Run{Findings: early})+"\n"+told(run))
		})
	}
}

// runCase carries a scenario file through in virtual time. It returns the run, and the findings of the first screen: those once
// every host was resolved, before anything else is sent.
func runCase(t *testing.T, file string) (run probe.Run, early []probe.Finding) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	var fold probe.Fold
	// The servers remember across resolutions what they were asked.
	state := simnet.NewState(1)
	e := &engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return s.System, nil },
		Resolver: probe.Resolver{Libc: s.Libc, Version: s.LibcVersion, Source: probe.SourceDetected},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &s.World, simnet.Options{State: state}), nil
		},
		Source: probe.Measured,
	}
	in := In{
		Prober: e.Prober("r", fold.Add), Settings: engine.Settings(s.System, e.Resolver, "target"), Resolver: e.Resolver, Target: s.Target, Facts: s.Facts,
		Hosts: s.Hosts, Also: s.Also, Workload: &patch.Workload{Owner: *s.Target.Owner, Namespace: s.Target.Namespace},
	}
	judged := 0
	err = Run(t.Context(), in, func(ev probe.Event) {
		if ev.Kind == probe.KindFindings {
			if judged++; judged == len(s.Hosts) {
				early = ev.Findings
			}
		}
		fold.Add(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	return fold.Run(), early
}

// told writes all conclusions of a run.
func told(run probe.Run) string {
	var b strings.Builder
	for _, f := range run.Findings {
		fmt.Fprintf(&b, "%s %s\n  %s\n  %s\n", f.Severity, f.Class, f.Title, f.Explain)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  - %s [%s #%d]\n", e.Text, e.Resolution, e.Attempt)
		}
		for _, r := range f.Remedies {
			fmt.Fprintf(&b, "  > %s\n", r.Text)
			if r.Gain != "" {
				fmt.Fprintf(&b, "    gain: %s\n", r.Gain)
			}
			if r.Caveat != "" {
				fmt.Fprintf(&b, "    but: %s\n", r.Caveat)
			}
		}
	}
	b.WriteString("what if\n" + table(run))
	b.WriteString("patch\n")
	if run.Patch != nil {
		fmt.Fprintf(&b, "%s %s\n", run.Patch.Variant, run.Patch.Command)
		b.WriteString(names(run.Patch))
	}
	for _, p := range run.Problems {
		fmt.Fprintf(&b, "problem: %s\n", p)
	}
	return random.ReplaceAllString(b.String(), "dnsprobe-RANDOM.")
}

// random is the label that finds out about wildcards.
var random = regexp.MustCompile(`dnsprobe-[a-z2-7]{10}\.`)
