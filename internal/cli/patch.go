package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
)

// The formats of patch -o beside those of a run.
const (
	formatKustomize = "kustomize"
	formatDiff      = "diff"
)

var patchFormats = []string{formatText, formatYAML, formatKustomize, formatDiff, formatJSON}

// The values of --dry-run, as kubectl has them.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// defaultRollout bounds a rollout that is followed.
const defaultRollout = 10 * time.Minute

// patchFlags are the flags of patch as they were typed.
type patchFlags struct {
	kube      *genericclioptions.ConfigFlags
	container string
	image     string
	keep      time.Duration
	ask       askFlags
	format    string
	plain     bool
	apply     bool
	yes       bool
	dryRun    string
	rollout   time.Duration
}

// patchOptions are what a command line asks for, checked.
type patchOptions struct {
	run    runOptions
	format string
	// apply changes the workload, server only has the API server try it.
	apply, server bool
	// yes takes the typed yes for given.
	yes     bool
	rollout time.Duration
}

func newPatchCommand(streams genericiooptions.IOStreams) *cobra.Command {
	f := patchFlags{kube: genericclioptions.NewConfigFlags(true)}
	c := &cobra.Command{
		Use:   "patch TARGET HOST...",
		Short: "The smallest dnsConfig change that helps, checked name by name; --apply makes it",
		Long: `The smallest change of a workload's DNS settings that helps and breaks no name in use. It is tried in the pod before it is
proposed: HOST..., the names given with --also, and in every libc of the pod. "No change of dnsConfig helps" is a full answer.

Nothing is changed without --apply. With it the API server tries the change first, the difference is shown, and you are asked;
then the rollout is followed, and a new pod is probed.`,
		Example: `  kubectl dnsprobe patch deploy/payments api.stripe.com --also ledger --also ledger.core
  kubectl dnsprobe patch deploy/payments api.stripe.com -o kustomize
  kubectl dnsprobe patch deploy/payments api.stripe.com --also ledger --apply`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeTargets(f.kube),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := f.complete(streams, args)
			if err != nil {
				return err
			}
			k, err := connect(f.kube)
			if err != nil {
				return err
			}
			return o.execute(c.Context(), streams, k)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&f.container, "container", "c", "", "the container whose resolver to follow (default: the annotated or first one)")
	fs.StringVar(&f.image, "image", version.Image(), "image of the probe's container")
	fs.DurationVar(&f.keep, "keep", defaultKeep, "how long the probe's container stays for another run; 0 ends it with this one")
	f.ask.add(fs)
	fs.StringVarP(&f.format, "output", "o", formatText, "how to write the patch: "+strings.Join(patchFormats, ", "))
	fs.BoolVar(&f.plain, "plain", false, "ASCII only, no colour")
	fs.BoolVar(&f.apply, "apply", false, "change the workload, after a dry run and a typed yes")
	fs.BoolVar(&f.yes, "yes", false, "with --apply: change it without asking")
	fs.StringVar(&f.dryRun, "dry-run", dryRunNone, "with server the API server tries the change and stores nothing; with client it is only printed")
	fs.DurationVar(&f.rollout, "rollout-timeout", defaultRollout, "with --apply: how long to follow the rollout")
	f.kube.AddFlags(fs)
	return c
}

// complete returns the options that the flags and arguments mean, or a usage error.
func (f *patchFlags) complete(streams genericiooptions.IOStreams, args []string) (patchOptions, error) {
	o := patchOptions{format: f.format, apply: f.apply, yes: f.yes, rollout: f.rollout}
	run := runFlags{kube: f.kube, container: f.container, image: f.image, keep: f.keep, ask: f.ask, output: outputFlags{format: formatText, plain: f.plain}}
	var err error
	if o.run, err = run.complete(streams, args); err != nil {
		return o, err
	}
	switch {
	case !slices.Contains(patchFormats, f.format):
		return o, usageError("use one of: "+strings.Join(patchFormats, ", "), "-o %q is not a format", f.format)
	case f.ask.bare:
		return o, usageError("leave --bare out", "--bare tries no change, so there can be no patch")
	case f.dryRun != dryRunNone && f.dryRun != dryRunClient && f.dryRun != dryRunServer:
		return o, usageError("use none, server or client", "--dry-run %q is none of the three", f.dryRun)
	case f.yes && !f.apply:
		return o, usageError("add --apply, or leave --yes out", "--yes says yes to a change, and without --apply there is none")
	case f.rollout <= 0:
		return o, usageError("give a time such as 10m", "--rollout-timeout %s is no time to follow a rollout", f.rollout)
	case (f.apply || f.dryRun == dryRunServer) && f.format != formatText:
		return o, usageError("leave -o out, or print the patch without applying it", "-o %s only prints the patch", f.format)
	}
	switch f.dryRun {
	case dryRunClient:
		o.apply = false
	case dryRunServer:
		o.apply, o.server = false, true
	}
	if o.apply && !o.yes && !isTerminal(streams.In) {
		return o, usageError("type the command on a terminal, or say yes beforehand with --yes", "--apply asks before it changes anything, and stdin is no terminal")
	}
	return o, nil
}

// execute finds the patch, writes it, and applies it where that was asked for.
func (o patchOptions) execute(ctx context.Context, streams genericiooptions.IOStreams, k kube) error {
	run, err := o.find(ctx, streams, k, o.run)
	if err != nil {
		return err
	}
	if err := o.write(streams.Out, run); err != nil {
		return err
	}
	if run.Patch != nil && (o.apply || o.server) {
		a := applier{
			kube: k, out: streams.Out, say: sayer(streams), patch: *run.Patch, before: run, server: o.server, rollout: o.rollout, ask: typedYes(streams),
			again: func(ctx context.Context, target string) (probe.Run, error) { return o.again(ctx, streams, k, target) },
			ticks: func() (<-chan time.Time, func()) { t := time.NewTicker(time.Second); return t.C, t.Stop },
		}
		if o.yes {
			a.ask = func(context.Context, string) (bool, error) { return true, nil }
		}
		return a.apply(ctx)
	}
	if code := verdict(run, o.run.asking.hosts, ""); code != ExitOK {
		return &exitError{code: code}
	}
	return nil
}

// find carries out a run and returns all that it found.
func (o patchOptions) find(ctx context.Context, streams genericiooptions.IOStreams, k kube, in runOptions) (probe.Run, error) {
	run, err := collect(ctx, func(ctx context.Context, emit func(probe.Event)) error {
		return in.look(ctx, k, emit, sayer(streams))
	}, nil)
	if ctx.Err() != nil {
		sayer(streams)("interrupted; nothing was changed but for the probe's container in the pod")
		return run, ctx.Err()
	}
	return run, err
}

// again resolves every name once more in a pod of the workload, and nothing else.
func (o patchOptions) again(ctx context.Context, streams genericiooptions.IOStreams, k kube, target string) (probe.Run, error) {
	in := o.run
	in.target = target
	in.asking.hosts = unique(slices.Concat(in.asking.hosts, in.asking.also))
	in.asking.also, in.asking.variants, in.asking.bare, in.asking.all = nil, nil, true, false
	return o.find(ctx, streams, k, in)
}

// write writes the patch of a run, or why there is none.
func (o patchOptions) write(out io.Writer, run probe.Run) error {
	switch p := run.Patch; {
	case o.format == formatJSON:
		return report.JSON(out, run)
	case o.format == formatText:
		return report.PatchText(out, run, o.run.output.textOptions(out))
	case p == nil:
		return &exitError{code: ExitFailed, err: errors.New("there is no patch to write: " + noPatch(run)), next: "-o text has the findings, and what helps in the place of a patch"}
	case o.format == formatYAML:
		return text(out, patch.Document(*p))
	case o.format == formatDiff:
		return text(out, p.Diff)
	}
	doc, err := patch.Kustomization(*run.Patch)
	if err != nil {
		return err
	}
	return text(out, doc)
}

func text(out io.Writer, s string) error {
	_, err := io.WriteString(out, s)
	return err
}

// noPatch says in a phrase why a run has no patch.
func noPatch(run probe.Run) string {
	for _, f := range run.Findings {
		if f.Class != "healthy" {
			return fmt.Sprintf("no change of dnsConfig was found to help against %s, or it would break another name in use", printable.Text(f.Class, maxName))
		}
	}
	return "no change of dnsConfig is needed"
}
