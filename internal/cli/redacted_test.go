package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestRedactReachesEveryOutputAndTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.ndjson")
	for _, format := range []string{"text", "json", "yaml", "markdown", "ndjson"} {
		code, out, errOut := main(t, "demo --redact --save "+file+" -o "+format)
		saved, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if code != ExitOK || errOut != "" || !strings.Contains(out, "search-walk") {
			t.Fatalf("%s: code %d, stderr %q:\n%s", format, code, errOut, out)
		}
		for _, secret := range []string{"stripe", "payments", "shop", "node-a", "203.0.113.7", "ec2", "ledger"} {
			if strings.Contains(out, secret) || strings.Contains(string(saved), secret) {
				t.Errorf("%s: %q is left:\n%s", format, secret, out)
			}
		}
	}
	// What is redacted once stays as it is.
	_, first, _ := main(t, "replay "+file+" -o text")
	if strings.Contains(first, "stripe") || !strings.Contains(first, "search-walk") {
		t.Errorf("replayed:\n%s", first)
	}
}

func TestRedactReachesErrorsAndWhatIsSaid(t *testing.T) {
	k, _ := fakeCluster(t)
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	var f runFlags
	f.image, f.keep, f.ask.libc, f.ask.types, f.output.format, f.output.redact = "agent:1", time.Minute, "auto", []string{"A", "AAAA"}, formatText, true
	o, err := f.complete(streams, []string{"deploy/payments", "api.stripe.com", "no.such.host"})
	if err != nil {
		t.Fatal(err)
	}
	o.output.secrets = []string{o.target}
	err = present(t.Context(), streams, o.output, func(ctx context.Context, emit func(probe.Event)) error {
		return o.look(ctx, k, emit, o.output.sayer(streams))
	})
	if exitCode(err) != ExitUnresolved || strings.Contains(out.String()+errOut.String(), "stripe") || strings.Contains(out.String()+errOut.String(), "payments") {
		t.Errorf("error %v, stderr %q:\n%s", err, errOut, out)
	}
	x := newRedaction("deploy/payments")
	got := x.err(&exitError{code: ExitUsage, err: errors.New("payments is gone at 10.1.2.3"), next: "look for payments"})
	n, ok := errors.AsType[nextStepper](got)
	if exitCode(got) != ExitUsage || strings.Contains(got.Error(), "payments") || strings.Contains(got.Error(), "10.1.2.3") || !ok || n.NextStep() == "look for payments" {
		t.Errorf("%v", got)
	}
}
