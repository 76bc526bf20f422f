package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// kubectlCompletion is the program kubectl looks for to complete the words after "kubectl dnsprobe".
const kubectlCompletion = "#!/bin/sh\nexec kubectl dnsprobe " + cobra.ShellCompRequestCmd + ` "$@"` + "\n"

func newCompletionCommand(streams genericiooptions.IOStreams) *cobra.Command {
	write := map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
		"zsh":        func(c *cobra.Command, w io.Writer) error { return c.GenZshCompletion(w) },
		"fish":       func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
		"powershell": func(c *cobra.Command, w io.Writer) error { return c.GenPowerShellCompletionWithDesc(w) },
		"kubectl": func(_ *cobra.Command, w io.Writer) error {
			_, err := io.WriteString(w, kubectlCompletion)
			return err
		},
	}
	shells := []string{"kubectl", "bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script",
		Long: `Print a completion script.

kubectl completes the words of a plugin by a program on PATH:

    kubectl dnsprobe completion kubectl > ~/bin/` + completeName + `
    chmod +x ~/bin/` + completeName + `

The other scripts (bash, zsh, fish, powershell) are for calling kubectl-dnsprobe by its own name.`,
		ValidArgs: shells,
		Args:      exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			w, known := write[args[0]]
			if !known {
				return usageError(fmt.Sprintf("use one of: %v", shells), "no completion for %q", args[0])
			}
			root := c.Root()
			root.Use = "kubectl-dnsprobe"
			root.Annotations = nil
			return w(root, streams.Out)
		},
	}
}
