// Command cmd holds folders of scenario files, or single files, against what they expect: make cases CASES=DIR.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/cases/entry"
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
		list, open, err := check(ctx, path)
		if err != nil {
			return false, err
		}
		if *verbose {
			for i := range list {
				fmt.Fprintf(out, "=== %s\n%s\n", list[i].Name, list[i].Result.Told())
			}
		}
		met, of := cases.Report(out, list, open)
		all = all && met == of
	}
	return all, nil
}

// check holds a folder or a file against its expectations, and returns which of the folder are known not to be met yet.
func check(ctx context.Context, path string) (list []cases.Checked, open map[string]string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	files := []string{path}
	if info.IsDir() {
		ways, err := entry.Files(path)
		if err != nil {
			return nil, nil, err
		}
		if files, err = cases.Files(path); err != nil && len(ways) == 0 {
			return nil, nil, err
		}
		files = append(files, ways...)
		slices.Sort(files)
		if open, err = cases.Open(path); err != nil {
			return nil, nil, err
		}
	}
	for _, file := range files {
		one := cases.Check
		if strings.HasSuffix(file, entry.Suffix) {
			one = entry.Check
		}
		c := one(ctx, file)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		list = append(list, c)
	}
	return list, open, nil
}
