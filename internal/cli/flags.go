package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// askFlags say what is asked; every command that resolves has them. complete turns them into an asking.
type askFlags struct {
	libc  string
	types []string
	// addrConfig is AI_ADDRCONFIG.
	addrConfig bool
	set        []string
	also       []string
	timeout    time.Duration
	bare       bool
	// count is 0 where no command line was read, which means once.
	count    int
	interval time.Duration
	parsed   bool
}

// maxCount bounds --count: each lookup can cost ten messages.
const maxCount = 1000

func (f *askFlags) add(fs *pflag.FlagSet) {
	f.parsed = true
	fs.StringVar(&f.libc, "libc", libcAuto, libcUsage())
	fs.StringSliceVar(&f.types, "type", []string{"A", "AAAA"}, "types to ask for")
	fs.BoolVar(&f.addrConfig, "addrconfig", false, "call with AI_ADDRCONFIG, as getent, browsers and Node's http do: only families the pod has an address of")
	fs.StringArrayVar(&f.set, "set", nil, "also try with a resolv.conf option changed: ndots=2, use-vc, or several: ndots=2,use-vc (repeatable)")
	fs.StringSliceVar(&f.also, "also", nil, "names that must keep working with a changed setting (repeatable)")
	fs.DurationVar(&f.timeout, "timeout", 0, "give up on a resolution after this long (0: when the libc does)")
	fs.IntVar(&f.count, "count", 1, fmt.Sprintf("how often to resolve each host, 1 to %d: losses now and then show only in many lookups", maxCount))
	fs.DurationVar(&f.interval, "interval", 0, "time from the beginning of one round of --count to that of the next (0: one after the other)")
	fs.BoolVar(&f.bare, "bare", false, "send only the packets of the resolution itself: no what-if, no check of a patch")
}

// asking is what a command line asks for.
type asking struct {
	// hosts are those given as arguments, also those of --also.
	hosts, also []string
	// libc and libcVersion are empty when they are to be detected.
	libc        probe.Libc
	libcVersion string
	// caller is who calls it, empty for a plain getaddrinfo.
	caller string
	// all asks for the other libcs beside the detected one.
	all   bool
	types []probe.QueryType
	// variants are those of --set, in order.
	variants []probe.Variant
	timeout  time.Duration
	bare     bool
	// count is how often each host is resolved, 0 for once; rounds begin interval apart.
	count    int
	interval time.Duration
	// addrConfig is false by default: Python, Java, .NET, curl and a plain getaddrinfo call without it.
	addrConfig bool
}

// ask returns the question for one host with the settings as they are.
func (a asking) ask(host string) probe.Ask {
	return probe.Ask{
		Host: host, Libc: a.libc, LibcVersion: a.libcVersion, Caller: a.caller, Types: a.types, AddrConfig: a.addrConfig, Timeout: probe.Millis(a.timeout),
	}
}

// followed returns ev with the resolver that the command line names in the place of the detected one.
func (a asking) followed(ev probe.Event) probe.Event {
	if ev.Kind != probe.KindResolver || ev.Resolver == nil || a.libc == "" && a.caller == "" {
		return ev
	}
	if a.libc == "" {
		called := *ev.Resolver
		called.Caller = a.caller
		ev.Resolver = &called
		return ev
	}
	r := probe.Resolver{Libc: a.libc, Version: a.libcVersion, Caller: a.caller, Source: probe.SourceFlag, Why: "named by --libc"}
	if r.Version == "" && ev.Resolver.Libc == a.libc {
		r.Version, r.Build = ev.Resolver.Version, ev.Resolver.Build
	}
	ev.Resolver = &r
	return ev
}

// complete returns what the flags and the hosts ask for, or a usage error.
func (f *askFlags) complete(hosts []string) (asking, error) {
	a := asking{hosts: unique(hosts), also: unique(f.also), timeout: f.timeout, bare: f.bare, addrConfig: f.addrConfig}
	for _, h := range slices.Concat(a.hosts, a.also) {
		if err := checkHost(h); err != nil {
			return a, err
		}
	}
	if f.timeout < 0 {
		return a, usageError("", "--timeout %s is negative", f.timeout)
	}
	switch {
	case f.count < 1 && f.parsed || f.count > maxCount:
		return a, usageError("", "--count %d is not a number from 1 to %d", f.count, maxCount)
	case f.interval < 0:
		return a, usageError("", "--interval %s is negative", f.interval)
	case f.interval > 0 && f.count == 1:
		return a, usageError("add --count, such as --count 200", "--interval %s: there is nothing to repeat", f.interval)
	case f.count > 1:
		a.count, a.interval = f.count, f.interval
	}
	choice, version, err := parseLibc(f.libc)
	if err != nil {
		return a, err
	}
	a.libc, a.libcVersion, a.caller, a.all = choice.libc, version, choice.caller, choice.word == libcAll
	if a.types, err = parseTypes(f.types); err != nil {
		return a, err
	}
	for _, s := range f.set {
		v, err := parseVariant(s)
		if err != nil {
			return a, err
		}
		a.variants = append(a.variants, v)
	}
	return a, nil
}

// parseTypes returns nil for both types, as an AF_UNSPEC call has it.
func parseTypes(words []string) ([]probe.QueryType, error) {
	var types []probe.QueryType
	for _, w := range words {
		switch t := probe.QueryType(strings.ToUpper(strings.TrimSpace(w))); t {
		case probe.TypeA, probe.TypeAAAA:
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		default:
			return nil, usageError("use --type A, --type AAAA, or --type A,AAAA", "--type %q: getaddrinfo asks for A and AAAA only", w)
		}
	}
	if len(types) == 0 {
		return nil, usageError("use --type A, --type AAAA, or --type A,AAAA", "--type is empty")
	}
	if len(types) == 2 {
		return nil, nil
	}
	return types, nil
}

// numberOptions are the resolv.conf options that take a number, and its bounds (resolv.conf(5)).
var numberOptions = map[string]int{"ndots": 15, "timeout": 30, "attempts": 5}

// wordOptions are the resolv.conf options without one (resolv.conf(5)).
var wordOptions = []string{
	"debug", "edns0", "inet6", "no-aaaa", "no-check-names", "no-reload", "no-tld-query", "rotate", "single-request",
	"single-request-reopen", "strict-error", "trust-ad", "use-vc",
}

// parseVariant reads the value of --set: words with commas between, each "name=number" or a word, with a leading "-" to take
// an option away.
func parseVariant(s string) (probe.Variant, error) {
	var v probe.Variant
	for word := range strings.SplitSeq(s, ",") {
		word = strings.Replace(strings.TrimSpace(word), "=", ":", 1)
		name, value, hasValue := strings.Cut(word, ":")
		most, takesNumber := numberOptions[name]
		switch {
		case takesNumber && hasValue:
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n > most {
				return v, usageError("", "--set %s: %s takes a number from 0 to %d, not %q", s, name, most, value)
			}
			word = fmt.Sprintf("%s:%d", name, n)
		case takesNumber:
			return v, usageError(fmt.Sprintf("use --set %s=NUMBER", name), "--set %s: %s needs a number", s, name)
		case hasValue || !slices.Contains(wordOptions, strings.TrimPrefix(name, "-")):
			return v, usageError("options with a number: ndots, timeout, attempts; without: "+strings.Join(wordOptions, ", "),
				"--set %s: %q is not a resolv.conf option", s, word)
		}
		v.Options = append(v.Options, word)
	}
	v.Name = strings.Join(v.Options, " ")
	return v, nil
}

// unique returns s without repetitions, in order.
func unique(s []string) []string {
	var out []string
	for _, e := range s {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}
