package cases

import (
	"context"
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/pipeline"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Result is what came of a scenario.
type Result struct {
	Run probe.Run
	// Early are the findings of the first screen: those once every host was resolved, before anything else is sent.
	Early []probe.Finding
	// FollowUps counts the messages that reached the modelled network while the rules' questions were asked.
	FollowUps int
}

// Run carries a scenario through in virtual time. The servers remember across resolutions what they were asked. The dice decide
// over losses, ids and source ports; the same ones give the same run, but for the names that the rules draw.
func Run(ctx context.Context, s scenario.Scenario, dice uint64) (Result, error) {
	var (
		fold  probe.Fold
		state = simnet.NewState(dice)
		sent  = counter{}
		seed  = dice << 32
	)
	e := &engine.Engine{
		System:   func(context.Context) (resolver.System, error) { return s.System, nil },
		Resolver: probe.Resolver{Libc: s.Libc, Version: s.LibcVersion, Caller: s.Caller, Runtime: s.Runtime, Source: probe.SourceDetected},
		NewNetwork: func(ctx context.Context) (resolver.Network, error) {
			seed++
			return sent.count(simnet.New(ctx, &s.World, simnet.Options{State: state, Seed: seed})), nil
		},
		Source: probe.Measured,
	}
	in := pipeline.In{
		Prober: &watched{Prober: e.Prober("r", fold.Add), sent: &sent}, Settings: engine.Settings(s.System, e.Resolver, "target"), Resolver: e.Resolver, Target: s.Target, Facts: s.Facts,
		Hosts: s.Hosts, Also: s.Also, Workload: Workload(s), Hostname: s.System.Hostname, Count: s.Count,
		Ask: probe.Ask{Caller: s.Caller},
	}
	var result Result
	judged := 0
	err := pipeline.Run(ctx, in, func(ev probe.Event) {
		if ev.Kind == probe.KindFindings {
			if judged++; judged == len(s.Hosts) {
				result.Early = ev.Findings
			}
		}
		fold.Add(ev)
	})
	result.Run, result.FollowUps = fold.Run(), sent.followUps
	return result, err
}

// Workload returns what a patch of the scenario's target would change: its owner, else the pod; nil for neither.
func Workload(s scenario.Scenario) *patch.Workload {
	var config *patch.DNSConfig
	if s.DNSConfig != nil {
		config = &patch.DNSConfig{Nameservers: s.DNSConfig.Nameservers, Searches: s.DNSConfig.Searches}
		for _, o := range s.DNSConfig.Options {
			config.Options = append(config.Options, patch.Option{Name: o.Name, Value: o.Value})
		}
	}
	policy, _ := fact.Facts(s.Facts).Text(fact.DNSPolicy)
	switch t := s.Target; {
	case t.Owner != nil:
		return &patch.Workload{Owner: *t.Owner, Namespace: t.Namespace, DNSConfig: config, DNSPolicy: policy}
	case t.Pod != "":
		w := patch.Pod(t.Namespace, t.Pod, config)
		w.DNSPolicy = policy
		return &w
	}
	return nil
}

// counter counts the messages of asks that follow up, where they leave for the servers.
type counter struct {
	following bool
	followUps int
}

// watched tells a counter what the messages that follow are for.
type watched struct {
	*engine.Prober
	sent *counter
}

// Resolve carries out one ask.
func (w *watched) Resolve(ctx context.Context, ask probe.Ask) (probe.Resolution, error) {
	w.sent.following = ask.MostMessages > 0
	return w.Prober.Resolve(ctx, ask)
}

// counted is a Network whose messages are counted.
type counted struct {
	*simnet.Network
	sent *counter
}

func (c *counter) count(n *simnet.Network) resolver.Network { return &counted{Network: n, sent: c} }

// Send sends messages.
func (c *counted) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	if c.sent.following {
		c.sent.followUps += len(queries)
	}
	return c.Network.Send(s, to, queries...)
}
