package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The goals for wall times, as parts of what kubectl debug takes on a fresh pod. It is compared with a second probe too: it adds a
// container each time.
const (
	firstGoal  = 1.5
	secondGoal = 0.6
)

// walls are the wall times of all rounds.
type walls struct {
	debug                                        sample
	firstBare, secondBare, firstFull, secondFull sample
	// answered holds those runs of kubectl debug that showed the answer: a container that ends before kubectl has attached to it
	// has told it to nobody, in less time.
	answered sample
}

// wallTimes measures rounds one after the other: in each, kubectl debug and both kinds of probe once, on pods of their own, and
// the order moves on by one so that none of them always comes first. Rounds that were measured count when a later one fails.
func (b *place) wallTimes(ctx context.Context, o options, say func(string, ...any)) ([]figure, error) {
	var w walls
	arms := []func(context.Context, options) error{
		func(ctx context.Context, o options) error { return w.debugArm(ctx, o) },
		func(ctx context.Context, o options) error {
			return probeArm(ctx, o, "bare", &w.firstBare, &w.secondBare, "--bare")
		},
		func(ctx context.Context, o options) error {
			return probeArm(ctx, o, "full", &w.firstFull, &w.secondFull)
		},
	}
	for round := range o.rounds {
		say("round %d of %d", round+1, o.rounds)
		if err := b.fresh(ctx, o.host, "debug", "bare", "full"); err != nil {
			return w.figures(), err
		}
		for i := range arms {
			if err := arms[(round+i)%len(arms)](ctx, o); err != nil {
				return w.figures(), err
			}
		}
		if err := b.clear(ctx); err != nil {
			return w.figures(), err
		}
	}
	return w.figures(), nil
}

// timed measures one command of kubectl, from start to exit.
func timed(ctx context.Context, s *sample, args ...string) (string, error) {
	start := time.Now()
	out, err := output(ctx, commandWithin, "", args...)
	if err == nil {
		s.add(time.Since(start))
	}
	return out, err
}

func (w *walls) debugArm(ctx context.Context, o options) error {
	out, err := timed(ctx, &w.debug, "debug", "-n", namespace, "-i", "--image="+o.debugImage, "debug", "--", "nslookup", o.host)
	if n := len(w.debug.All); err == nil && strings.Contains(out, "Name:") {
		w.answered.All = append(w.answered.All, w.debug.All[n-1])
	}
	return err
}

// probeArm probes a fresh pod, and the same pod once more.
func probeArm(ctx context.Context, o options, pod string, first, second *sample, flags ...string) error {
	args := append(plugin(o, pod), flags...)
	for _, s := range []*sample{first, second} {
		out, err := timed(ctx, s, args...)
		if err != nil {
			return err
		}
		if err := resolved(out, o.host); err != nil {
			return fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

// plugin returns the arguments of kubectl for a run of the plugin.
func plugin(o options, pod string) []string {
	args := []string{"dnsprobe", "-n", namespace, pod, o.host, "-o", "json"}
	if o.agentImage != "" {
		args = append(args, "--image", o.agentImage)
	}
	return args
}

// resolved makes sure that what was timed was the whole work: a run that resolved the host in the pod.
func resolved(out, host string) error {
	var run probe.Run
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		return fmt.Errorf("read what it printed: %w", err)
	}
	if len(run.Resolutions) == 0 || run.Resolutions[0].Host != host || run.Resolutions[0].Outcome != probe.OK {
		return fmt.Errorf("%s was not resolved", host)
	}
	return nil
}

func (w *walls) figures() []figure {
	if len(w.debug.All) == 0 {
		return nil
	}
	out := []figure{{
		Name: "kubectl debug", Value: w.debug.median(), Unit: unitSecond, Sample: &w.debug,
		How: "fresh pod, kubectl debug -i POD -- nslookup HOST",
	}}
	if n := len(w.answered.All); n > 0 && n < len(w.debug.All) {
		out = append(out, figure{
			Name: "kubectl debug, with the answer", Value: w.answered.median(), Unit: unitSecond, Sample: &w.answered,
			How: fmt.Sprintf("those %d of %d that showed it", n, len(w.debug.All)),
		})
	}
	for _, p := range []struct {
		name, how string
		s         *sample
		goal      float64
	}{
		{"first probe", "fresh pod, kubectl dnsprobe POD HOST --bare", &w.firstBare, firstGoal},
		{"second probe", "the same pod again, --bare", &w.secondBare, secondGoal},
		{"first full run", "fresh pod, with what-if, findings and patch", &w.firstFull, firstGoal},
		{"second full run", "the same pod again", &w.secondFull, secondGoal},
	} {
		if len(p.s.All) == 0 {
			continue
		}
		rounds := p.s.ratios(&w.debug)
		out = append(out,
			figure{Name: p.name, Value: p.s.median(), Unit: unitSecond, Sample: p.s, How: p.how},
			figure{
				Name: p.name + " to kubectl debug", Value: p.s.median() / w.debug.median(), Unit: unitTimes, Goal: p.goal, Sample: rounds,
				How: fmt.Sprintf("ratio of medians; median ratio of the rounds %.2f", rounds.median()),
			})
	}
	return out
}
