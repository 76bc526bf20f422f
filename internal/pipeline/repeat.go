package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// repeat resolves every host as often again as was asked for, in turn, so that whatever drifts hits all alike. Rounds begin an
// interval apart; one that takes longer is followed by the next at once.
func (r *run) repeat(ctx context.Context) {
	if r.Count <= 1 {
		return
	}
	var took time.Duration
	for _, res := range r.hosts {
		took += res.Duration.Duration()
	}
	for n := 1; n < r.Count; n++ {
		if r.pause(ctx, r.Interval-took) != nil {
			return
		}
		took = 0
		for _, host := range r.hosts {
			res, err := r.Resolve(ctx, r.ask(host.Host, probe.PurposeRepeat))
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				r.problem(fmt.Errorf("repeat the resolution of %q: %w", host.Host, err), "run again")
				return
			}
			took += res.Duration.Duration()
		}
	}
	r.judge()
}

// pause waits for d, or until ctx ends.
func (r *run) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if r.Pause != nil {
		return r.Pause(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
