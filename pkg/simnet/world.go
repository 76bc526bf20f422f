package simnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// Bounds of a World. Scenario files come from anywhere.
const (
	// MaxRules bounds World.Rules.
	MaxRules = 4096
	// MaxServers bounds World.Servers.
	MaxServers = 64
	// MaxActions bounds Rule.Do.
	MaxActions = 512
	// MaxPad bounds the addresses of one pad action.
	MaxPad = 4096
	// MaxDelay bounds one delay.
	MaxDelay = 10 * time.Minute
)

// Defaults of what replies carry.
const (
	// DefaultTTL is the TTL of records in seconds.
	DefaultTTL uint32 = 60
	// DefaultSOAMinimum is the MINIMUM of the SOA record of negative replies, in seconds.
	DefaultSOAMinimum uint32 = 30
	// ConnectTimeout is how long Linux tries to connect to a TCP port that never answers (net.ipv4.tcp_syn_retries 6 with
	// net.ipv4.tcp_syn_linear_timeouts 4; observed).
	ConnectTimeout = 135 * time.Second
)

// World is what the servers of a scenario do. It is only read once it is in use; what changes is in State.
type World struct {
	// Servers are the addresses that exist. Port 53 of any other address is closed: ICMP port unreachable on UDP, a reset
	// of the handshake on TCP.
	Servers []Server
	// Rules are tried in order; the first that matches decides. A query that none matches gets NXDOMAIN with an SOA record.
	Rules []Rule
	// Delay is the time from a query to its reply where no server or action says otherwise.
	Delay time.Duration
	// SOAMinimum is in seconds; 0 means DefaultSOAMinimum.
	SOAMinimum uint32
	// Zones are the domains that the servers are authoritative for: replies about names in them have AA set.
	Zones []string
	// Truncate makes servers cut UDP replies to 512 bytes, or to the size of the query's OPT record, and set TC. Without
	// it, replies of any size arrive whole.
	Truncate bool
	// Undecodable is the rcode with which servers answer what they cannot decode: a header and nothing else. 0 drops it, as
	// most servers do.
	Undecodable int
	// ServersOnly makes delays those of the servers: handshakes take no time, as where server and asker are on one machine and its
	// kernel answers them. Otherwise delays are those of the way, and half of one passes until a connection is open.
	ServersOnly bool
	// Loss is the probability with which a UDP query gets no reply.
	Loss float64
	// PairRace is the probability with which a UDP query is lost that is sent from the same socket to the same server at
	// the same instant as that flow's first one, as netfilter's conntrack race loses it.
	PairRace float64
}

// Server is one address with something behind it.
type Server struct {
	Addr netip.Addr
	// Silent swallows everything, also TCP handshakes.
	Silent bool
	// NoTCP closes the TCP port.
	NoTCP bool
	// SilentTCP swallows TCP handshakes only.
	SilentTCP bool
	// Delay replaces World.Delay when it is not 0.
	Delay time.Duration
}

// Rule says what happens to the queries it matches. Empty fields match everything.
type Rule struct {
	// Name is compared without regard to case and to a final dot; '*' stands for any text, dots included. Blanks separate
	// several names, of which one has to match.
	Name      string
	Type      probe.QueryType
	Server    netip.Addr
	Transport probe.Transport
	// Port limits the rule to half of the source ports: PortEven or PortOdd.
	Port string
	// EDNS limits the rule to queries with an OPT record, or without one; nil does not.
	EDNS *bool
	// Nth limits the rule to these of the queries that match the fields above, counted from 1. The others go on to the
	// rules below.
	Nth []int
	// Cycle makes Nth count from 1 again after so many queries; 0 does not.
	Cycle int
	// Over limits the rule to the queries beyond so many in a second of the clock, of those that match the fields above; 0
	// does not. The others go on to the rules below.
	Over int
	// Do is what the server does. No action at all means NODATA.
	Do []Action
}

// Halves of the source ports.
const (
	PortEven = "even"
	PortOdd  = "odd"
)

// ActionKind names what an Action does.
type ActionKind string

// The kinds of actions. A reply is built from all actions of a rule together.
const (
	// ActA and ActAAAA add an address record (Action.Addr) to replies to queries of that type.
	ActA    ActionKind = "a"
	ActAAAA ActionKind = "aaaa"
	// ActCNAME adds a CNAME record to Action.Target; records after it belong to that name.
	ActCNAME ActionKind = "cname"
	// ActPad and ActPad6 add Action.N generated addresses: 10.9.x.y, fd00:fd00:fd00:fd00:fd00:fd00:fd00:n.
	ActPad  ActionKind = "pad"
	ActPad6 ActionKind = "pad6"
	// ActNoData is NOERROR without records, with an SOA record.
	ActNoData ActionKind = "nodata"
	// ActNXDomain is NXDOMAIN with an SOA record.
	ActNXDomain ActionKind = "nx"
	// ActRcode sets the rcode Action.N.
	ActRcode ActionKind = "rcode"
	// ActLame is NOERROR without records, AA and RA clear, no OPT record: a server that does not know the zone.
	ActLame ActionKind = "lame"
	// ActHeader leaves only the 12 bytes of the header.
	ActHeader ActionKind = "header"
	// ActBadID changes the reply's id, ActBadQuestion its question.
	ActBadID       ActionKind = "badid"
	ActBadQuestion ActionKind = "badquestion"
	// ActTC sets TC.
	ActTC ActionKind = "tc"
	// ActNoSOA leaves out the SOA record of a negative reply.
	ActNoSOA ActionKind = "nosoa"
	// ActSOA sets the SOA record's MINIMUM to Action.N seconds, ActTTL the TTL of the records.
	ActSOA ActionKind = "soa"
	ActTTL ActionKind = "ttl"
	// ActDrop sends no reply. On TCP the connection stays open.
	ActDrop ActionKind = "drop"
	// ActDelay replaces the delay of the reply by Action.Delay.
	ActDelay ActionKind = "delay"
	// ActLoss sends no reply with probability Action.P.
	ActLoss ActionKind = "loss"
	// ActClose closes the TCP connection after the reply (with ActDrop: instead of it). It does nothing on UDP.
	ActClose ActionKind = "close"
	// ActReset resets the TCP connection instead of replying. It does nothing on UDP.
	ActReset ActionKind = "reset"
)

// Action is one thing that a server does.
type Action struct {
	Kind   ActionKind
	Addr   netip.Addr
	Target string
	N      int
	Delay  time.Duration
	P      float64
}

// Alive returns the server at addr, and false for a closed port.
func (w *World) Alive(addr netip.Addr) (Server, bool) {
	addr = addr.Unmap()
	for _, s := range w.Servers {
		if s.Addr.Unmap() == addr {
			return s, true
		}
	}
	return Server{}, false
}

// Check says what is wrong with a World that came from outside.
func (w *World) Check() error {
	switch {
	case len(w.Servers) > MaxServers:
		return fmt.Errorf("%d servers, at most %d are allowed", len(w.Servers), MaxServers)
	case len(w.Rules) > MaxRules:
		return fmt.Errorf("%d rules, at most %d are allowed", len(w.Rules), MaxRules)
	case w.Undecodable < 0 || w.Undecodable > 15:
		return fmt.Errorf("rcode %d for what cannot be decoded, it must be 0 to 15", w.Undecodable)
	case !probability(w.Loss) || !probability(w.PairRace):
		return fmt.Errorf("loss and pairRace must lie between 0 and 1")
	}
	if err := checkDelay(w.Delay); err != nil {
		return err
	}
	for i, s := range w.Servers {
		if !s.Addr.IsValid() {
			return fmt.Errorf("server %d has no address", i+1)
		}
		if err := checkDelay(s.Delay); err != nil {
			return fmt.Errorf("server %s: %w", s.Addr, err)
		}
	}
	for i, r := range w.Rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("rule %d (%s): %w", i+1, r.Name, err)
		}
	}
	return nil
}

func (r *Rule) check() error {
	switch {
	case len(r.Name) > 1024:
		return fmt.Errorf("its name is over 1024 bytes")
	case len(r.Do) > MaxActions:
		return fmt.Errorf("%d actions, at most %d are allowed", len(r.Do), MaxActions)
	case len(r.Nth) > MaxActions:
		return fmt.Errorf("%d numbers in nth, at most %d are allowed", len(r.Nth), MaxActions)
	case !slices.Contains([]probe.QueryType{"", probe.TypeA, probe.TypeAAAA, probe.TypeSRV, probe.TypeTXT}, r.Type):
		return fmt.Errorf("type %q is none of A, AAAA, SRV, TXT", r.Type)
	case r.Transport != "" && r.Transport != probe.UDP && r.Transport != probe.TCP:
		return fmt.Errorf("transport %q is neither udp nor tcp", r.Transport)
	case r.Port != "" && r.Port != PortEven && r.Port != PortOdd:
		return fmt.Errorf("source ports are even or odd, not %.20q", r.Port)
	case r.Cycle < 0 || r.Over < 0:
		return fmt.Errorf("cycle and over count from 1, %d is too small", min(r.Cycle, r.Over))
	case r.Cycle > 0 && len(r.Nth) == 0:
		return fmt.Errorf("cycle says after how many queries nth begins again, but there is no nth")
	}
	for _, n := range r.Nth {
		if n < 1 {
			return fmt.Errorf("nth counts from 1, %d is too small", n)
		}
		if r.Cycle > 0 && n > r.Cycle {
			return fmt.Errorf("a cycle of %d has no query %d", r.Cycle, n)
		}
	}
	return nil
}

func probability(p float64) bool { return p >= 0 && p <= 1 }

func checkDelay(d time.Duration) error {
	if d < 0 || d > MaxDelay {
		return fmt.Errorf("delay %s lies outside of 0 to %s", d, MaxDelay)
	}
	return nil
}

// plain are the bytes that a name has in one spelling only.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.*"

// bare returns a name as rules compare it: in the one spelling that JoinLabels has for it, since libcs and encoders of messages
// escape more bytes than they have to, and not the same ones. What is no name stays as it is.
func bare(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		if labels, err := resolver.Labels(name); err == nil {
			name = resolver.JoinLabels(labels)
		}
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// glob reports whether text matches pattern, in which '*' stands for any text. It takes linear memory and at most
// len(pattern)*len(text) steps, whatever the pattern.
func glob(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
