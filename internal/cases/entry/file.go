package entry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
)

// Suffix ends the names of files of this kind.
const Suffix = ".entry.yaml"

// NotAllowed is the class of a run that was not let in.
const NotAllowed = "probe-not-allowed"

// file is a case as people write it; docs/scenarios.md describes it.
type file struct {
	Title string `json:"title"`
	Case  string `json:"case"`
	// Pod is what kubectl get pod -o yaml shows.
	Pod corev1.Pod `json:"pod"`
	// Labels are those of the pod's namespace.
	Labels map[string]string `json:"namespaceLabels"`
	// Denied are the permissions that the user does not have ("patch pods/ephemeralcontainers").
	Denied []string `json:"denied"`
	// Images are the beginnings of those that an admission webhook lets pass; without any there is no such webhook.
	Images []string `json:"images"`
	// Image is that of the probe.
	Image  string `json:"image"`
	Expect expect `json:"expect"`
}

type expect struct {
	// Class is NotAllowed, or empty for a run that gets in.
	Class *string  `json:"class"`
	Says  []string `json:"says"`
	Never []string `json:"never"`
	// Container are texts that the YAML of the added container contains.
	Container []string `json:"container"`
}

// Files returns the files of a folder that are of this kind, in order. There may be none.
func Files(dir string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*"+Suffix)) }

// Check carries a file through and holds it against what it expects.
func Check(ctx context.Context, path string) cases.Checked {
	c := cases.Checked{Name: strings.TrimSuffix(filepath.Base(path), Suffix)}
	c.Case = c.Name
	f, err := read(path)
	if err != nil {
		c.Err = fmt.Errorf("%s: %w", path, err)
		return c
	}
	if f.Case != "" {
		c.Case = f.Case
	}
	came, err := f.enter(ctx)
	if err != nil {
		c.Err = fmt.Errorf("%s: %w", path, err)
		return c
	}
	c.Statements, c.Summary = f.Expect.judge(came), came.class()
	return c
}

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) > scenario.MaxFile {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(text), scenario.MaxFile)
	}
	f := &file{Image: "registry.example/dnsprobe-agent:v1"}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, err
	}
	switch {
	case f.Pod.Name == "" || f.Pod.Namespace == "" || len(f.Pod.Spec.Containers) == 0:
		return nil, errors.New("the pod needs a name, a namespace and a container")
	case f.Expect.Class == nil:
		return nil, fmt.Errorf(`expect names no class: %q, or "" for a run that gets in`, NotAllowed)
	}
	return f, nil
}

// outcome is what came of trying to get in.
type outcome struct {
	// err is nil for a run that got in.
	err error
	// container is the YAML of the container that was added.
	container string
	// told is everything that people are shown.
	told string
}

func (o *outcome) class() string {
	if o.err != nil {
		return NotAllowed
	}
	return ""
}

// enter goes the way of a run: look, judge, add, wait.
func (f *file) enter(ctx context.Context) (*outcome, error) {
	server := newServer(f)
	pod := f.Pod.DeepCopy()
	out := &outcome{}
	plan, refusals := ephemeral.Judge(ephemeral.Look(ctx, server.client, pod), ephemeral.Request{Image: f.Image, Keep: 15 * time.Minute}, ephemeral.NamePrefix+"case")
	if len(refusals) > 0 {
		return out.failed(refusals[0])
	}
	out.told = plan.Describe(pod.Name) + "\n" + strings.Join(plan.Notes, "\n")
	if plan.Add == nil {
		return nil, errors.New("the pod has a probe's container already, so that nothing is added")
	}
	text, err := yaml.Marshal(plan.Add)
	if err != nil {
		return nil, err
	}
	out.container = string(text)
	after, err := ephemeral.Add(ctx, server.client, pod, plan.Add)
	if err != nil {
		return out.failed(err)
	}
	// The modelled kubelet has said all it will say: there is nothing to wait for.
	running, doing, err := ephemeral.Progress(after, plan.Add.Name)
	if err == nil && !running {
		err = fmt.Errorf("the container does not run: %s", doing)
	}
	if err != nil {
		return out.failed(err)
	}
	return out, nil
}

// failed notes down why a run did not get in. Only errors that say so themselves count: any other means that nobody thought of it.
func (o *outcome) failed(err error) (*outcome, error) {
	var knows interface {
		error
		NextStep() string
	}
	if !errors.As(err, &knows) {
		return nil, fmt.Errorf("the way in failed with an error that knows no next step: %w", err)
	}
	o.err = err
	o.told += "\n" + err.Error() + "\n" + knows.NextStep()
	return o, nil
}

func (e *expect) judge(o *outcome) []scenario.Statement {
	got := o.class()
	if o.err != nil {
		got += ": " + o.told
	}
	out := []scenario.Statement{{Kind: "class", Want: *e.Class, Met: o.class() == *e.Class, Got: fmt.Sprintf("%q", got)}}
	each := func(kind, text string, wanted []string, must bool) {
		for _, w := range wanted {
			s := scenario.Statement{Kind: kind, Want: w, Met: scenario.Holds(text, w) == must}
			if !s.Met {
				s.Got = fmt.Sprintf("%q", text)
			}
			out = append(out, s)
		}
	}
	each("says", o.told, e.Says, true)
	each("container", o.container, e.Container, true)
	each("never", o.told, e.Never, false)
	return out
}
