package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/pipeline"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
)

// defaultKeep is long enough for a person to look, think and look again.
const defaultKeep = 15 * time.Minute

// minKeep leaves time to join the container that was just started.
const minKeep = 2 * time.Second

// runFlags are the flags of a run as they were typed.
type runFlags struct {
	kube      *genericclioptions.ConfigFlags
	container string
	image     string
	keep      time.Duration
	ask       askFlags
	output    outputFlags
}

// runOptions are what a command line asks for, checked.
type runOptions struct {
	target    string
	container string
	image     string
	// keep is how long the probe's container waits for the next run.
	keep   time.Duration
	asking asking
	output output
}

func newRunCommand(streams genericiooptions.IOStreams) *cobra.Command {
	f := runFlags{kube: genericclioptions.NewConfigFlags(true)}
	c := &cobra.Command{
		Use:   "kubectl-dnsprobe TARGET HOST...",
		Short: "See what a pod's own resolver does with a name",
		Long: `See what a pod's own resolver does with a name: every search-path attempt, A and AAAA side by side, where the
time went, what it means, and the smallest safe dnsConfig change.

TARGET is a pod, or a workload or Service of which a ready pod is taken: pod/x, x, deploy/x, sts/x, ds/x, job/x, cronjob/x, svc/x.
HOST is a name as the application has it.

One ephemeral container is put into the pod, with no more rights than the target container has. It ends by itself.`,
		Example: `  kubectl dnsprobe pod/payments-7d4 api.stripe.com
  kubectl dnsprobe -n shop deploy/payments api.stripe.com --also ledger --also ledger.core
  kubectl dnsprobe deploy/payments api.stripe.com --count 200
  kubectl dnsprobe deploy/payments api.stripe.com -o json`,
		Version:           version.String(),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeTargets(f.kube),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && c.Flags().NFlag() == 0 {
				return c.Help()
			}
			o, err := f.complete(streams, args)
			if err != nil {
				return err
			}
			return o.run(c.Context(), streams, f.kube)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&f.container, "container", "c", "", "the container whose resolver to follow (default: the annotated or first one)")
	fs.StringVar(&f.image, "image", version.Image(), "image of the probe's container")
	fs.DurationVar(&f.keep, "keep", defaultKeep, "how long the probe's container stays for another run; 0 ends it with this one")
	f.ask.add(fs)
	f.output.add(fs)
	f.kube.AddFlags(fs)
	return c
}

// complete returns the options that the flags and arguments mean, or a usage error.
func (f *runFlags) complete(streams genericiooptions.IOStreams, args []string) (runOptions, error) {
	o := runOptions{container: f.container, image: f.image, keep: f.keep}
	const order = "usage: kubectl dnsprobe TARGET HOST..., such as: kubectl dnsprobe deploy/payments api.stripe.com"
	switch len(args) {
	case 0:
		return o, usageError(order, "TARGET and HOST are missing")
	case 1:
		return o, usageError(order, "HOST is missing: only %q is given", args[0])
	}
	o.target = args[0]
	for _, host := range args[1:] {
		if kind, _, found := strings.Cut(host, "/"); found && kind != "" && !strings.Contains(host, "://") {
			return o, usageError(order, "%q is not a host name", host)
		}
	}
	var err error
	if o.asking, err = f.ask.complete(args[1:]); err != nil {
		return o, err
	}
	if o.output, err = f.output.complete(streams, o.asking.hosts); err != nil {
		return o, err
	}
	switch {
	case o.keep < 0 || o.keep > 0 && o.keep < minKeep:
		return o, usageError("use 0 to end the container with this run", "--keep %s is too short: it must be 0, or %s at least", o.keep, minKeep)
	case o.image == "":
		return o, usageError("leave --image out for "+version.Image(), "--image is empty")
	}
	return o, nil
}

// run shows what a run finds out.
func (o runOptions) run(ctx context.Context, streams genericiooptions.IOStreams, flags *genericclioptions.ConfigFlags) error {
	k, err := connect(flags)
	if err != nil {
		return err
	}
	o.output.secrets = []string{k.namespace, o.target, o.container, o.image}
	return present(ctx, streams, o.output, func(ctx context.Context, emit func(probe.Event)) error {
		return o.look(ctx, k, emit, o.output.sayer(streams))
	})
}

// look is the run itself: find the pod, get in, read the settings, resolve, learn the facts, conclude.
func (o runOptions) look(ctx context.Context, k kube, emit func(probe.Event), say func(string)) error {
	s, err := k.find(ctx, o.target)
	if err != nil {
		return err
	}
	pod := s.found.Pod
	if s.found.Chosen != "" {
		say(fmt.Sprintf("looking at pod %s: %s", pod.Name, s.found.Chosen))
	}
	looked, leave := k.lookAround(ctx, cluster.Subject{
		Pod: pod, Container: o.container, Hosts: slices.Concat(o.asking.hosts, o.asking.also), Now: time.Now(),
	})
	defer leave()

	w, err := k.enter(ctx, s, ephemeral.Request{Container: o.container, Image: o.image, Keep: o.keep}, say)
	if err != nil {
		return err
	}
	// Closing says goodbye; a stream that is broken cannot be told, and needs no telling.
	defer func() { _ = w.client.Close() }()
	emit(w.header())
	if err := w.read(ctx); err != nil {
		return cut(err)
	}
	var settings probe.Fold
	for _, ev := range w.heard.since(w.client.Hello().History) {
		ev = o.asking.followed(ev)
		settings.Add(ev)
		emit(ev)
	}
	k8s := looked()
	if owner := k8s.Owner.Workload.Owner; owner.Kind != "Pod" {
		w.target.Owner = &owner
		emit(w.header())
	}
	facts := cluster.WithSearch(k8s.Facts, settings.Run().Settings.Search)
	var found []string
	if !o.asking.bare {
		found, facts[fact.NamesInUse] = namesInUse(k8s, pod.Namespace, slices.Concat(o.asking.hosts, o.asking.also))
	}
	emit(probe.Event{Kind: probe.KindFacts, Facts: facts})

	return cut(pipeline.Run(ctx, pipeline.In{
		Prober: live{w.client, emit}, Settings: settings.Run().Settings, Resolver: settings.Run().Resolver, Target: w.target,
		Facts: facts, Workload: &k8s.Owner.Workload, Hosts: o.asking.hosts, Also: o.asking.also, Found: found, Variants: o.asking.variants,
		Ask: o.asking.ask(""), Bare: o.asking.bare, Compare: o.asking.compared(settings.Run().Resolver),
		Count: o.asking.count, Interval: o.asking.interval,
		Libcs: otherLibcs(facts, w.target.Container, settings.Run().Resolver.Libc),
	}, emit))
}

// lookAround asks the cluster for facts in the background. The first function waits for them, the second ends the asking.
func (k kube) lookAround(ctx context.Context, subject cluster.Subject) (looked func() cluster.Known, leave func()) {
	bounded, cancel := context.WithTimeout(ctx, askWithin)
	answer := make(chan cluster.Known, 1)
	go func() { answer <- cluster.Look(bounded, k.client, subject) }()
	looked = sync.OnceValue(func() cluster.Known { return <-answer })
	return looked, func() { cancel(); looked() }
}

// live is a prober whose events are shown while they happen.
type live struct {
	client *session.Client
	emit   func(probe.Event)
}

func (l live) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	return l.client.ResolveLive(ctx, ask, l.emit)
}

// cut gives an error of the session its next step.
func cut(err error) error {
	if _, broken := errors.AsType[*session.CutError](err); broken {
		return &exitError{code: ExitFailed, err: err, next: "run the command again: it uses the same container in the pod while that is there"}
	}
	return err
}
