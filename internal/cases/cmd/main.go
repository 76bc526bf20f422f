// Command cmd holds folders of scenario files, or single files, against what they expect: make cases CASES=DIR.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	met, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}

// run checks what the arguments name, and says whether all of it was met.
func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("cases", flag.ContinueOnError)
	verbose := flags.Bool("v", false, "show all conclusions of each case")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	all := true
	for _, path := range flags.Args() {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		files, open := []string{path}, map[string]string(nil)
		if info.IsDir() {
			if files, err = cases.Files(path); err != nil {
				return false, err
			}
			if open, err = cases.Open(path); err != nil {
				return false, err
			}
		}
		var list []cases.Checked
		for _, file := range files {
			c := cases.Check(ctx, file)
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if *verbose {
				fmt.Fprintf(out, "=== %s\n%s\n", c.Name, c.Result.Told())
			}
			list = append(list, c)
		}
		met, of := cases.Report(out, list, open)
		all = all && met == of
	}
	return all, nil
}
