package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// metronome answers each ask after a set time, and notes what was asked.
type metronome struct {
	took  time.Duration
	hosts []string
	fails int
}

func (m *metronome) Resolve(_ context.Context, ask probe.Ask) (probe.Resolution, error) {
	m.hosts = append(m.hosts, ask.Host+" "+string(ask.Purpose.OrAsked()))
	if m.fails > 0 && len(m.hosts) >= m.fails {
		return probe.Resolution{}, errors.New("the pod is gone")
	}
	return probe.Resolution{ID: ask.Host, Host: ask.Host, Outcome: probe.OK, Duration: probe.Millis(m.took), Purpose: ask.Purpose.OrAsked()}, nil
}

func TestRepetitions(t *testing.T) {
	for name, tt := range map[string]struct {
		count          int
		interval, took time.Duration
		want           []string
		pauses         []time.Duration
	}{
		"once":             {0, time.Second, 0, []string{"a asked", "b asked"}, nil},
		"in turn":          {3, 0, 0, []string{"a asked", "b asked", "a repeat", "b repeat", "a repeat", "b repeat"}, nil},
		"an interval":      {2, time.Second, 200 * time.Millisecond, []string{"a asked", "b asked", "a repeat", "b repeat"}, []time.Duration{600 * time.Millisecond}},
		"slower than that": {2, time.Second, time.Second, []string{"a asked", "b asked", "a repeat", "b repeat"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &metronome{took: tt.took}
			var pauses []time.Duration
			err := Run(t.Context(), In{
				Prober: m, Hosts: []string{"a", "b"}, Bare: true, Count: tt.count, Interval: tt.interval,
				Pause: func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
			}, func(probe.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, m.hosts); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(pauses, tt.pauses) {
				t.Errorf("pauses %v, want %v", pauses, tt.pauses)
			}
		})
	}
}

func TestRepetitionsEnd(t *testing.T) {
	m := &metronome{fails: 3}
	var problems []string
	err := Run(t.Context(), In{Prober: m, Hosts: []string{"a", "b"}, Bare: true, Count: 1000}, func(ev probe.Event) {
		if ev.Kind == probe.KindProblem {
			problems = append(problems, ev.Note)
		}
	})
	if err != nil || len(m.hosts) != 3 || len(problems) == 0 {
		t.Errorf("error %v after %v, problems %v", err, m.hosts, problems)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m = &metronome{}
	err = Run(ctx, In{
		Prober: m, Hosts: []string{"a"}, Bare: true, Count: 5, Interval: time.Hour,
		Pause: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() },
	}, func(probe.Event) {})
	if !errors.Is(err, context.Canceled) || len(m.hosts) != 1 {
		t.Errorf("error %v after %v", err, m.hosts)
	}
	// Without a Pause the wait is real, and ends with ctx.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	go cancel()
	if err := (&run{}).pause(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
