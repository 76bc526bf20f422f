package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// command carries out a command line that must not need more than a minute, with text as its stdin.
func command(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var o, e bytes.Buffer
	code = Main(ctx, append([]string{"kubectl-dnsprobe"}, args...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// runOf carries out a command line that shows its run as JSON.
func runOf(t *testing.T, wantCode int, stdin string, args ...string) probe.Run {
	t.Helper()
	code, out, errOut := command(t, stdin, append(args, "-o", "json")...)
	if code != wantCode {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, wantCode, out, errOut)
	}
	var run probe.Run
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return run
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func classes(run probe.Run) string {
	var list []string
	for _, f := range run.Findings {
		list = append(list, f.Class)
	}
	return strings.Join(list, " ")
}

func TestDemoShowsTheClassicIncident(t *testing.T) {
	run := runOf(t, ExitOK, "", "demo")
	r := run.Resolutions[0]
	if len(r.Attempts) != 5 || r.QueriesSent != 10 || r.QueriesWasted != 8 {
		t.Errorf("%d attempts, %d queries, %d wasted; want 5, 10, 8", len(r.Attempts), r.QueriesSent, r.QueriesWasted)
	}
	if run.Schema != probe.Schema || run.Target.Pod != "payments-7d4" || run.Target.Via != "model" || run.Settings.Ndots != 5 {
		t.Errorf("%+v %+v", run.Target, run.Settings)
	}
	if got := classes(run); got != "search-walk healthy" {
		t.Errorf("findings: %s", got)
	}
	if run.Patch == nil || run.Patch.Variant != "ndots:2" || run.Patch.Name != "payments" || len(run.Patch.Names) != 3 {
		t.Fatalf("patch: %+v", run.Patch)
	}
	for _, n := range run.Patch.Names {
		if !n.Same {
			t.Errorf("%s does not stay the same", n.Name)
		}
	}
	if len(run.Problems) != 0 {
		t.Errorf("problems: %v", run.Problems)
	}
}

func TestDemoOfEveryBuiltinScenario(t *testing.T) {
	type show struct {
		classes string
		// problems is how many things the run cannot tell.
		problems int
	}
	want := map[string]show{
		"classic":         {classes: "search-walk healthy"},
		"dead-nameserver": {classes: "dead-nameserver"},
		// One lost message is no proof of anything, and neither is one run.
		"half-pair-loss": {problems: 1},
		"lost-aaaa":      {classes: "aaaa-blackhole"},
	}
	for _, name := range scenario.BuiltinNames() {
		wanted, known := want[name]
		if !known {
			t.Errorf("%s: no word here on what it has to show", name)
		}
		run := runOf(t, ExitOK, "", "demo", name)
		if got := classes(run); got != wanted.classes {
			t.Errorf("%s: findings %q, want %q", name, got, wanted.classes)
		}
		if len(run.Problems) != wanted.problems {
			t.Errorf("%s: problems %v", name, run.Problems)
		}
	}
	if d := runOf(t, ExitOK, "", "demo", "half-pair-loss").Resolutions[0].Duration.Duration(); d < 5*time.Second || d > 5010*time.Millisecond {
		t.Errorf("half a pair lost cost %s, glibc waits 5 s", d)
	}
}

func TestDemoIsTheSameEachTime(t *testing.T) {
	first, second := runOf(t, ExitOK, "", "demo"), runOf(t, ExitOK, "", "demo")
	for _, run := range []*probe.Run{&first, &second} {
		for i := range run.Resolutions {
			run.Resolutions[i].StartedAt = time.Time{}
		}
	}
	a, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(second)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("two demos differ:\n%s\n%s", a, b)
	}
}

func TestDemoReadsAScenarioFile(t *testing.T) {
	text := "hosts: [x]\nlibc: musl-1.2.5\nsettings: {resolvConf: 'nameserver 10.0.0.1'}\nservers: [{address: 10.0.0.1}]\n"
	for _, c := range []struct{ stdin, arg string }{{text, "-"}, {"", write(t, "s.yaml", text)}} {
		run := runOf(t, ExitUnresolved, c.stdin, "demo", c.arg)
		if r := run.Resolutions[0]; r.Host != "x" || r.Outcome != probe.NXDomain {
			t.Errorf("%+v", r)
		}
		if run.Resolver.Libc != probe.Musl || run.Resolver.Version != "1.2.5" {
			t.Errorf("musl became %+v", run.Resolver)
		}
	}
}

func TestDemoRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"demo", "no-such-scenario"}, {"demo", "classic", "classic"}, {"demo", "--pace", "-1"}, {"demo", "--pace", "NaN"}, {"demo", "-o", "xml"},
	} {
		if code, out, errOut := command(t, "", args...); code != ExitUsage || out != "" || !strings.HasPrefix(errOut, "error: ") {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, errOut)
		}
	}
	if code, _, errOut := command(t, "hosts: [x]\nrule: 1\n", "demo", "-"); code != ExitFailed || !strings.Contains(errOut, "rule") {
		t.Errorf("a broken file: exit code %d\n%s", code, errOut)
	}
}

func TestDemoPaceIsForPeopleOnly(t *testing.T) {
	f := demoFlags{ask: askFlags{libc: "auto", types: []string{"A", "AAAA"}}}
	sc, a, o, err := f.complete(genericiooptions.IOStreams{In: strings.NewReader("")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := paceFor(t.Context(), sc, a, o); p != 0 {
		t.Errorf("-o %s waits: pace %v", o.format, p)
	}
	o.format = formatTUI
	p := paceFor(t.Context(), sc, a, o)
	if walk := time.Duration(p * float64(17500*time.Microsecond)); walk < watchable*9/10 || walk > watchable*11/10 {
		t.Errorf("the walk takes %s on a screen", walk)
	}
	if sc, err = scenario.Builtin("half-pair-loss"); err != nil {
		t.Fatal(err)
	}
	a.hosts = sc.Hosts
	if p := paceFor(t.Context(), sc, a, o); p != 1 {
		t.Errorf("a walk of 5 s runs at pace %v, not in real time", p)
	}
}

func TestDemoEndsAtOnceWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errOut bytes.Buffer
	started := watchFor{text: `"event":"sent"`, found: cancel, to: &out}
	begin := time.Now()
	code := Main(ctx, []string{"kubectl-dnsprobe", "demo", "--pace", "1000000", "-o", "ndjson"}, strings.NewReader(""), &started, &errOut)
	if code != ExitInterrupted || errOut.Len() != 0 {
		t.Errorf("exit code %d\n%s", code, errOut.String())
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("took %s to end", d)
	}
}

// watchFor calls found when text is written to it.
type watchFor struct {
	text  string
	found func()
	to    *bytes.Buffer
}

func (w *watchFor) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.text)) {
		w.found()
	}
	return w.to.Write(p)
}

func TestDemoPatchCarriesTheOptionsThatAreThere(t *testing.T) {
	text := `
hosts: [api.example.com]
target: {namespace: shop, pod: web-0, owner: {apiVersion: apps/v1, kind: StatefulSet, name: web}, dnsConfig: {options: [{name: single-request}]}}
settings: {resolvConf: "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.1\noptions ndots:5 single-request\n"}
servers: [{address: 10.0.0.1}]
rules: [{name: api.example.com, do: ["a:203.0.113.9"]}]
`
	run := runOf(t, ExitOK, text, "demo", "-")
	if run.Patch == nil || run.Patch.Kind != "StatefulSet" || !strings.Contains(run.Patch.YAML, "single-request") || !strings.Contains(run.Patch.YAML, "ndots") {
		t.Errorf("%+v", run.Patch)
	}
}
