package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/glibc"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver/musl"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Library is a real library, and what comparing with it takes.
type Library struct {
	Libc    probe.Libc
	Version string
	// Node is the version of the Node whose dns.lookup calls this glibc; empty for a program in C.
	Node string `json:",omitempty"`
	// Dice seeds what our resolver draws by chance in a prediction; 0 leaves it to the network. Only c-ares's looks at it.
	Dice uint64 `json:",omitempty"`
	// Together makes replies of one moment be there together in a prediction. Apart keeps the timeouts of a pair apart: so many
	// messages of a call take a moment to be sent. Only c-ares's resolver looks at them.
	Together bool `json:",omitempty"`
	Apart    int  `json:",omitempty"`
}

// process is our resolver in the place of a process that runs with a library.
type process interface {
	resolver.Resolver
	SetSystem(sys resolver.System)
	Config() resolvconf.Config
}

func (l Library) process(sys resolver.System) process {
	if l.Node != "" {
		return nodeProcess{glibc.New(l.Version, sys)}
	}
	switch l.Libc {
	case probe.Musl:
		return musl.New(l.Version, sys)
	case probe.CAres:
		return newCares(l, sys)
	case probe.Go:
		return newGo(l, sys)
	}
	return glibc.New(l.Version, sys)
}

// generate returns a random case for the library.
func (l Library) generate(seed uint64, n int) Case {
	if l.Node != "" {
		return lookupByNode(Generate(seed, n))
	}
	switch l.Libc {
	case probe.Go:
		return onThreads(countByType(Generate(seed, n)), l)
	case probe.Musl:
		return countByServer(Generate(seed, n))
	case probe.CAres:
		return countByServer(generateCAres(seed, n, l.Version))
	}
	return Generate(seed, n)
}

// request is what our resolver is asked for. Without hints glibc acts as with two flags; others act as with none.
func (l Library) request(c Call) resolver.Request {
	r := c.Request()
	if c.NullHints && l.Libc != probe.Glibc {
		r.AddrConfig, r.V4Mapped = false, false
	}
	return r
}

// callsGlibc reports whether lookups can end in a glibc.
func (l Library) callsGlibc() bool {
	return l.Libc == probe.Glibc || l.Libc == probe.Go && strings.Contains(l.Version, withGlibc)
}

// oneSocket reports whether the library asks all servers from one UDP socket.
func (l Library) oneSocket() bool { return l.Libc == probe.Musl }

// settle brings packets whose order is left to chance into one order.
func (l Library) settle(packets []scenario.Packet) []scenario.Packet {
	switch l.Libc {
	case probe.Musl:
		return settleSYN(packets)
	case probe.Go:
		return scenario.ByType(packets)
	}
	return packets
}

// settleSYN puts each SYN of a connection before its first data, and those of connections without data at the end: musl's
// connections are made while other replies come in, and which is first is a race. Another SYN of the same connection is the
// kernel's, a second after the first, and races with musl's timeout.
func settleSYN(packets []scenario.Packet) []scenario.Packet {
	syns := map[int]scenario.Packet{}
	var order []int
	var out []scenario.Packet
	for _, p := range packets {
		if _, again := syns[p.Socket]; p.Transport == scenario.SYN && !again {
			syns[p.Socket] = p
			order = append(order, p.Socket)
		}
	}
	for _, p := range packets {
		syn, first := syns[p.Socket]
		switch {
		case p.Transport == scenario.SYN:
			continue
		case first && p.Transport == probe.TCP:
			out = append(out, syn)
			delete(syns, p.Socket)
		}
		out = append(out, p)
	}
	for _, socket := range order {
		if syn, left := syns[socket]; left {
			out = append(out, syn)
		}
	}
	sockets, ids := map[int]int{}, map[int]int{}
	for i := range out {
		out[i].Socket = classOf(sockets, out[i].Socket)
		if out[i].Transport != scenario.SYN {
			out[i].ID = classOf(ids, out[i].ID)
		}
	}
	return out
}

// AnyServerFirst is a reason for leaving out a random case.
const AnyServerFirst = "which of several servers a query reaches first is a race, and the servers count together"

// disturbances are the ways in which a case must not depend on chance. reason tells that it does anyway.
func (l Library) disturbances(c *Case) (all []disturbance, reason string) {
	if l.Node != "" && !c.isASCII() {
		return nil, NodeConverts
	}
	all = []disturbance{{slow: 50 * time.Millisecond}, {slow: 50 * time.Millisecond, handshakes: true}, {stretch: 1.3}}
	if l.Libc == probe.Go {
		more, reason := goDisturbances(c, l)
		return append(all, more...), reason
	}
	if l.Libc == probe.CAres && l.Dice == 0 {
		if reason := caresDisturbances(c, l); reason != "" {
			return nil, reason
		}
	}
	if l.Libc == probe.CAres {
		all = append(all, caresStagger(c)...)
	}
	if l.Libc != probe.Musl {
		return append(all, disturbance{lateTimers: 90 * time.Millisecond}), ""
	}
	// musl's rounds are short, and how many fit into a timeout is part of what is compared: a case in which some milliseconds decide
	// that is left out.
	all = append(all, disturbance{lateTimers: 20 * time.Millisecond})
	if len(c.Servers) < 2 {
		if slices.ContainsFunc(c.Rules, func(r Rule) bool { return len(r.Nth) > 0 && r.Type == "" }) {
			// Split by type, the rule would count otherwise; the replies of one server come in order.
			return all, ""
		}
		later := func(_ int, t probe.QueryType) time.Duration { return when(t == probe.TypeAAAA) }
		return append(all, disturbance{stagger: later}), ""
	}
	for _, r := range c.Rules {
		if len(r.Nth) > 0 && r.Server == nil {
			return nil, AnyServerFirst
		}
	}
	// All servers are asked at once: the order of their replies must not matter.
	for k := range c.Servers {
		first := func(s int, _ probe.QueryType) time.Duration { return when(s != k) }
		last := func(s int, _ probe.QueryType) time.Duration { return when(s == k) }
		all = append(all, disturbance{stagger: first}, disturbance{stagger: last})
	}
	for _, stagger := range []func(server int, t probe.QueryType) time.Duration{
		func(_ int, t probe.QueryType) time.Duration { return when(t == probe.TypeA) },
		func(_ int, t probe.QueryType) time.Duration { return when(t == probe.TypeAAAA) },
		func(s int, t probe.QueryType) time.Duration { return when((s%2 == 0) == (t == probe.TypeA)) },
		func(s int, t probe.QueryType) time.Duration { return when((s%2 == 0) != (t == probe.TypeA)) },
	} {
		all = append(all, disturbance{stagger: stagger})
	}
	return all, ""
}

// staggerStep is by how much one reply is later than another where their order is tried.
const staggerStep = 7 * time.Millisecond

func when(later bool) time.Duration {
	if later {
		return staggerStep
	}
	return 0
}

// staggered returns a world whose rules are split by server and type, with what stagger adds to the delay of each.
func staggered(w simnet.World, stagger func(server int, t probe.QueryType) time.Duration) simnet.World {
	rules := append(slices.Clone(w.Rules), simnet.Rule{Do: []simnet.Action{{Kind: simnet.ActNXDomain}}})
	w.Rules = nil
	for _, r := range rules {
		for i, s := range w.Servers {
			for _, t := range []probe.QueryType{probe.TypeA, probe.TypeAAAA} {
				if r.Server.IsValid() && r.Server != s.Addr || r.Type != "" && r.Type != t {
					continue
				}
				delay := w.Delay
				if s.Delay != 0 {
					delay = s.Delay
				}
				for _, a := range r.Do {
					if a.Kind == simnet.ActDelay {
						delay = a.Delay
					}
				}
				split := r
				split.Server, split.Type = s.Addr, t
				split.Do = append(slices.Clone(r.Do), simnet.Action{Kind: simnet.ActDelay, Delay: delay + stagger(i, t)})
				w.Rules = append(w.Rules, split)
			}
		}
	}
	return w
}
