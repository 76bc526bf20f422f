package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// oneHost is a source that resolves the host "a" to an outcome, and then fails with err.
func oneHost(outcome probe.Outcome, err error) source {
	return func(_ context.Context, emit func(probe.Event)) error {
		emit(probe.Event{Kind: probe.KindRun, Run: &probe.Header{Schema: probe.Schema}})
		emit(probe.Event{Kind: probe.KindBegin, Resolution: "1", Begin: &probe.Begin{Host: "a", Variant: probe.VariantNow}})
		emit(probe.Event{Kind: probe.KindEnded, Resolution: "1", Ended: &probe.Ended{Outcome: outcome}})
		return err
	}
}

func plainOutput(format string) output {
	return output{format: format, hosts: []string{"a"}, getenv: func(string) string { return "" }}
}

func TestPresentDecidesTheExitCode(t *testing.T) {
	failed := &exitError{code: ExitFailed, err: errors.New("no way in")}
	for _, format := range []string{formatText, formatJSON, formatYAML, formatNDJSON} {
		for _, tt := range []struct {
			name string
			src  source
			want int
		}{
			{"resolved", oneHost(probe.OK, nil), ExitOK},
			{"not resolved", oneHost(probe.NXDomain, nil), ExitUnresolved},
			{"resolved, but then the tool failed", oneHost(probe.OK, failed), ExitFailed},
			{"not at its end", oneHost("", nil), ExitFailed},
			{"interrupted", oneHost("", fmt.Errorf("resolve: %w", context.Canceled)), ExitInterrupted},
			{"nothing at all", func(context.Context, func(probe.Event)) error { return failed }, ExitFailed},
		} {
			t.Run(format+"/"+tt.name, func(t *testing.T) {
				streams, _, out, _ := genericiooptions.NewTestIOStreams()
				err := present(t.Context(), streams, plainOutput(format), tt.src)
				if got := exitCode(err); got != tt.want {
					t.Errorf("code %d (%v), want %d", got, err, tt.want)
				}
				if wantNothing := tt.name == "nothing at all"; (out.Len() == 0) != wantNothing {
					t.Errorf("wrote %q", out)
				}
			})
		}
	}
}

func TestFormatsOfPresent(t *testing.T) {
	show := func(format string) *bytes.Buffer {
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		if err := present(t.Context(), streams, plainOutput(format), oneHost(probe.OK, nil)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var fromJSON, fromYAML probe.Run
	if err := json.Unmarshal(show(formatJSON).Bytes(), &fromJSON); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(show(formatYAML).Bytes(), &fromYAML); err != nil {
		t.Error(err)
	}
	for _, run := range []probe.Run{fromJSON, fromYAML} {
		if run.Schema != probe.Schema || len(run.Resolutions) != 1 || run.Resolutions[0].Host != "a" {
			t.Errorf("run %+v", run)
		}
	}
	if lines := strings.Count(show(formatNDJSON).String(), "\n"); lines != 3 {
		t.Errorf("%d lines of NDJSON, want 3", lines)
	}
	if text := show(formatText).String(); !strings.Contains(text, "a") || strings.Contains(text, "\x1b") {
		t.Errorf("text %q", text)
	}
}

// closedPipe is a stdout whose reader is gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}
}

func TestABrokenPipeEndsQuietly(t *testing.T) {
	for _, format := range []string{formatText, formatJSON, formatNDJSON} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		streams.Out = closedPipe{}
		stopped := false
		err := present(t.Context(), streams, plainOutput(format), func(ctx context.Context, emit func(probe.Event)) error {
			err := oneHost(probe.OK, nil)(ctx, emit)
			stopped = ctx.Err() != nil
			return err
		})
		printError(errOut, err)
		if errOut.Len() > 0 {
			t.Errorf("%s: printed %q", format, errOut)
		}
		if format == formatNDJSON && !stopped {
			t.Error("the source was not told to stop")
		}
	}
}

func TestSavedRunIsTheEventStream(t *testing.T) {
	o := plainOutput(formatText)
	o.save = filepath.Join(t.TempDir(), "run.ndjson")
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	if err := present(t.Context(), streams, o, oneHost(probe.OK, nil)); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(o.save)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var fold probe.Fold
	for dec := probe.NewDecoder(file); ; {
		ev, err := dec.Decode()
		if err != nil {
			break
		}
		fold.Add(ev)
	}
	if run := fold.Run(); len(run.Resolutions) != 1 || run.Resolutions[0].Outcome != probe.OK {
		t.Errorf("the saved run is %+v", run)
	}
}

func TestSavingWhereNothingCanBeSavedFailsBeforeTheRun(t *testing.T) {
	o := plainOutput(formatText)
	o.save = filepath.Join(t.TempDir(), "missing", "run.ndjson")
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	err := present(t.Context(), streams, o, func(context.Context, func(probe.Event)) error {
		t.Error("the run was started")
		return nil
	})
	if exitCode(err) != ExitFailed {
		t.Errorf("error %v", err)
	}
}

func TestEventsMayComeFromSeveralGoroutines(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	const each, many = 50, 4
	err := present(t.Context(), streams, output{format: formatNDJSON}, func(_ context.Context, emit func(probe.Event)) error {
		var wg sync.WaitGroup
		for range many {
			wg.Go(func() {
				for range each {
					emit(probe.Event{Kind: probe.KindNote, Note: "x"})
				}
			})
		}
		wg.Wait()
		return nil
	})
	if err != nil || strings.Count(out.String(), "\n") != each*many {
		t.Errorf("error %v, %d lines", err, strings.Count(out.String(), "\n"))
	}
}

func TestOutputFlags(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, tt := range []struct {
		flags outputFlags
		want  string
		fails string
	}{
		{outputFlags{}, formatText, ""},
		{outputFlags{format: "json"}, formatJSON, ""},
		{outputFlags{format: "xml"}, "", `-o "xml" is not a format`},
		{outputFlags{format: "tui"}, "", "-o tui needs a terminal"},
		{outputFlags{failOn: "bad"}, "", `--fail-on "bad" is not a severity`},
	} {
		o, err := tt.flags.complete(streams, nil)
		if tt.fails != "" {
			if err == nil || exitCode(err) != ExitUsage || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%+v: error %v", tt.flags, err)
			}
			continue
		}
		if err != nil || o.format != tt.want {
			t.Errorf("%+v: %q, %v", tt.flags, o.format, err)
		}
	}
}
