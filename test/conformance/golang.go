package conformance

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/golang"
)

// goProcess is our resolver in the place of a program like testdata/lookup.go.
type goProcess struct{ *golang.Resolver }

// Config returns the configuration of a first lookup.
func (p goProcess) Config() resolvconf.Config { return p.Resolver.Config(time.Time{}) }

// Resolve returns addresses as the program prints them. Those of both families are sorted, since where Go's own order has them
// equal they stay in the order in which two goroutines ended; those of one family stay as they are. LookupIP drops zones.
func (p goProcess) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	res, err := p.Resolver.Resolve(ctx, n, req, emit)
	res.Addresses = slices.Clone(res.Addresses)
	if req.Family == resolver.Unspec {
		slices.SortFunc(res.Addresses, netip.Addr.Compare)
		return res, err
	}
	for i, a := range res.Addresses {
		res.Addresses[i] = a.WithZone("")
	}
	return res, err
}

// goTexts are the errors that the program knows, in its order: the number of one is its place from 1.
var goTexts = []string{
	"no such host", "server misbehaving", "lame referral", "i/o timeout", "cannot unmarshal DNS message", "invalid DNS response",
	"no answer from DNS server", "connection refused", "connection reset by peer", "no route to host", "network is unreachable",
	"connection timed out", "EOF", "no suitable address found", "cannot marshal DNS message", "invalid argument",
	"cannot assign requested address", "unexpected EOF", "broken pipe", "address family not supported by protocol",
	"insufficient data for calculated length type", "Temporary failure in name resolution",
	"Address family for hostname not supported", "Non-recoverable failure in name resolution",
}

// GoTurns is a reason for leaving out a case with Go.
const GoTurns = "rotate: which query of a pair draws which server is a race"

// GoFlood is a reason for leaving out a random case with Go.
const GoFlood = "it sends so many queries for one name that the kernel is likely to draw a source port twice"

// maxOfName is how many packets about one name go to one server before that is likely: of a hundred ports, drawn from 28,232, two are the
// same in one of six cases.
const maxOfName = 100

// floods reports whether so many packets about one name go to one server.
func floods(packets []scenario.Packet) bool {
	type asked struct {
		server netip.Addr
		name   string
	}
	counts := map[asked]int{}
	for _, p := range packets {
		counts[asked{p.Server, p.Name}]++
	}
	for _, n := range counts {
		if n > maxOfName {
			return true
		}
	}
	return false
}

// countByType makes servers count the queries of one type only where they count at all: which of a pair they see first is a
// race.
func countByType(c Case) Case {
	for i := range c.Rules {
		if r := &c.Rules[i]; len(r.Nth) > 0 && r.Type == "" {
			r.Type = []probe.QueryType{probe.TypeA, probe.TypeAAAA}[i%2]
		}
	}
	return c
}

// goDisturbances are those of Go: which of two queries is answered first must not matter.
func goDisturbances(c *Case, l Library) (all []disturbance, reason string) {
	sys := resolver.System{ResolvConf: c.ResolvConf, NoResolvConf: c.NoResolvConf, Hostname: c.Hostname}
	if conf := l.process(sys).Config(); conf.Rotate && len(conf.Nameservers) > 1 {
		return nil, GoTurns
	}
	if reason := cgoByChance(c, l); reason != "" {
		return nil, reason
	}
	all = []disturbance{{lateTimers: 90 * time.Millisecond}}
	for _, later := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
		all = append(all, disturbance{stagger: func(_ int, t probe.QueryType) time.Duration { return when(t == later) }})
	}
	return all, ""
}

// goCode is the number that the program prints for an error of ours.
func goCode(text string) (code int, known bool) {
	if text == "" {
		return 0, true
	}
	i := slices.Index(goTexts, text)
	return i + 1, i >= 0
}
