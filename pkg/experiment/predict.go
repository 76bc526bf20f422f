package experiment

import (
	"context"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Predictor runs the resolver of a target on a model of its servers: no packet is sent and no time passes.
type Predictor struct {
	model  Model
	engine engine.Engine
}

// NewPredictor returns a Predictor for a target with these settings and this libc.
func NewPredictor(m Model, settings probe.Settings, libc probe.Resolver) *Predictor {
	p := &Predictor{model: m}
	p.engine = engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return systemOf(settings), nil },
		Resolver: libc,
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			return simnet.New(ctx, &p.model.World, simnet.Options{}), nil
		},
		Source: probe.Predicted,
	}
	return p
}

// Predict carries out ask on the model. The names returned are those that the model was never taught: with any of them the
// resolution is no prediction.
//
// like is how the same host was resolved in the target: a family that was not asked for there (AI_ADDRCONFIG in a pod with
// addresses of one family) is not asked for here either, since the pod's addresses are not known here.
func (p *Predictor) Predict(ctx context.Context, ask probe.Ask, like probe.Resolution) (probe.Resolution, []string, error) {
	ask.AddrConfig, ask.Types, ask.Timeout = false, typesOf(like), 0
	r, err := p.engine.Resolve(ctx, "predicted", ask, func(probe.Event) {})
	if err != nil {
		return probe.Resolution{}, nil, err
	}
	return r, p.model.Unknown(r), nil
}

// typesOf returns the types that r asked for, nil for both.
func typesOf(r probe.Resolution) []probe.QueryType {
	var a, aaaa bool
	for _, attempt := range r.Attempts {
		for _, q := range attempt.Queries {
			a, aaaa = a || q.Type == probe.TypeA, aaaa || q.Type == probe.TypeAAAA
		}
	}
	switch {
	case a && !aaaa:
		return []probe.QueryType{probe.TypeA}
	case aaaa && !a:
		return []probe.QueryType{probe.TypeAAAA}
	}
	return nil
}

// systemOf is what the settings tell of the target.
func systemOf(s probe.Settings) resolver.System {
	sys := resolver.System{ResolvConf: s.Raw, Hosts: s.Hosts, NSSwitch: s.NSSwitch, Env: s.Env}
	if len(s.Search) == 1 {
		// Without a search line the libc takes the domain of the host name (glibc resolv/res_init.c), which shows here only.
		sys.Hostname = "pod." + s.Search[0]
	}
	return sys
}
