package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
)

// completeName is the name under which kubectl asks a plugin for completions.
const completeName = "kubectl_complete-dnsprobe"

// Main carries out a command line (args[0] is the program's name) and returns the exit code. Errors are printed here and
// nowhere else.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	streams := genericiooptions.IOStreams{In: in, Out: out, ErrOut: errOut}
	// client-go logs through klog to stderr, over the screen; everything it has to say also comes back as an error.
	klog.SetLogger(logr.Discard())

	root := newRoot(streams) //nolint:contextcheck // cobra hands the context to each command.
	rest := args[1:]
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") == completeName {
		rest = append([]string{cobra.ShellCompRequestCmd}, rest...)
	}
	root.SetArgs(rest)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil {
		// Whatever broke, it broke because somebody wanted to stop.
		return ExitInterrupted
	}
	printError(streams.ErrOut, err)
	return exitCode(err)
}

// newRoot returns the command tree. The run is the root command itself, so that TARGET HOST is all there is to type.
func newRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root := newRunCommand(streams)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dnsprobe"}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError("see: "+c.CommandPath()+" --help", "%w", err)
	})
	root.AddCommand(
		newPatchCommand(streams),
		newPreflightCommand(streams),
		newLocalCommand(streams),
		newExplainCommand(streams),
		newDemoCommand(streams),
		newReplayCommand(streams),
		newDiffCommand(streams),
		newVersionCommand(streams),
		newCompletionCommand(streams),
	)
	completeLibc(root)
	return root
}

// exactArgs is cobra.ExactArgs with an error that names the command line.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError("usage: "+c.UseLine(), "%s takes %d argument(s), got %d", c.CommandPath(), n, len(args))
		}
		return nil
	}
}
