package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/experiment"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/view"
)

// applier makes a change, step by step. Whatever ends it says what has been changed by then, and how that is taken back.
type applier struct {
	kube  kube
	out   io.Writer
	say   func(string)
	patch probe.Patch
	// before is the run that the patch rests on.
	before probe.Run
	// server stops after the API server has tried the change.
	server  bool
	rollout time.Duration
	// ask asks a question and returns whether the answer is yes.
	ask func(ctx context.Context, question string) (bool, error)
	// again resolves every name in use in a pod of a target.
	again func(ctx context.Context, target string) (probe.Run, error)
	// ticks returns when to look how far the rollout is, and ends that.
	ticks func() (<-chan time.Time, func())
}

// apply takes all steps.
func (a applier) apply(ctx context.Context) error {
	if a.patch.Command == "" {
		return &exitError{
			code: ExitFailed, err: fmt.Errorf("%s %s cannot be changed in place, so nothing was changed", a.patch.Kind, a.patch.Name),
			next: "put the patch into what creates it",
		}
	}
	now, err := a.tryOut(ctx)
	if err != nil {
		return a.untouched(ctx, err)
	}
	if a.server {
		a.line("The API server accepts this. Nothing was changed (--dry-run=server).")
		return nil
	}
	yes, err := a.ask(ctx, fmt.Sprintf("Change %s? %s. Type yes to go on: ", a.name(), sentenceOf(a.patch.Effect)))
	if err != nil {
		return a.untouched(ctx, err)
	}
	if !yes {
		a.line("Nothing was changed.")
		return nil
	}
	// From here on an interruption must not leave anybody in doubt whether the change was made.
	sent, stop := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	after, err := cluster.Apply(sent, a.kube.client, a.patch, now, false)
	stop()
	if err != nil {
		return a.uncertain(err)
	}
	a.line("%s is changed.", a.name())
	return a.followed(ctx, after)
}

// tryOut looks at the workload, asks whether the user may change it, and has the API server try the change. It writes the difference.
func (a applier) tryOut(ctx context.Context) (cluster.Applied, error) {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	missing, err := cluster.MayPatch(within, a.kube.client, a.patch)
	if err != nil {
		return cluster.Applied{}, err
	}
	if missing != "" {
		return cluster.Applied{}, &exitError{
			code: ExitFailed, err: fmt.Errorf("you may not change %s: missing is %s", a.name(), missing),
			next: "whoever may can apply it with:\n" + a.patch.Command,
		}
	}
	now, err := cluster.Current(within, a.kube.client, a.patch)
	if err != nil {
		return now, err
	}
	tried, err := cluster.Apply(within, a.kube.client, a.patch, now, true)
	if err != nil {
		return now, err
	}
	difference, err := patch.Compare(now.Workload, tried.Workload)
	if err != nil {
		return now, err
	}
	if difference == "" {
		return now, &exitError{
			code: ExitFailed, err: fmt.Errorf("the API server would change nothing in %s: it has these settings already", a.name()),
			next: "the pod that was probed is an old one; look at a new one, or restart it: kubectl" + inNamespace(a.patch) + " rollout restart " + a.resource(),
		}
	}
	a.line("\nThe API server tried it; this is what would change in %s:", a.name())
	for _, l := range printable.Lines(difference, mostDiff, printable.MaxText) {
		a.line("  %s", l)
	}
	return now, nil
}

// mostDiff bounds a difference that is shown, in lines.
const mostDiff = 200

// followed waits for the rollout, then looks at a new pod.
func (a applier) followed(ctx context.Context, after cluster.Applied) error {
	within, cancel := context.WithTimeout(ctx, a.rollout)
	defer cancel()
	ticks, stop := a.ticks()
	defer stop()
	progress, err := cluster.Follow(within, a.kube.client, a.patch, after, ticks, func(text string) { a.say("rollout: " + text) })
	switch {
	case ctx.Err() != nil:
		return a.changed(ctx, ctx.Err(), "interrupted: the change is made, and the rollout goes on by itself")
	case within.Err() != nil:
		return a.changed(ctx, fmt.Errorf("the rollout has not ended within %s (%s)", a.rollout, progress.Text), "the change is made, and the rollout goes on by itself")
	case err != nil:
		return a.changed(ctx, err, "the change is made")
	case progress.Stays != "":
		a.line("%s.", sentenceOf(progress.Stays))
		return a.takeBack()
	}
	a.line("Rolled out: %s.", progress.Text)
	return a.compare(ctx, after)
}

// compare probes a new pod and writes before and after of every name in use.
func (a applier) compare(ctx context.Context, after cluster.Applied) error {
	target := strings.ToLower(a.patch.Kind) + "/" + a.patch.Name
	found, err := a.kube.find(ctx, target)
	if err == nil && !cluster.HasDNS(found.found.Pod, after.Workload) {
		err = fmt.Errorf("pod %s has other DNS settings than the template: something changes pods when they are made", found.found.Pod.Name)
	}
	var run probe.Run
	if err == nil {
		run, err = a.again(ctx, "pod/"+found.found.Pod.Name)
	}
	if err != nil {
		return a.changed(ctx, fmt.Errorf("look at a new pod: %w", err), "the change is made and rolled out; only the look at a new pod is missing")
	}
	a.line("\nBefore in pod %s, after in pod %s:", a.before.Target.Pod, run.Target.Pod)
	broken := false
	for _, now := range run.Resolutions {
		was, known := first(a.before, now.Host)
		if now.Variant != probe.VariantNow || !known {
			continue
		}
		words := fmt.Sprintf("%d to %d queries, %s to %s", was.QueriesSent, now.QueriesSent, view.Duration(was.Duration), view.Duration(now.Duration))
		switch {
		case experiment.Same(was, now) && now.Outcome == probe.OK:
			words += ", same address"
		case experiment.Same(was, now):
			words += ", " + string(now.Outcome) + " as before"
		default:
			words += fmt.Sprintf(", %s instead of %s", answerOf(now), answerOf(was))
			broken = broken || was.Outcome == probe.OK && now.Outcome != probe.OK
		}
		a.line("  %s  %s", now.Host, words)
	}
	if err := a.takeBack(); err != nil || !broken {
		return err
	}
	return &exitError{code: ExitUnresolved, err: errors.New("a name in use does not resolve any more in the new pod"), next: a.patch.Undo}
}

// first returns the first resolution of a host in a run, with the settings as they are.
func first(run probe.Run, host string) (probe.Resolution, bool) {
	for _, r := range run.Resolutions {
		if r.Host == host && r.Variant == probe.VariantNow && r.Question == nil && r.Purpose != probe.PurposeCompare {
			return r, true
		}
	}
	return probe.Resolution{}, false
}

func answerOf(r probe.Resolution) string {
	if r.Outcome != probe.OK {
		return string(r.Outcome)
	}
	return strings.Join(r.Addresses, " ")
}

// takeBack writes how the change is taken back.
func (a applier) takeBack() error {
	if a.patch.Undo == "" {
		return nil
	}
	return text(a.out, "\nTake it back: "+view.Undo(&a.patch)+"\n")
}

// untouched ends before anything was changed.
func (a applier) untouched(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		a.say("interrupted: nothing was changed")
		return ctx.Err()
	}
	a.say("nothing was changed")
	return err
}

// uncertain ends when the answer to the change is an error. Where the API server did answer, nothing was changed.
func (a applier) uncertain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &exitError{
			code: ExitFailed, err: fmt.Errorf("change %s: no answer within %s, so it may be changed or not: %w", a.name(), askWithin, err),
			next: "see what it has: kubectl" + inNamespace(a.patch) + " get " + a.resource() + " -o yaml; take it back with: " + a.patch.Undo,
		}
	}
	a.say("nothing was changed")
	return err
}

// changed ends after the change was made. state says how far things are.
func (a applier) changed(ctx context.Context, err error, state string) error {
	a.say(state)
	a.say("see how far it is: kubectl" + inNamespace(a.patch) + " rollout status " + a.resource())
	if a.patch.Undo != "" {
		a.say("take it back: " + a.patch.Undo)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var knows nextStepper
	if errors.As(err, &knows) {
		return err
	}
	return &exitError{code: ExitFailed, err: err}
}

func (a applier) line(format string, args ...any) {
	lead, rest := "", fmt.Sprintf(format, args...)
	if strings.HasPrefix(rest, "\n") {
		lead, rest = "\n", rest[1:]
	}
	// Output that cannot be written does not stop a change that is under way.
	_ = text(a.out, lead+printable.Text(rest, printable.MaxText)+"\n")
}

func (a applier) name() string {
	if a.patch.Namespace == "" {
		return a.patch.Kind + " " + a.patch.Name
	}
	return a.patch.Kind + " " + a.patch.Namespace + "/" + a.patch.Name
}

// resource is what kubectl calls the workload.
func (a applier) resource() string { return strings.ToLower(a.patch.Kind) + "/" + a.patch.Name }

func inNamespace(p probe.Patch) string {
	if p.Namespace == "" {
		return ""
	}
	return " -n " + p.Namespace
}

func sentenceOf(phrase string) string {
	if phrase == "" {
		return phrase
	}
	return strings.ToUpper(phrase[:1]) + phrase[1:]
}

// typedYes asks on the terminal. Anything but the word yes means no; so does the end of the input. An interruption does not wait for a
// key.
func typedYes(streams genericiooptions.IOStreams) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, question string) (bool, error) {
		fmt.Fprint(streams.ErrOut, printable.Text(question, printable.MaxText))
		typed := make(chan string, 1)
		go func() {
			answer, err := bufio.NewReader(io.LimitReader(streams.In, 256)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				answer = ""
			}
			typed <- answer
		}()
		select {
		case <-ctx.Done():
			fmt.Fprintln(streams.ErrOut)
			return false, ctx.Err()
		case answer := <-typed:
			return strings.TrimSpace(answer) == "yes", nil
		}
	}
}
