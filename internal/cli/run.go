package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
)

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
  kubectl dnsprobe deploy/payments api.stripe.com -o json`,
		Version: version.String(),
		Args:    cobra.ArbitraryArgs,
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
	fs.DurationVar(&f.keep, "keep", 15*time.Minute, "how long the probe's container stays for another run; 0 ends it with this one")
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
	case o.keep < 0:
		return o, usageError("", "--keep %s is negative", o.keep)
	case o.image == "":
		return o, usageError("leave --image out for "+version.Image(), "--image is empty")
	}
	return o, nil
}

func (o runOptions) run(ctx context.Context, streams genericiooptions.IOStreams, kube *genericclioptions.ConfigFlags) error {
	return errors.New("look into a pod: this build has no way into a pod yet")
}
