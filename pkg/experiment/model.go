package experiment

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/simnet"
)

// dnsPort is the only port that resolvers ask.
const dnsPort = 53

// Model is what a run taught about the servers: what each of them answers to which question, and after what time.
type Model struct {
	// World answers the questions that were seen as they were answered. What it does with others means nothing: see Unknown.
	World simnet.World
	known map[question]bool
}

// question is what a server is asked. Names are lower case without their final dot.
type question struct {
	name      string
	kind      probe.QueryType
	server    netip.Addr
	transport probe.Transport
}

// seen is what came of a question, each time that it was asked.
type seen struct {
	replies []reply
	silent  int
}

// reply is a reply with all that a model can repeat.
type reply struct {
	rcode   string
	answers []probe.Answer
	// partial is set when the answers of this reply are not in the trace.
	partial bool
	flags   []string
	soa     *uint32
	delay   time.Duration
}

// Learn makes a model out of all resolutions of run.
//
// A question that was lost and answered at another time counts as answered: a loss is an accident of its moment and would
// make a prediction one too. A question whose replies disagree is not known: whatever came next would be a guess.
func Learn(run probe.Run) Model {
	l := lesson{seen: map[question]*seen{}, servers: map[netip.Addr]*conduct{}}
	for i := range run.Resolutions {
		for j := range run.Resolutions[i].Attempts {
			a := &run.Resolutions[i].Attempts[j]
			for k := range a.Queries {
				l.query(a.Name, &a.Queries[k])
			}
		}
	}
	return l.model()
}

// Unknown returns the names that r asked a server about which the model was never taught: what it says about them is no
// prediction. Each name is given once, in the order asked.
func (m Model) Unknown(r probe.Resolution) []string {
	var names []string
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				asked, ok := questionOf(a.Name, q.Type, t)
				if (!ok || !m.known[asked]) && !slices.Contains(names, a.Name) {
					names = append(names, a.Name)
				}
			}
		}
	}
	return names
}

// lesson gathers what a run teaches.
type lesson struct {
	order   []question
	seen    map[question]*seen
	hosts   []netip.Addr
	servers map[netip.Addr]*conduct
}

// conduct is how a server behaves, whatever it is asked.
type conduct struct{ replied, refused, silent, silentTCP, repliedTCP, refusedTCP int }

func (l *lesson) query(name string, q *probe.Query) {
	last := -1
	for i, t := range q.Transmissions {
		if t.Received != nil {
			last = i
		}
	}
	for i, t := range q.Transmissions {
		asked, ok := questionOf(name, q.Type, t)
		if !ok {
			continue
		}
		if l.seen[asked] == nil {
			l.seen[asked] = &seen{}
			l.order = append(l.order, asked)
		}
		l.conduct(asked, t)
		switch {
		case t.Received != nil:
			r := reply{rcode: t.Reply, flags: t.Flags, soa: t.SOAMinimum, delay: (*t.Received - t.Sent).Duration()}
			// A query keeps the answers of its last reply only.
			if r.answers = q.Answers; i != last {
				r.answers, r.partial = nil, t.Reply == "NOERROR"
			}
			l.seen[asked].replies = append(l.seen[asked].replies, r)
		case t.Reply == probe.ReplyLost:
			l.seen[asked].silent++
		}
	}
}

func (l *lesson) conduct(asked question, t probe.Transmission) {
	c := l.servers[asked.server]
	if c == nil {
		c = &conduct{}
		l.servers[asked.server] = c
		l.hosts = append(l.hosts, asked.server)
	}
	tcp := asked.transport == probe.TCP
	switch {
	case t.Received != nil && tcp:
		c.repliedTCP++
	case t.Received != nil:
		c.replied++
	case t.Reply == probe.ReplyICMPRefused && tcp:
		c.refusedTCP++
	case t.Reply == probe.ReplyICMPRefused:
		c.refused++
	case t.Reply == probe.ReplyLost && tcp:
		c.silentTCP++
	case t.Reply == probe.ReplyLost:
		c.silent++
	}
}

func (l *lesson) model() Model {
	m := Model{known: map[question]bool{}}
	for _, addr := range l.hosts {
		c := l.servers[addr]
		if c.refused > 0 && c.replied == 0 && c.silent == 0 {
			// A closed port is no server of the World.
			continue
		}
		if len(m.World.Servers) < simnet.MaxServers {
			m.World.Servers = append(m.World.Servers, simnet.Server{
				Addr: addr, NoTCP: c.refusedTCP > 0 && c.repliedTCP == 0, SilentTCP: c.silentTCP > 0 && c.repliedTCP == 0 && c.refusedTCP == 0,
			})
		}
	}
	for _, asked := range l.order {
		actions, ok := l.seen[asked].actions()
		switch {
		case !l.modelled(m.World, asked):
			m.known[asked] = l.servers[asked.server].refused > 0
		case ok && len(m.World.Rules) < simnet.MaxRules && !strings.Contains(asked.name, "*"):
			m.known[asked] = true
			m.World.Rules = append(m.World.Rules, simnet.Rule{
				Name: asked.name, Type: asked.kind, Server: asked.server, Transport: asked.transport, Do: actions,
			})
		}
	}
	return m
}

func (l *lesson) modelled(w simnet.World, asked question) bool {
	_, ok := w.Alive(asked.server)
	return ok
}

// actions returns what a server does with the question, and false when that is not known.
func (s *seen) actions() ([]simnet.Action, bool) {
	if len(s.replies) == 0 {
		return []simnet.Action{{Kind: simnet.ActDrop}}, s.silent > 0
	}
	var whole *reply
	var delays []time.Duration
	for i := range s.replies {
		r := &s.replies[i]
		if r.rcode != s.replies[0].rcode {
			return nil, false
		}
		delays = append(delays, r.delay)
		if r.partial {
			continue
		}
		if whole != nil && (len(whole.answers) == 0) != (len(r.answers) == 0) {
			return nil, false
		}
		whole = r
	}
	if whole == nil {
		return nil, false
	}
	slices.Sort(delays)
	actions, ok := whole.actions()
	return append(actions, simnet.Action{Kind: simnet.ActDelay, Delay: min(delays[(len(delays)-1)/2], simnet.MaxDelay)}), ok
}

// rcodes are the words of rcodes in traces.
var rcodes = map[string]int{
	"NOERROR": resolver.RcodeNoError, "FORMERR": resolver.RcodeFormErr, "SERVFAIL": resolver.RcodeServFail,
	"NXDOMAIN": resolver.RcodeNXDomain, "NOTIMP": resolver.RcodeNotImp, "REFUSED": resolver.RcodeRefused,
}

func (r reply) actions() ([]simnet.Action, bool) {
	rcode, ok := rcodes[r.rcode]
	if !ok {
		return nil, false
	}
	actions, ok := records(r.answers)
	if !ok {
		return nil, false
	}
	switch {
	case rcode == resolver.RcodeNXDomain:
		actions = append(actions, simnet.Action{Kind: simnet.ActNXDomain})
	case rcode != resolver.RcodeNoError:
		actions = append(actions, simnet.Action{Kind: simnet.ActRcode, N: rcode})
	case len(actions) == 0 && !slices.Contains(r.flags, "AA") && !slices.Contains(r.flags, "RA") && len(r.flags) > 0:
		actions = append(actions, simnet.Action{Kind: simnet.ActLame})
	}
	if slices.Contains(r.flags, "TC") {
		actions = append(actions, simnet.Action{Kind: simnet.ActTC})
	}
	if r.soa != nil {
		return append(actions, simnet.Action{Kind: simnet.ActSOA, N: int(min(*r.soa, 1<<31-1))}), true
	}
	return append(actions, simnet.Action{Kind: simnet.ActNoSOA}), true
}

// records returns the answer section as actions, and false when it has more than a World can hold.
func records(answers []probe.Answer) ([]simnet.Action, bool) {
	const spare = 8 // what a reply needs besides its records
	if len(answers) > simnet.MaxActions-spare {
		return nil, false
	}
	var actions []simnet.Action
	for i, a := range answers {
		if i == 0 {
			actions = append(actions, simnet.Action{Kind: simnet.ActTTL, N: int(min(a.TTL, 1<<31-1))})
		}
		addr, err := netip.ParseAddr(a.Data)
		switch {
		case a.Type == "CNAME" && a.Data != "" && len(a.Data) <= 1024:
			actions = append(actions, simnet.Action{Kind: simnet.ActCNAME, Target: a.Data})
		case a.Type == "A" && err == nil && addr.Is4():
			actions = append(actions, simnet.Action{Kind: simnet.ActA, Addr: addr})
		case a.Type == "AAAA" && err == nil && addr.Is6() && addr.Zone() == "":
			actions = append(actions, simnet.Action{Kind: simnet.ActAAAA, Addr: addr})
		case a.Type == "TXT" || a.Type == "SRV":
			// A World holds addresses only, and without the record a resolver would go on.
			return nil, false
		}
	}
	return actions, true
}

func questionOf(name string, kind probe.QueryType, t probe.Transmission) (question, bool) {
	addr, ok := serverAddr(t.Server)
	return question{strings.ToLower(strings.TrimSuffix(name, ".")), kind, addr, t.Transport}, ok
}

// serverAddr reads the server of a transmission: an address, with a port or without. Other ports than DNS's are not modelled.
func serverAddr(server string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(server); err == nil {
		return ap.Addr().Unmap(), ap.Port() == dnsPort
	}
	addr, err := netip.ParseAddr(server)
	return addr.Unmap(), err == nil
}
