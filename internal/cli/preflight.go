package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/version"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/cluster"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
)

func newPreflightCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var (
		flags   = genericclioptions.NewConfigFlags(true)
		request ephemeral.Request
		roles   bool
	)
	c := &cobra.Command{
		Use:   "preflight TARGET",
		Short: "Say what a run would do to a pod, and what is missing for it",
		Long: `Say what a run would do to a pod, and what is missing for it: permissions (with a ready-made Role), Pod Security, the state
of the pod, what earlier runs have left. It also says which permissions would let a run know more. It changes nothing.

It exits with 1 when a run could not do its work.`,
		Example: `  kubectl dnsprobe preflight -n shop deploy/payments
  kubectl dnsprobe preflight -n shop deploy/payments --roles > roles.yaml`,
		Args:              exactArgs(1),
		ValidArgsFunction: completeTargets(flags),
		RunE: func(c *cobra.Command, args []string) error {
			k, err := connect(flags)
			if err != nil {
				return err
			}
			if roles {
				return printRoles(c.Context(), streams.Out, k, args[0])
			}
			return preflight(c.Context(), streams.Out, k, args[0], request)
		},
	}
	fs := c.Flags()
	fs.StringVarP(&request.Container, "container", "c", "", "the container whose resolver to follow (default: the annotated or first one)")
	fs.StringVar(&request.Image, "image", version.Image(), "image of the probe's container")
	fs.DurationVar(&request.Keep, "keep", defaultKeep, "how long the probe's container would stay for another run")
	fs.BoolVar(&roles, "roles", false, "print only the roles with all that a run needs and can make use of, as YAML")
	flags.AddFlags(fs)
	return c
}

// printRoles writes the roles for the namespace of a target.
func printRoles(ctx context.Context, out io.Writer, k kube, target string) error {
	s, err := k.find(ctx, target)
	if err != nil {
		return err
	}
	namespace := s.found.Pod.Namespace
	_, err = io.WriteString(out, ephemeral.Role(namespace)+"---\n"+cluster.Roles(namespace))
	return err
}

// optional asks for the permissions that facts rest on, in the background. The function that it returns waits for them.
func (k kube) optional(ctx context.Context, namespace string) func() []cluster.Answer {
	bounded, cancel := context.WithTimeout(ctx, askWithin)
	answers := make(chan []cluster.Answer, 1)
	go func() {
		defer cancel()
		answers <- cluster.Review(bounded, k.client, namespace)
	}()
	return func() []cluster.Answer { return <-answers }
}

// factText says what a permission is to the facts of a run.
func factText(a cluster.Answer) string {
	switch {
	case a.Unknown != "":
		return "unknown: " + a.Unknown
	case a.Allowed:
		return "yes"
	}
	return "no, it would tell " + a.Tells
}

// preflight writes what a run would do. A target that cannot be read is an error; everything else is part of the answer.
func preflight(ctx context.Context, out io.Writer, k kube, target string, r ephemeral.Request) error {
	s, err := k.find(ctx, target)
	if err != nil {
		return err
	}
	optional := k.optional(ctx, s.found.Pod.Namespace)
	situation := k.situation(ctx, s)
	plan, refusals := ephemeral.Judge(situation, r, ephemeral.RandomName())
	pod := situation.Pod
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(printable.Text(fmt.Sprintf(format, args...), printable.MaxText) + "\n")
	}
	line("pod          %s/%s", pod.Namespace, pod.Name)
	if s.found.Chosen != "" {
		line("             %s", s.found.Chosen)
	}
	if plan.Container != "" {
		line("container    %s, probed as %s", plan.Container, plan.Identity)
	}
	switch {
	case situation.NamespaceUnknown != "":
		line("security     unknown: %s", situation.NamespaceUnknown)
	case plan.Level != "":
		line("security     namespace %s enforces Pod Security %q", pod.Namespace, plan.Level)
	}
	for _, p := range ephemeral.Permissions() {
		line("permission   %-32s %s", p, accessText(situation.Access[p]))
	}
	less := false
	for _, a := range optional() {
		line("fact         %-48s %s", a.In(pod.Namespace), factText(a))
		less = less || !a.Allowed
	}
	if less {
		line("             a run works without these; --roles prints the roles that allow all of them")
	}
	for _, note := range plan.Notes {
		line("note         %s", note)
	}
	if len(refusals) == 0 {
		line("a run would begin by %s", plan.Describe(pod.Name))
		_, err := io.WriteString(out, b.String())
		return err
	}
	b.WriteString("\n")
	denied := false
	for _, r := range refusals {
		line("in the way   %s", r.What)
		if r.Denied == (ephemeral.Permission{}) {
			for _, next := range printable.Lines(r.Next, mostLines, printable.MaxText) {
				line("             %s", next)
			}
			continue
		}
		denied = true
	}
	if denied {
		b.WriteString("\nThis Role allows what a run needs; whoever may grant it binds it to you:\n\n" + ephemeral.Role(pod.Namespace))
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	return &exitError{code: ExitFailed}
}

func accessText(a ephemeral.Access) string {
	switch {
	case a.Unknown != "":
		return "unknown: " + a.Unknown
	case a.Allowed:
		return "yes"
	}
	return strings.TrimSpace("no " + a.Reason)
}
