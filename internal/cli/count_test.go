package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// racing loses one half of a pair in one lookup of forty.
const racing = `
name: racing
settings:
  resolvConf: "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:1\n"
libc: glibc-2.36
target: {pod: payments-7d4, namespace: shop}
hosts: [pay.example.net]
servers: [{address: 10.96.0.10}]
delay: 1ms
rules:
- {name: pay.example.net, type: AAAA, nth: [9, 50, 91, 132], do: [drop]}
- {name: pay.example.net, do: ["a:198.51.100.40"]}
`

func TestCountFindsWhatOneLookupCannot(t *testing.T) {
	file := write(t, "racing.yaml", racing)
	once := runOf(t, ExitOK, "", "demo", file)
	if strings.Contains(classes(once), "half-pair-loss") {
		t.Errorf("one lookup: found %q", classes(once))
	}
	begun := time.Now()
	run := runOf(t, ExitOK, "", "demo", file, "--count", "200", "--interval", "1m")
	if !strings.HasPrefix(classes(run), "half-pair-loss") {
		t.Errorf("200 lookups: found %q", classes(run))
	}
	var starts []time.Time
	for _, r := range run.Resolutions {
		if r.Variant == probe.VariantNow && (r.Purpose == probe.PurposeAsked || r.Purpose == probe.PurposeRepeat) {
			starts = append(starts, r.StartedAt)
		}
	}
	if len(starts) != 200 {
		t.Fatalf("%d lookups, want 200", len(starts))
	}
	for i := range starts[1:] {
		if d := starts[i+1].Sub(starts[i]); d < 59*time.Second || d > 61*time.Second {
			t.Fatalf("round %d begins %s after the one before it", i+2, d)
		}
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("modelled pauses took %s of real time", took)
	}
}

func TestAScenarioSaysHowOften(t *testing.T) {
	file := write(t, "racing.yaml", strings.Replace(racing, "hosts:", "count: 30\nhosts:", 1))
	for flag, want := range map[string]int{"": 30, "--count=5": 5} {
		args := []string{"demo", file, "--bare"}
		if flag != "" {
			args = append(args, flag)
		}
		if n := len(runOf(t, ExitOK, "", args...).Resolutions); n != want {
			t.Errorf("%q: %d lookups, want %d", flag, n, want)
		}
	}
}
