package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/report"
)

// differenceFormats are those of diff -o.
var differenceFormats = []string{formatText, formatMarkdown, formatJSON}

func newDiffCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say what changed between two saved runs",
		Long: `Say what changed between two saved runs: settings, answers, attempts, times with their spread, findings. Nothing is sent.

BEFORE and AFTER are what --save or -o ndjson has written; one of them can be - for stdin.`,
		Example: `  kubectl dnsprobe diff before.ndjson after.ndjson
  kubectl dnsprobe diff before.ndjson after.ndjson -o markdown`,
		Args: exactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(differenceFormats, format) {
				return usageError("use one of: "+strings.Join(differenceFormats, ", "), "-o %q is not a format of diff", format)
			}
			if args[0] == "-" && args[1] == "-" {
				return usageError("", "both runs cannot come from stdin")
			}
			before, err := readSaved(args[0], streams.In)
			if err != nil {
				return err
			}
			after, err := readSaved(args[1], streams.In)
			if err != nil {
				return err
			}
			for i, problem := range []string{before.problem, after.problem} {
				if problem != "" {
					sayer(streams)(args[i] + ": " + problem)
				}
			}
			return writeDifference(streams.Out, format, report.Compare(before.run, after.run))
		},
	}
	c.Flags().StringVarP(&format, "output", "o", formatText, "how to show it: "+strings.Join(differenceFormats, ", "))
	return c
}

func writeDifference(w io.Writer, format string, d report.Difference) error {
	switch format {
	case formatMarkdown:
		return report.DifferenceMarkdown(w, d)
	case formatJSON:
		return report.DifferenceJSON(w, d)
	}
	return report.DifferenceText(w, d)
}
