package engine

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Prober carries out asks one after the other, or at the same time, each under an id of its own. It is an experiment.Prober.
type Prober struct {
	engine *Engine
	prefix string
	emit   func(probe.Event)
	count  atomic.Int64
}

// Prober returns a Prober that reports every event to emit. Ids are prefix and a number.
func (e *Engine) Prober(prefix string, emit func(probe.Event)) *Prober {
	return &Prober{engine: e, prefix: prefix, emit: emit}
}

// Resolve carries out one ask.
func (p *Prober) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	return p.engine.Resolve(ctx, p.prefix+strconv.FormatInt(p.count.Add(1), 10), ask, p.emit)
}
