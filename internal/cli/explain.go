package cli

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// maxSettingsFile bounds a file with resolver settings in bytes.
const maxSettingsFile = 1 << 18

// settingsFlags name files in the place of this machine's.
type settingsFlags struct {
	resolvConf, hosts, nsswitch string
}

func (f *settingsFlags) add(fs *pflag.FlagSet, instead string) {
	fs.StringVar(&f.resolvConf, "resolv-conf", "", "read this resolv.conf "+instead)
	fs.StringVar(&f.hosts, "hosts-file", "", "read this hosts file "+instead)
	fs.StringVar(&f.nsswitch, "nsswitch", "", "read this nsswitch.conf "+instead)
}

// over puts the files that the flags name in the place of what sys has.
func (f *settingsFlags) over(sys resolver.System, in io.Reader) (resolver.System, error) {
	for _, file := range []struct {
		name string
		set  func(text string)
	}{
		{f.resolvConf, func(text string) { sys.ResolvConf, sys.NoResolvConf = text, false }},
		{f.hosts, func(text string) { sys.Hosts = text }},
		{f.nsswitch, func(text string) { sys.NSSwitch = &text }},
	} {
		if file.name == "" {
			continue
		}
		text, err := readBounded(file.name, in, maxSettingsFile)
		if err != nil {
			return sys, err
		}
		file.set(string(text))
	}
	return sys, nil
}

// readBounded reads a file, or in when the name is "-", and refuses what is larger than most bytes.
func readBounded(name string, in io.Reader, most int64) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("read %s: it has more than %d bytes", name, most)
	}
	return data, nil
}

// explainFlags are the flags of explain as they were typed.
type explainFlags struct {
	settings settingsFlags
	scenario string
	exists   []string
	ask      askFlags
	output   outputFlags
}

func newExplainCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain HOST... --resolv-conf FILE",
		Short: "Show the walk that a resolv.conf means for a name, without sending a packet",
		Long: `Show the walk that a resolv.conf means for a name, without sending a packet: the libc's resolver runs on modelled servers.

Without --exists and --scenario, only the host itself exists (a host that ends in .svc: as the Service in the cluster's zone), and
every nameserver answers in 1 ms. All that is shown is predicted.`,
		Example: `  kubectl dnsprobe explain api.stripe.com --resolv-conf resolv.conf
  kubectl dnsprobe explain ledger.core --resolv-conf resolv.conf --exists ledger.core.svc.cluster.local=198.19.40.9 --set ndots=1
  kubectl dnsprobe explain payments.billing.svc --resolv-conf resolv.conf --set ndots=2 --libc all
  kubectl exec payments-7d4 -- cat /etc/resolv.conf | kubectl dnsprobe explain api.stripe.com --resolv-conf -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			sc, a, o, err := f.complete(streams, args)
			if err != nil {
				return err
			}
			return present(c.Context(), streams, o, aboutSettings(modelled(sc, a, 0, probe.Predicted, "file")))
		},
	}
	fs := c.Flags()
	f.settings.add(fs, "(- is stdin)")
	fs.StringVar(&f.scenario, "scenario", "", "take servers, and settings that no flag gives, from this scenario file or built-in scenario")
	fs.StringArrayVar(&f.exists, "exists", nil, "a name that exists, with its addresses: NAME=ADDRESS,... (repeatable)")
	f.ask.add(fs)
	f.output.add(fs)
	return c
}

// aboutSettings takes the findings out of src that would speak well of the modelled servers: only the settings are real.
func aboutSettings(src source) source {
	return func(ctx context.Context, emit func(probe.Event)) error {
		return src(ctx, func(ev probe.Event) {
			if ev.Kind == probe.KindFindings {
				ev.Findings = slices.DeleteFunc(slices.Clone(ev.Findings), func(f probe.Finding) bool { return f.Class == "healthy" })
			}
			emit(ev)
		})
	}
}

// complete returns the scenario to run, what is asked, and how it is shown.
func (f *explainFlags) complete(streams genericiooptions.IOStreams, args []string) (scenario.Scenario, asking, output, error) {
	var sc scenario.Scenario
	var o output
	if len(args) == 0 {
		return sc, asking{}, o, usageError("usage: kubectl dnsprobe explain HOST... --resolv-conf FILE", "HOST is missing")
	}
	a, err := f.ask.complete(args)
	if err != nil {
		return sc, a, o, err
	}
	if f.settings.resolvConf == "" && f.scenario == "" {
		return sc, a, o, usageError("give --resolv-conf FILE (- is stdin), or --scenario", "there is no resolv.conf to explain")
	}
	if o, err = f.output.complete(streams, a.hosts); err != nil {
		return sc, a, o, err
	}
	if f.scenario != "" {
		if sc, err = findScenario(f.scenario, streams.In); err != nil {
			return sc, a, o, err
		}
	}
	sc.Target = probe.Target{Via: "model"}
	sc.Hosts, sc.Also = a.hosts, a.also
	if sc.System, err = f.settings.over(sc.System, streams.In); err != nil {
		return sc, a, o, err
	}
	rules, err := parseExists(f.exists)
	if err != nil {
		return sc, a, o, err
	}
	if f.scenario == "" {
		sc.World = plainWorld(sc.System)
		if len(rules) == 0 {
			for _, h := range a.hosts {
				rules = append(rules, existing(whereItExists(h, sc.System), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")))
			}
		}
	}
	sc.World.Rules = append(rules, sc.World.Rules...)
	if err := sc.World.Check(); err != nil {
		return sc, a, o, usageError("", "%w", err)
	}
	return sc, a, o, nil
}

// whereItExists returns the name under which a host exists of which nothing is said: as it is, but below the cluster's zone when it
// is the short form of a Service's name (NAME.NAMESPACE.svc), since no such name exists elsewhere.
func whereItExists(host string, sys resolver.System) string {
	zone := probe.ClusterZone(engine.Settings(sys, probe.Resolver{Libc: probe.Glibc}, "file").Search)
	if zone != "" && strings.HasSuffix(strings.ToLower(host), ".svc") {
		return host + "." + zone
	}
	return host
}

// plainWorld has every nameserver of the settings alive, as any libc reads them, and no name.
func plainWorld(sys resolver.System) simnet.World {
	w := simnet.World{Delay: time.Millisecond, Truncate: true}
	for _, libc := range engine.Libcs() {
		for _, s := range engine.Settings(sys, probe.Resolver{Libc: libc}, "file").Nameservers {
			addr, err := netip.ParseAddr(s)
			known := slices.ContainsFunc(w.Servers, func(s simnet.Server) bool { return s.Addr == addr })
			if err == nil && !known && len(w.Servers) < simnet.MaxServers {
				w.Servers = append(w.Servers, simnet.Server{Addr: addr})
			}
		}
	}
	return w
}

// existing is a rule for a name with addresses.
func existing(name string, addrs ...netip.Addr) simnet.Rule {
	r := simnet.Rule{Name: name}
	for _, a := range addrs {
		kind := simnet.ActAAAA
		if a.Is4() {
			kind = simnet.ActA
		}
		r.Do = append(r.Do, simnet.Action{Kind: kind, Addr: a})
	}
	return r
}

// parseExists reads the values of --exists.
func parseExists(words []string) ([]simnet.Rule, error) {
	var rules []simnet.Rule
	for _, w := range words {
		name, list, found := strings.Cut(w, "=")
		if !found || name == "" || list == "" {
			return nil, usageError("use --exists NAME=ADDRESS, such as --exists ledger.shop.svc.cluster.local=198.19.40.7", "--exists %q has no address", w)
		}
		var addrs []netip.Addr
		for text := range strings.SplitSeq(list, ",") {
			addr, err := netip.ParseAddr(strings.TrimSpace(text))
			if err != nil || addr.Zone() != "" {
				return nil, usageError("use --exists NAME=ADDRESS", "--exists %s: %q is not an address", name, text)
			}
			addrs = append(addrs, addr.Unmap())
		}
		rules = append(rules, existing(name, addrs...))
	}
	return rules, nil
}

// findScenario returns a built-in scenario, or reads one from a file ("-" is in).
func findScenario(name string, in io.Reader) (scenario.Scenario, error) {
	for _, known := range scenario.BuiltinNames() {
		if name == known {
			return scenario.Builtin(name)
		}
	}
	data, err := readBounded(name, in, scenario.MaxFile)
	if err != nil {
		return scenario.Scenario{}, usageError("built-in scenarios: "+strings.Join(scenario.BuiltinNames(), ", ")+"; docs/scenarios.md tells how to write one",
			"no scenario %q: %w", name, err)
	}
	sc, err := scenario.Read(data)
	if err != nil {
		return sc, fmt.Errorf("%s: %w", name, err)
	}
	return sc, nil
}
