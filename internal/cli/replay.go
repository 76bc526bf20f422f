package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// maxSaved bounds a saved run in bytes; a run of a thousand lookups takes a few of these MiB.
const maxSaved = 256 << 20

func newReplayCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f outputFlags
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Open a saved run again, without a cluster",
		Long: `Open a saved run again, without a cluster. Nothing is sent.

FILE is what --save or -o ndjson has written; - is stdin. Every later version can read it.`,
		Example: `  kubectl dnsprobe deploy/payments api.stripe.com --save before.ndjson
  kubectl dnsprobe replay before.ndjson
  kubectl dnsprobe replay before.ndjson -o markdown`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := readSaved(args[0], streams.In)
			if err != nil {
				return err
			}
			o, err := f.complete(streams, s.hosts())
			if err != nil {
				return err
			}
			o.title = "dnsprobe " + args[0]
			return present(c.Context(), streams, o, s.source())
		},
	}
	f.add(c.Flags())
	return c
}

// savedRun is a run that was saved.
type savedRun struct {
	events []probe.Event
	run    probe.Run
	// problem says what is missing from the file or not known to this version; empty when nothing is.
	problem string
}

// readSaved reads a saved run. A file that ends in the middle of an event, because whoever wrote it was stopped, is read as far
// as it goes.
func readSaved(file string, stdin io.Reader) (savedRun, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return savedRun{}, fmt.Errorf("open the saved run: %w", err)
		}
		defer func() { _ = f.Close() }() // It was only read.
		in = f
	}
	const next = "give a file that --save or -o ndjson has written"
	whole := &io.LimitedReader{R: in, N: maxSaved + 1}
	start := bufio.NewReaderSize(whole, 512)
	if head, _ := start.Peek(512); isDocument(head) {
		return savedRun{}, usageError(next, "%s is the document of -o json, not the events of a run", file)
	}
	var s savedRun
	var fold probe.Fold
	d := probe.NewDecoder(start)
	for {
		ev, err := d.Decode()
		if errors.Is(err, io.EOF) {
			break
		}
		if whole.N <= 0 {
			return savedRun{}, usageError("", "%s is larger than %d MiB", file, maxSaved>>20)
		}
		if err != nil && len(s.events) == 0 {
			return savedRun{}, usageError(next, "%s is not a saved run: %w", file, err)
		}
		if err != nil {
			s.note("the saved run ends early: " + err.Error())
			break
		}
		s.events = append(s.events, ev)
		fold.Add(ev)
	}
	if len(s.events) == 0 {
		return savedRun{}, usageError(next, "%s has no events in it", file)
	}
	if unknown := d.Unknown(); len(unknown) > 0 {
		s.note("a later version wrote this run; this one does not show: " + strings.Join(unknown, ", "))
	}
	s.run = fold.Run()
	return s, nil
}

func (s *savedRun) note(text string) {
	if s.problem != "" {
		text = s.problem + "; " + text
	}
	s.problem = text
}

// isDocument reports whether a file begins as a JSON document over several lines does.
func isDocument(head []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return more && string(bytes.TrimSpace(first)) == "{"
}

// hosts are those that somebody asked for.
func (s *savedRun) hosts() []string {
	var hosts []string
	for _, r := range s.run.Resolutions {
		if r.Purpose.OrAsked() == probe.PurposeAsked {
			hosts = append(hosts, r.Host)
		}
	}
	return unique(hosts)
}

// source emits the events of the run again.
func (s *savedRun) source() source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		for _, ev := range s.events {
			if err := ctx.Err(); err != nil {
				return err
			}
			emit(ev)
		}
		if s.problem != "" {
			emit(probe.Event{Kind: probe.KindProblem, Note: s.problem})
		}
		return nil
	}
}
