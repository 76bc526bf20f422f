package conformance

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/cares"
)

// caresProcess is our resolver in the place of a program like testdata/cares.c.
type caresProcess struct {
	*cares.Resolver
	// dice seeds what is drawn by chance; 0 leaves it to the network.
	dice     uint64
	together bool
	apart    int
}

func newCares(l Library, sys resolver.System) caresProcess {
	return caresProcess{cares.New(l.Version, sys), l.Dice, l.Together, l.Apart}
}

// Resolve does not return canonical names: what c-ares has of them is a list of aliases, which the program does not print.
func (p caresProcess) Resolve(ctx context.Context, n resolver.Network, req resolver.Request, emit func(probe.Event)) (resolver.Result, error) {
	if p.dice != 0 {
		n = diced{n, rand.New(rand.NewPCG(p.dice, 0))}
	}
	if p.together {
		n = together{n, new(int)}
	}
	if p.apart > 0 {
		n = &apart{Network: n, slow: p.apart}
	}
	req.CanonName = false
	res, err := p.Resolver.Resolve(ctx, n, req, emit)
	res.Canonical = ""
	return res, err
}

// diced is a Network with dice of its own.
type diced struct {
	resolver.Network
	dice *rand.Rand
}

func (d diced) Random16() uint16 { return uint16(d.dice.Uint32()) }

// caresCodes are the numbers of ares.h.
var caresCodes = map[string]int{
	"": 0, "ARES_ENODATA": 1, "ARES_EFORMERR": 2, "ARES_ESERVFAIL": 3, "ARES_ENOTFOUND": 4, "ARES_ENOTIMP": 5, "ARES_EREFUSED": 6,
	"ARES_EBADNAME": 8, "ARES_EBADRESP": 10, "ARES_ECONNREFUSED": 11, "ARES_ETIMEOUT": 12,
}

// CAresDice is the reason for leaving out a case with c-ares.
const CAresDice = "c-ares throws dice: rotate, or how much of a timeout it waits from the second round on"

// CAresFlood is a reason for leaving out a random case with c-ares.
const CAresFlood = "it sends more than 200 packets"

// Further reasons for leaving out a case with c-ares.
const (
	CAresTogether  = "two replies that come closely together are read together or not, and c-ares decides differently"
	CAresUnwritten = "c-ares before 1.20 leaves bytes of a short IPv4 address (10.1) as they were in memory"
	CAresRefused   = "whether a refused TCP connection or the reply to the other query is seen first is a race"
	CAresDead      = "the timeouts of a pair lead it to a server that is not there, and whether the first one is refused before the second one goes out is a race"
	CAresCounted   = "servers count queries together, and which comes first is a race"
	CAresApart     = "whether one query is answered before the other one is tried again is a race"
	CAresTooLong   = "the server here drops names that are too long, the model answers them"
	CAresCounting  = "c-ares counts through so many tries that it takes seconds"
	CAresOnLink    = "a server with a link-local address that nobody has does not answer, the model's refuses"
	CAresNoTime    = "without any timeout it is a race whether a reply is seen"
)

// maxNameRunes is the longest name that fits into a message, with its final dot.
const maxNameRunes = 254

// maxPackets bounds the packets of a random case.
const maxPackets = 200

// diceThrows is how often a case is tried with other dice.
const diceThrows = 4

// caresDisturbances says why a random case with c-ares is left out.
func caresDisturbances(c *Case, l Library) (reason string) {
	l.Dice = 1
	p, err := Predict(c, l, -1, disturbance{})
	switch {
	case err != nil:
		return CAresDice
	case len(p.Packets) > maxPackets:
		return CAresFlood
	case slices.ContainsFunc(p.Packets, func(p scenario.Packet) bool { return len([]rune(p.Name)) > maxNameRunes }):
		return CAresTooLong
	case slices.ContainsFunc(p.Notes, func(note string) bool { return strings.HasPrefix(note, "c-ares counts through ") }):
		return CAresCounting
	}
	conf := newCares(l, resolver.System{ResolvConf: c.ResolvConf, Env: c.Env, Hostname: c.Hostname}).Config()
	switch {
	case caresCounted(c) && len(c.Servers) > 1:
		return CAresCounted
	case slices.ContainsFunc(c.Addresses, func(p netip.Prefix) bool { return p.Addr().IsLinkLocalUnicast() }) &&
		slices.ContainsFunc(conf.Nameservers, netip.Addr.IsLinkLocalUnicast):
		return CAresOnLink
	}
	if byChance, err := caresByChance(c, l); byChance || err != nil {
		return CAresDice
	}
	if v, ok := resolvconf.ParseVersion(l.Version); ok && !v.AtLeast(1, 20) {
		switch {
		case shortIPv4.MatchString(c.ResolvConf + c.Hosts):
			return CAresUnwritten
		case conf.TimeoutMillis == 0:
			return CAresNoTime
		case slices.ContainsFunc(p.Packets, func(p scenario.Packet) bool { return p.Transport == scenario.SYN && c.refusesTCP(p.Server) }):
			return CAresRefused
		case c.pairMeetsDead(p.Packets):
			return CAresDead
		case conf.Rotate && len(conf.Nameservers) > 1:
			// The two of a pair go to different servers.
			return CAresApart
		}
	}
	together := l
	together.Together = true
	if differs, err := caresDiffers(c, l, together); differs || err != nil {
		return CAresTogether
	}
	for _, slow := range []int{1, maxPackets} {
		apart := l
		apart.Apart = slow
		if differs, err := caresDiffers(c, l, apart); differs || err != nil {
			return CAresApart
		}
	}
	return ""
}

// caresCounted reports whether servers count queries of both types, or those to several servers, together.
func caresCounted(c *Case) bool {
	return slices.ContainsFunc(c.Rules, func(r Rule) bool { return len(r.Nth) > 0 && (r.Type == "" || r.Server == nil) })
}

// caresStagger delays replies to AAAA: which of two queries is answered first must not matter, as far as that can be tried.
func caresStagger(c *Case) []disturbance {
	if caresCounted(c) {
		return nil
	}
	last := len(c.Servers) - 1
	return []disturbance{
		{stagger: func(_ int, t probe.QueryType) time.Duration { return when(t == probe.TypeAAAA) }},
		{stagger: func(s int, _ probe.QueryType) time.Duration { return time.Duration(s) * staggerStep }},
		{stagger: func(s int, _ probe.QueryType) time.Duration { return time.Duration(last-s) * staggerStep }},
	}
}

// pairMeetsDead reports whether both queries of a pair time out at once and go on to a server that is not there.
func (c *Case) pairMeetsDead(packets []scenario.Packet) bool {
	for i, p := range packets {
		if p.Transport != probe.UDP || i == 0 || p.At == packets[0].At || c.isServed(p.Server) {
			continue
		}
		for _, other := range packets {
			if other.Name == p.Name && other.Type != p.Type && (other.At-p.At).Abs() < staggerStep {
				return true
			}
		}
	}
	return false
}

// isServed reports whether a server is there.
func (c *Case) isServed(addr netip.Addr) bool {
	return slices.ContainsFunc(c.Servers, func(s Server) bool { return s.Addr.Unmap() == addr.Unmap() })
}

// refusesTCP reports whether a server is there, but not over TCP.
func (c *Case) refusesTCP(addr netip.Addr) bool {
	return slices.ContainsFunc(c.Servers, func(s Server) bool { return s.NoTCP && s.Addr.Unmap() == addr.Unmap() })
}

// shortIPv4 finds addresses with fewer than four parts.
var shortIPv4 = regexp.MustCompile(`(?m)^\s*(nameserver\s+)?(\d+(\.\d+){0,2}|0[xX][0-9a-fA-F]+)(\s|$)`)

// caresDiffers reports whether two libraries do different things.
func caresDiffers(c *Case, l, m Library) (bool, error) {
	one, err := Predict(c, l, -1, disturbance{})
	if err != nil {
		return false, err
	}
	other, err := Predict(c, m, -1, disturbance{})
	return !slices.Equal(one.Codes, other.Codes) || !slices.Equal(one.Addresses, other.Addresses) || !sameSequence(one.Packets, other.Packets), err
}

// apart is a Network in which the first messages take a moment to be sent, so that the timeouts of a pair are not reached
// together.
type apart struct {
	resolver.Network
	slow  int
	spent time.Duration
}

// sendTime is more than the resolution of an event loop.
const sendTime = 3 * time.Millisecond

func (n *apart) Now() time.Time { return n.Network.Now().Add(n.spent) }

func (n *apart) Send(s resolver.Socket, to netip.AddrPort, queries ...resolver.Query) error {
	if n.slow > 0 {
		n.slow--
		n.spent += sendTime
	}
	return n.Network.Send(s, to, queries...)
}

func (n *apart) Poll(deadline time.Time) (resolver.Event, error) {
	ev, err := n.Network.Poll(deadline.Add(-n.spent))
	ev.At = ev.At.Add(n.spent)
	return ev, err
}

// together is a Network whose replies come a little after each other, and are there together.
type together struct {
	resolver.Network
	replies *int
}

func (n together) Poll(deadline time.Time) (resolver.Event, error) {
	ev, err := n.Network.Poll(deadline)
	*n.replies++
	ev.At = ev.At.Add(time.Duration(*n.replies))
	return ev, err
}

// caresByChance reports whether anything in a case depends on dice, times included.
func caresByChance(c *Case, l Library) (bool, error) {
	var first Prediction
	for seed := range uint64(diceThrows) {
		l.Dice = seed + 1
		p, err := Predict(c, l, -1, disturbance{})
		if err != nil {
			return false, err
		}
		if seed == 0 {
			first = p
			continue
		}
		if !slices.EqualFunc(p.Packets, first.Packets, func(a, b scenario.Packet) bool { return a.At == b.At }) || p.Took != first.Took ||
			!sameSequence(p.Packets, first.Packets) {
			return true, nil
		}
	}
	return false, nil
}

// generateCAres is Generate with words of c-ares's own dialect, and with timeouts that old versions know.
func generateCAres(seed uint64, n int, version string) Case {
	c := Generate(seed, n)
	d := dice{rand.New(rand.NewPCG(seed^0xca4e5, uint64(n)))}
	words := []string{}
	if v, ok := resolvconf.ParseVersion(version); ok && !v.AtLeast(1, 20) {
		// They take milliseconds, and only by these names.
		words = append(words, "timeout:1", "retrans:700", "timeout:2", "retrans:1100", "timeout:", "retrans:", "attempts:", "retry:")
	} else if d.chance(20) {
		words = append(words, "timeout:", "retrans:", "attempts:", "retry:", "nameserver 127.0.0.2\n", "nameserver [127.0.0.2]:53\n",
			"nameserver 127.0.0.3\n", "nameserver 127.0.0.3:53,127.0.0.2\n", "search ", "search a.test,A.test,", "options ", "options usevc ")
	}
	replace := strings.NewReplacer(words...)
	c.ResolvConf = replace.Replace(c.ResolvConf)
	if options, set := c.Env["RES_OPTIONS"]; set {
		c.Env["RES_OPTIONS"] = replace.Replace(options)
	}
	return c
}
