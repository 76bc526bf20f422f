package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/dnsnet"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/target"
)

// localFlags are the flags of local as they were typed.
type localFlags struct {
	settings settingsFlags
	ask      askFlags
	output   outputFlags
}

func newLocalCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f localFlags
	c := &cobra.Command{
		Use:   "local HOST...",
		Short: "See what this machine's own resolver does with a name",
		Long: `See what this machine's own resolver does with a name: its resolv.conf, hosts file, nsswitch.conf and environment, its
libc, and real packets. With --bare exactly those packets are sent that a program on this machine would send.`,
		Example: `  kubectl dnsprobe local api.stripe.com
  kubectl dnsprobe local api.stripe.com --bare -o json
  kubectl dnsprobe local api.stripe.com --resolv-conf resolv.conf --set ndots=1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("usage: kubectl dnsprobe local HOST...", "HOST is missing")
			}
			a, err := f.ask.complete(args)
			if err != nil {
				return err
			}
			o, err := f.output.complete(streams, a.hosts)
			if err != nil {
				return err
			}
			m := machine{place: target.Machine(), settings: f.settings, in: streams.In}
			return present(c.Context(), streams, o, m.source(a))
		},
	}
	fs := c.Flags()
	f.settings.add(fs, "instead of this machine's (- is stdin)")
	f.ask.add(fs)
	f.output.add(fs)
	return c
}

// machine is this machine as a place to resolve in.
type machine struct {
	place    target.Place
	settings settingsFlags
	in       io.Reader
	// network is that of this machine; it is a field so that tests can bring their own port.
	network dnsnet.Options
}

// source runs what a asks on this machine.
func (m machine) source(a asking) source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		truth, err := m.place.Read(ctx)
		if err != nil {
			return fmt.Errorf("read this machine's settings: %w", err)
		}
		sys, err := m.settings.over(truth.System, m.in)
		if err != nil {
			return err
		}
		libc := chosen(a, truth.Resolver)
		settings := truth.Describe(engine.Settings(sys, libc, target.SourceMachine))
		if m.settings.resolvConf != "" {
			settings.Source = "file"
		}
		e := &engine.Engine{
			// The files are read once: a run is about one state of the settings, and stdin cannot be read twice.
			System:   func(context.Context) (resolver.System, error) { return sys, nil },
			Resolver: libc,
			NewNetwork: func(ctx context.Context) (resolver.Network, error) {
				return dnsnet.New(ctx, m.network)
			},
			Source: probe.Measured,
		}
		return walk{
			asking: a, target: probe.Target{Via: "local"}, settings: settings, resolver: libc, hostname: sys.Hostname, prober: e.Prober("r", emit),
		}.run(ctx, emit)
	}
}

// chosen returns the libc to follow: what the flags say, else what was detected, else what stands in for one that cannot be
// followed.
func chosen(a asking, detected probe.Resolver) probe.Resolver {
	detected.Caller = a.caller
	switch {
	case a.libc == "":
		r := engine.Fallback(detected)
		r.Caller = a.caller
		return r
	case a.libc == detected.Libc && a.libcVersion == "":
		detected.Source, detected.Why = probe.SourceFlag, "--libc says so; the version was detected: "+detected.Why
		return detected
	}
	return probe.Resolver{Libc: a.libc, Version: a.libcVersion, Caller: a.caller, Source: probe.SourceFlag, Why: "--libc says so"}
}
