package simnet

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// State is what a World's servers remember: how often each rule matched, and the dice. With it goes what outlives a Network on the
// asking side: the clock, and the source ports to come. It is not safe for concurrent use.
type State struct {
	matches map[int]int
	// second has, by rule, how many queries it matched in the second under way.
	second map[int]bucket
	dice   *rand.Rand
	ports  *rand.Rand
	// now is the latest time of any Network with this state.
	now time.Time
}

// bucket counts what came in one second.
type bucket struct {
	second int64
	n      int
}

// NewState returns the state of servers that were never asked. The same seed gives the same losses and the same source ports.
func NewState(seed uint64) *State {
	return &State{
		matches: map[int]int{}, second: map[int]bucket{},
		dice:  rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
		ports: rand.New(rand.NewPCG(seed, 0xbf58476d1ce4e5b9)),
	}
}

// port draws a source port from those that Linux gives to clients (net.ipv4.ip_local_port_range).
func (st *State) port() uint16 { return uint16(32768 + st.ports.IntN(60999-32768+1)) }

// inSecond counts a query that rule i matches, and returns how many it matched in the same second by now.
func (st *State) inSecond(i int, at time.Time) int {
	b := st.second[i]
	if b.second != at.Unix() {
		b = bucket{second: at.Unix()}
	}
	b.n++
	st.second[i] = b
	return b.n
}

// Pass lets time go by between one Network and the next.
func (st *State) Pass(d time.Duration) { st.now = st.now.Add(max(d, 0)) }

// chance throws the dice. It draws nothing for a probability of 0, so that a World without losses stays the same run.
func (st *State) chance(p float64) bool { return p > 0 && st.dice.Float64() < p }

// Reaction is what becomes of a query.
type Reaction struct {
	// Refused: the port is closed.
	Refused bool
	// Silent: no reply comes.
	Silent bool
	// Reply is what comes, unless Refused, Silent or Reset. An SOA record, if any, is ". SOA ns.simnet. hostmaster.simnet.
	// 1 7200 900 86400 MINIMUM"; EDNS tells that an OPT record is there.
	Reply resolver.Reply
	EDNS  bool
	// Delay is the time from the query to the reply, the refusal, or the end of the connection.
	Delay time.Duration
	// Close ends the TCP connection in good order after the reply, or instead of it when Silent is set too.
	Close bool
	// Reset resets the TCP connection.
	Reset bool
}

// ServerEDNSSize is the payload size in the OPT record of replies.
const ServerEDNSSize = 1232

// Connect says what becomes of a TCP handshake with addr: Refused, Silent, or neither for an open connection.
func (w *World) Connect(addr netip.Addr) Reaction {
	s, ok := w.Alive(addr)
	if !ok || s.NoTCP {
		return Reaction{Refused: true}
	}
	if s.Silent || s.SilentTCP {
		return Reaction{Silent: true}
	}
	if w.ServersOnly {
		return Reaction{}
	}
	return Reaction{Delay: w.delay(s) / 2}
}

func (w *World) delay(s Server) time.Duration {
	if s.Delay != 0 {
		return s.Delay
	}
	return w.Delay
}

// Arrival is how a query reaches a server.
type Arrival struct {
	Server    netip.Addr
	Transport probe.Transport
	// Port is the source port.
	Port uint16
	At   time.Time
}

// React returns what becomes of query q that arrives as from says. It changes nothing but st.
func (w *World) React(st *State, q resolver.Query, from Arrival) Reaction {
	s, ok := w.Alive(from.Server)
	t := from.Transport
	if !ok {
		return Reaction{Refused: true}
	}
	r := Reaction{Delay: w.delay(s)}
	// Bytes that no encoder would build cannot be decoded.
	broken := len(q.Wire) != 0
	if s.Silent || broken && w.Undecodable == 0 || (t == probe.UDP && st.chance(w.Loss)) {
		r.Silent = true
		return r
	}
	if broken {
		r.Reply = resolver.Reply{ID: q.ID, Response: true, RD: true, RA: true, Rcode: w.Undecodable, Size: headerSize}
		return r
	}
	actions, matched := w.match(st, q, from)
	if !matched {
		actions = []Action{{Kind: ActNXDomain}}
	}
	b := builder{world: w, query: q, ttl: DefaultTTL, owner: q.Name, soa: w.SOAMinimum, answerable: true}
	if b.soa == 0 {
		b.soa = DefaultSOAMinimum
	}
	for _, a := range actions {
		b.apply(st, a, &r)
	}
	r.Close, r.Reset = r.Close && t == probe.TCP, r.Reset && t == probe.TCP
	if r.Silent || r.Reset {
		return r
	}
	r.Reply, r.EDNS = b.reply(t)
	r.Reply.EDNS = r.EDNS
	return r
}

// match returns the actions of the rule that decides, and counts.
func (w *World) match(st *State, q resolver.Query, from Arrival) ([]Action, bool) {
	name := bare(q.Name)
	for i := range w.Rules {
		r := &w.Rules[i]
		if !r.concerns(name, &q, from) {
			continue
		}
		st.matches[i]++
		n := st.matches[i]
		if r.Cycle > 0 {
			n = (n-1)%r.Cycle + 1
		}
		if len(r.Nth) != 0 && !slices.Contains(r.Nth, n) {
			continue
		}
		if r.Over > 0 && st.inSecond(i, from.At) <= r.Over {
			continue
		}
		return r.Do, true
	}
	return nil, false
}

// concerns says whether r is about a query, whatever came before it.
func (r *Rule) concerns(name string, q *resolver.Query, from Arrival) bool {
	switch {
	case r.Type != "" && r.Type != q.Type, r.Transport != "" && r.Transport != from.Transport:
		return false
	case r.Server.IsValid() && r.Server.Unmap() != from.Server.Unmap():
		return false
	case r.EDNS != nil && *r.EDNS != (q.EDNSSize != 0):
		return false
	case r.Port != "" && (r.Port == PortEven) != (from.Port%2 == 0):
		return false
	}
	named := false
	for pattern := range strings.FieldsSeq(r.Name) {
		if glob(bare(pattern), name) {
			return true
		}
		named = true
	}
	return !named
}

// builder gathers a reply.
type builder struct {
	world   *World
	query   resolver.Query
	owner   string
	ttl     uint32
	soa     uint32
	records []resolver.Record
	rcode   int
	// answerable is cleared by rcodes that say nothing about the name; those replies carry no SOA record.
	answerable                                     bool
	lame, header, badID, badQuestion, tc, withoutS bool
}

func (b *builder) apply(st *State, a Action, r *Reaction) {
	switch a.Kind {
	case ActA:
		b.address(probe.TypeA, a.Addr)
	case ActAAAA:
		b.address(probe.TypeAAAA, a.Addr)
	case ActPad:
		for i := range a.N {
			b.address(probe.TypeA, netip.AddrFrom4([4]byte{10, 9, byte(i >> 8), byte(i)}))
		}
	case ActPad6:
		for i := range a.N {
			b.address(probe.TypeAAAA, pad6(i))
		}
	case ActCNAME:
		target := absolute(a.Target)
		b.records = append(b.records, resolver.Record{
			Name: b.owner, Type: resolver.TypeCNAME, Class: resolver.ClassIN, TTL: b.ttl, Target: target, Data: target,
		})
		b.owner = target
	case ActNoData:
		// That is what a reply without records is.
	case ActNXDomain:
		b.rcode = resolver.RcodeNXDomain
	case ActRcode:
		b.rcode = a.N
		b.answerable = a.N == resolver.RcodeNoError || a.N == resolver.RcodeNXDomain
	case ActLame:
		b.lame = true
	case ActHeader:
		b.header = true
	case ActBadID:
		b.badID = true
	case ActBadQuestion:
		b.badQuestion = true
	case ActTC:
		b.tc = true
	case ActNoSOA:
		b.withoutS = true
	case ActSOA:
		b.soa = uint32(a.N)
	case ActTTL:
		b.ttl = uint32(a.N)
	case ActDrop:
		r.Silent = true
	case ActLoss:
		r.Silent = r.Silent || st.chance(a.P)
	case ActDelay:
		r.Delay = a.Delay
	case ActClose:
		r.Close = true
	case ActReset:
		r.Reset = true
	}
}

func (b *builder) address(t probe.QueryType, addr netip.Addr) {
	if t != b.query.Type {
		return
	}
	b.records = append(b.records, resolver.Record{
		Name: b.owner, Type: resolver.TypeNumber(t), Class: resolver.ClassIN, TTL: b.ttl, Addr: addr, Data: addr.String(),
	})
}

func pad6(i int) netip.Addr {
	return netip.AddrFrom16([16]byte{
		0xfd, 0, 0xfd, 0, 0xfd, 0, 0xfd, 0, 0xfd, 0, 0xfd, 0, 0xfd, 0, byte(i >> 8), byte(i),
	})
}

func absolute(name string) string {
	if strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}

// reply puts the message together and reports whether it carries an OPT record.
func (b *builder) reply(t probe.Transport) (resolver.Reply, bool) {
	r := resolver.Reply{ID: b.query.ID, Response: true, RD: true, RA: !b.lame, AD: false, TC: b.tc, Rcode: b.rcode}
	if b.badID {
		r.ID ^= 0xffff
	}
	if b.header {
		r.Size = headerSize
		return r, false
	}
	r.AA = !b.lame && b.answerable && b.world.authoritative(b.query.Name)
	question := resolver.Question{Name: b.query.Name, Type: resolver.TypeNumber(b.query.Type), Class: resolver.ClassIN}
	if b.badQuestion {
		question.Name = "wrong.invalid."
	}
	r.Questions, r.QDCount = []resolver.Question{question}, 1
	edns := b.query.EDNSSize != 0 && !b.lame && b.rcode != resolver.RcodeFormErr
	if edns {
		r.ARCount = 1
	}
	r.Answers = b.records
	if b.lame {
		r.Answers = nil
	}
	final := 0
	for _, rec := range r.Answers {
		if rec.Type != resolver.TypeCNAME {
			final++
		}
	}
	if b.answerable && !b.lame && !b.withoutS && !b.tc && (final == 0 || b.rcode == resolver.RcodeNXDomain) {
		minimum := b.soa
		r.SOAMinimum, r.NSCount = &minimum, 1
	}
	r.ANCount = len(r.Answers)
	setEnds(&r)
	r.Size = Size(r, edns)
	if limit := b.limit(t); r.Size > limit {
		b.truncate(&r, edns, limit)
	}
	return r, edns
}

// limit is the largest message in bytes that t can carry here.
func (b *builder) limit(t probe.Transport) int {
	if t == probe.TCP || !b.world.Truncate {
		return 65535
	}
	return max(512, int(b.query.EDNSSize))
}

// truncate leaves as many answers as fit, and sets TC.
func (b *builder) truncate(r *resolver.Reply, edns bool, limit int) {
	r.TC, r.SOAMinimum, r.NSCount = true, nil, 0
	for len(r.Answers) > 0 && Size(*r, edns) > limit {
		r.Answers = r.Answers[:len(r.Answers)-1]
	}
	r.ANCount = len(r.Answers)
	r.Size = Size(*r, edns)
}

func (w *World) authoritative(name string) bool {
	name = bare(name)
	for _, z := range w.Zones {
		if z = bare(z); name == z || strings.HasSuffix(name, "."+z) {
			return true
		}
	}
	return false
}

const (
	headerSize = 12
	optSize    = 11
	// optionHeaderSize are code and length of an option in an OPT record.
	optionHeaderSize = 4
	// soaSize is the size of the SOA record that Reaction describes.
	soaSize = 55
)

// Size returns the size in bytes of r on the wire, names compressed, and with an OPT record when edns is set.
func Size(r resolver.Reply, edns bool) int {
	var names compression
	n := names.questions(&r)
	for i := range r.Answers {
		n += names.record(&r.Answers[i])
	}
	if r.SOAMinimum != nil {
		n += soaSize
	}
	if edns {
		n += optSize
	}
	return n
}

// compression holds the names of a message so far, and every name that they end in: what comes again is a pointer of two bytes
// (RFC 1035 section 4.1.4). Servers compare the case of letters, too.
type compression struct {
	few [16]string
	n   int
	// more are those beyond few, which most messages have none of.
	more []string
}

func (c *compression) add(name string) {
	if c.n < len(c.few) {
		c.few[c.n] = name
		c.n++
		return
	}
	c.more = append(c.more, name)
}

func (c *compression) has(name string) bool {
	return slices.Contains(c.few[:c.n], name) || slices.Contains(c.more, name)
}

// questions returns where the question section ends, and adds its names.
func (c *compression) questions(r *resolver.Reply) int {
	end := headerSize
	for i := range r.Questions {
		end += c.size(r.Questions[i].Name) + 4
	}
	return end
}

// size returns what a name takes in the message, and adds it.
func (c *compression) size(name string) int {
	name = strings.TrimSuffix(name, ".")
	n := 0
	for name != "" {
		if c.has(name) {
			return n + 2
		}
		c.add(name)
		label, rest := firstLabel(name)
		n += nameSize(label) - 1
		name = rest
	}
	return n + 1
}

// firstLabel cuts a name at its first dot that is not escaped.
func firstLabel(name string) (label, rest string) {
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '.':
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// record returns what a record takes in the message, and adds its names.
func (c *compression) record(r *resolver.Record) int {
	const fixed = 10
	n := c.size(r.Name) + fixed
	switch r.Type {
	case resolver.TypeA:
		return n + 4
	case resolver.TypeAAAA:
		return n + 16
	}
	return n + c.size(r.Target)
}

// setEnds notes where each answer ends in the message.
func setEnds(r *resolver.Reply) {
	var names compression
	end := names.questions(r)
	for i := range r.Answers {
		end += names.record(&r.Answers[i])
		r.Answers[i].End = end
	}
}

// QuerySize returns the size in bytes of a query on the wire, without the length prefix of TCP.
func QuerySize(q resolver.Query) int {
	if len(q.Wire) != 0 {
		return len(q.Wire)
	}
	n := headerSize + nameSize(q.Name) + 4
	if q.EDNSSize != 0 {
		n += optSize
		if len(q.Cookie) > 0 {
			n += optionHeaderSize + len(q.Cookie)
		}
	}
	return n
}

// nameSize returns the uncompressed size of a name in presentation format (RFC 1035 section 5.1 escapes).
func nameSize(name string) int {
	if name == "." || name == "" {
		return 1
	}
	n := 1
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' {
			i++
			if i+2 < len(name) && name[i] >= '0' && name[i] <= '9' {
				i += 2
			}
		}
		n++
	}
	if !strings.HasSuffix(name, ".") {
		n++
	}
	return n
}
