package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// resolved is a run in which hosts came to outcomes.
func resolved(outcomes map[string]probe.Outcome, findings ...probe.Severity) probe.Run {
	var run probe.Run
	for host, o := range outcomes {
		run.Resolutions = append(run.Resolutions,
			probe.Resolution{Host: host, Variant: probe.VariantNow, Outcome: o},
			// Later ones, and those of variants, decide nothing.
			probe.Resolution{Host: host, Variant: probe.VariantNow, Outcome: probe.Again},
			probe.Resolution{Host: host, Variant: "ndots:2", Outcome: probe.NXDomain})
	}
	for _, s := range findings {
		run.Findings = append(run.Findings, probe.Finding{Severity: s})
	}
	return run
}

func TestVerdict(t *testing.T) {
	tests := []struct {
		name   string
		run    probe.Run
		hosts  string
		failOn probe.Severity
		want   int
	}{
		{"resolved", resolved(map[string]probe.Outcome{"a": probe.OK, "also": probe.NXDomain}), "a", "", ExitOK},
		{"one of two does not resolve", resolved(map[string]probe.Outcome{"a": probe.OK, "b": probe.NXDomain}), "a b", "", ExitUnresolved},
		{"a timeout is an answer about DNS", resolved(map[string]probe.Outcome{"a": probe.Again}), "a", "", ExitUnresolved},
		{"one could not be tried", resolved(map[string]probe.Outcome{"a": probe.NXDomain}), "a b", "", ExitFailed},
		{"one is not at its end", resolved(map[string]probe.Outcome{"a": ""}), "a", "", ExitFailed},
		{"findings are no failure by themselves", resolved(map[string]probe.Outcome{"a": probe.OK}, probe.Critical), "a", "", ExitOK},
		{"finding at the level", resolved(map[string]probe.Outcome{"a": probe.OK}, probe.Info, probe.Warning), "a", probe.Warning, ExitFindings},
		{"finding below the level", resolved(map[string]probe.Outcome{"a": probe.OK}, probe.Info), "a", probe.Warning, ExitOK},
		{"not resolved says more than a finding", resolved(map[string]probe.Outcome{"a": probe.NoData}, probe.Critical), "a", probe.Info, ExitUnresolved},
	}
	for _, tt := range tests {
		if got := verdict(tt.run, strings.Fields(tt.hosts), tt.failOn); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestErrorsArePrintedOnceWithTheirNextStep(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
		code int
	}{
		{"plain", errors.New("read it"), "error: read it\n", ExitFailed},
		{"usage", usageError("say it better", "wrong"), "error: wrong\nsay it better\n", ExitUsage},
		{"wrapped", fmt.Errorf("in short: %w", usageError("next", "wrong")), "error: in short: wrong\nnext\n", ExitUsage},
		{"only a code", &exitError{code: ExitUnresolved}, "", ExitUnresolved},
		{"interrupted", fmt.Errorf("resolve: %w", context.Canceled), "", ExitInterrupted},
		{"nobody reads", fmt.Errorf("write: %w", syscall.EPIPE), "", ExitFailed},
		{"hostile", errors.New("pod \x1b]0;owned\a"), "error: pod \\x1b]0;owned\\x07\n", ExitFailed},
	}
	for _, tt := range tests {
		var b strings.Builder
		printError(&b, tt.err)
		if b.String() != tt.want || exitCode(tt.err) != tt.code {
			t.Errorf("%s: %q and %d, want %q and %d", tt.name, b.String(), exitCode(tt.err), tt.want, tt.code)
		}
	}
}
