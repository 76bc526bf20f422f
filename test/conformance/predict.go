package conformance

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// Prediction is what our resolver does with a case in virtual time.
type Prediction struct {
	Packets []scenario.Packet
	// Codes are those of the calls that returned.
	Codes []string
	// Notes are our resolver's.
	Notes []string
	// Addresses are those of all calls.
	Addresses []netip.Addr
	Took      time.Duration
	// Hangs: a call never returned.
	Hangs bool
}

// disturbance makes the modelled machine a little worse, to find out what hangs on a few milliseconds.
type disturbance struct {
	// lateTimers is how late a deadline is seen; slow is added to every reply's delay; stretch multiplies delays under a second.
	lateTimers, slow time.Duration
	stretch          float64
	// handshakes makes them take half of a delay, as on a way.
	handshakes bool
	// stagger adds to the delay of a reply by its server's place in the settings and its type; nil for none.
	stagger func(server int, t probe.QueryType) time.Duration
}

// Predict runs our resolver on the model. rotateStart is as in Order.
func Predict(c *Case, l Library, rotateStart int, dist disturbance) (Prediction, error) {
	w, err := c.World()
	if err != nil {
		return Prediction{}, err
	}
	w.ServersOnly = !dist.handshakes
	w = dist.apply(w)
	sys := resolver.System{
		ResolvConf: c.ResolvConf, NoResolvConf: c.NoResolvConf, Hosts: c.Hosts, NSSwitch: c.NSSwitch, GaiConf: c.GaiConf,
		Env: c.Env, HostConf: c.HostConf, HostAliases: c.HostAliases, Hostname: c.Hostname, Links: []string{"lo"}, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})},
	}
	if !c.NoIPv6 {
		sys.Addresses = append(sys.Addresses, netip.IPv6Loopback())
	}
	for _, p := range c.Addresses {
		sys.Addresses = append(sys.Addresses, p.Addr())
	}
	r := l.process(sys)
	model := simnet.New(context.Background(), &w, simnet.Options{})
	counted := &countedNetwork{Network: model, late: dist.lateTimers, start: max(0, rotateStart), servers: max(1, len(r.Config().Nameservers))}
	rec := scenario.Record(counted)
	start := model.Now()
	var out Prediction
	for i, call := range c.Calls {
		if i > 0 {
			if err := model.Sleep(millis(c.PauseMillis)); err != nil {
				return out, err
			}
		}
		sys.ResolvConf = c.resolvConfAt(model.Now().Sub(start))
		r.SetSystem(sys)
		res, err := r.Resolve(context.Background(), rec, l.request(call), func(ev probe.Event) {
			if ev.Kind == probe.KindNote {
				out.Notes = append(out.Notes, ev.Note)
			}
		})
		if err != nil && !errors.Is(err, resolver.ErrNothingComes) {
			return out, err
		}
		if counted.nothing || errors.Is(err, resolver.ErrNothingComes) {
			out.Hangs = true
			break
		}
		out.Codes = append(out.Codes, res.Code)
		out.Addresses = append(out.Addresses, res.Addresses...)
	}
	out.Packets, out.Took = l.settle(rec.Packets()), model.Now().Sub(start)
	return out, nil
}

func (c *Case) resolvConfAt(t time.Duration) string {
	text := c.ResolvConf
	for _, change := range c.Script {
		if t >= millis(change.AtMillis) {
			text = change.ResolvConf
		}
	}
	return text
}

func (dist disturbance) apply(w simnet.World) simnet.World {
	change := func(d time.Duration) time.Duration {
		if d < time.Second && dist.stretch != 0 {
			d = time.Duration(math.Round(float64(d) * dist.stretch))
		}
		return d + dist.slow
	}
	w.Delay = change(w.Delay)
	for i := range w.Servers {
		if w.Servers[i].Delay != 0 {
			w.Servers[i].Delay = change(w.Servers[i].Delay)
		}
	}
	for i := range w.Rules {
		w.Rules[i].Do = slices.Clone(w.Rules[i].Do)
		for j := range w.Rules[i].Do {
			if a := &w.Rules[i].Do[j]; a.Kind == simnet.ActDelay {
				a.Delay = change(a.Delay)
			}
		}
	}
	if dist.stagger == nil {
		return w
	}
	return staggered(w, dist.stagger)
}

// countedNetwork gives out ids that never repeat, loads the dice of rotate, and sees deadlines late.
type countedNetwork struct {
	*simnet.Network
	late           time.Duration
	count          int
	start, servers int
	nothing        bool
}

func (n *countedNetwork) Random16() uint16 {
	n.count++
	return uint16(n.count*n.servers + n.start)
}

func (n *countedNetwork) Poll(deadline time.Time) (resolver.Event, error) {
	if !deadline.IsZero() {
		deadline = deadline.Add(n.late)
	}
	ev, err := n.Network.Poll(deadline)
	if errors.Is(err, resolver.ErrNothingComes) {
		n.nothing = true
	}
	return ev, err
}

// Bounds of random cases.
const (
	// maxTook bounds how long a random case may take on each side.
	maxTook = 5 * time.Second
	// randomSlack is what a random process may take beyond what is predicted before it is taken as hanging.
	randomSlack = 6 * time.Second
	// randomHang is when a random process that should hang is taken as hanging: between two retransmissions of a SYN.
	randomHang = 2500 * time.Millisecond
)

// Reasons for leaving out a random case.
const (
	TooSlow      = "it takes longer than 5 s"
	LoopsForEver = "a carriage return on a sortlist line makes glibc loop for ever (resolv/res_init.c), which no probe should"
	EmptyList    = "a hosts line without a service makes glibc read beyond its list: it may crash or not"
	Racy         = "what happens depends on some tens of milliseconds, such as a reply at the instant of a timeout"
)

// pollResolution is the unit of the timeouts of poll(2).
const pollResolution = time.Millisecond

// Usable says whether a random case decides anything, and sets its limit. reason is why not, empty when it is.
func Usable(c *Case, l Library) (reason string, err error) {
	if l.callsGlibc() {
		if reason := harmful(c); reason != "" {
			return reason, nil
		}
	}
	base, err := Predict(c, l, -1, disturbance{})
	if err != nil {
		return "", err
	}
	if base.Took > maxTook && !base.hangs() || base.hangs() && base.hangsFrom() > maxTook {
		return TooSlow, nil
	}
	if reason := l.unpredictable(base); reason != "" {
		return reason, nil
	}
	disturbances, reason := l.disturbances(c)
	if reason != "" {
		return reason, nil
	}
	if l.Libc == probe.Musl {
		if punctual, err := Predict(c, l, -1, disturbance{lateTimers: -pollResolution}); err != nil || !sameSequence(base.Packets, punctual.Packets) {
			return LastRound, err
		}
	}
	for _, dist := range disturbances {
		other, err := Predict(c, l, -1, dist)
		if err != nil {
			return "", err
		}
		if other.Hangs != base.Hangs || !slices.Equal(other.Codes, base.Codes) || !slices.Equal(other.Addresses, base.Addresses) || !sameSequence(base.Packets, other.Packets) {
			return Racy, nil
		}
	}
	c.LimitMillis = int((base.Took + randomSlack) / time.Millisecond)
	if base.hangs() {
		c.LimitMillis = int((base.hangsFrom() + randomHang) / time.Millisecond)
	}
	return "", nil
}

// harmful says why no glibc should see a case.
func harmful(c *Case) string {
	for line := range strings.Lines(c.ResolvConf) {
		if strings.HasPrefix(line, "sortlist") && strings.Contains(line, "\r") {
			return LoopsForEver
		}
	}
	if c.NSSwitch != nil && slices.ContainsFunc(strings.Split(*c.NSSwitch, "\n"), emptyHosts) {
		return EmptyList
	}
	return ""
}

func emptyHosts(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "hosts:")
	return ok && strings.TrimSpace(rest) == ""
}

// hangs reports whether a call never returns, or only when the kernel gives up a TCP handshake after minutes.
func (p Prediction) hangs() bool { return p.Hangs || p.Took >= simnet.ConnectTimeout }

// hangsFrom is when the last packet before the hang went out.
func (p Prediction) hangsFrom() time.Duration {
	var last time.Duration
	for _, packet := range p.Packets {
		if packet.At < simnet.ConnectTimeout {
			last = packet.At
		}
	}
	return last
}

// sameSequence compares packets without their times.
func sameSequence(a, b []scenario.Packet) bool {
	return len(scenario.CompareAll(untimed(a), untimed(b))) == 0
}

func untimed(packets []scenario.Packet) []scenario.Packet {
	out := slices.Clone(packets)
	for i := range out {
		out[i].At = 0
	}
	return out
}
