package cares

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// ednsBytes is EDNSPACKETSZ.
const ednsBytes = 1232

// lookup is struct host_query: what is left to do of a call.
type lookup struct {
	name  string
	names []candidate
	next  int
	// order are the lookups that are left: "b" is DNS, "f" the hosts file.
	order string
	// remaining counts queries of the attempt under way, pair has them.
	remaining int
	pair      []*query
	// noData is the first attempt that ended so, 0 when none did.
	noData int
	addrs  []netip.Addr
	canon  string
}

// getaddrinfo follows ares_getaddrinfo up to the first query.
func (c *call) getaddrinfo() {
	name, _, _ := strings.Cut(c.req.Host, "\x00")
	switch {
	case c.req.Family != resolver.Unspec && c.req.Family != resolver.Inet && c.req.Family != resolver.Inet6:
		c.finish(notImp)
		return
	case isOnion(name):
		c.Note("c-ares asks for no name in .onion (RFC 7686)")
		c.finish(notFound)
		return
	}
	if c.req.AddrConfig {
		c.Note("c-ares knows no AI_ADDRCONFIG: it asks for all families")
	}
	if c.r.feat.old {
		if alias, ok := c.oldAlias(name); ok {
			c.Note("HOSTALIASES turns %.80q into %.80q", name, alias)
			name = alias
		}
	}
	if !c.r.channel.Query && c.literal(name) {
		return
	}
	c.lookup.name, c.lookup.order = name, c.r.order
	c.lookup.names = c.candidates(name)
	c.nextLookup(connRefused)
}

// literal follows fake_addrinfo: an IPv4 address has four decimal parts, and is one for every family. 1.18 looks it up all the same
// unless only IPv4 is asked for, since its try to read it as IPv6 wins; what was read stays among the results.
func (c *call) literal(name string) bool {
	addr, ok := resolvconf.CAresAddress(name)
	switch {
	case !ok || addr.Is4() && (strings.Count(name, ".") != 3 || strings.Trim(name, "0123456789.") != ""):
		return false
	case addr.Is6() && c.req.Family == resolver.Inet:
		return false
	case addr.Is4() && c.req.Family != resolver.Inet && c.r.feat.old:
		c.Note("c-ares before 1.20 looks an IPv4 address up as a name unless only IPv4 is asked for")
		c.lookup.addrs = []netip.Addr{addr}
		return false
	}
	c.lookup.addrs, c.answeredBy = []netip.Addr{addr}, resolver.ByLiteral
	c.finish(success)
	return true
}

// finish ends the call.
func (c *call) finish(st status) {
	if c.done {
		return
	}
	c.done, c.status = true, st
	if c.decided == 0 {
		c.decided = c.Attempts()
	}
	if st == noData && c.lookup.noData != 0 {
		c.decided = c.lookup.noData
	}
	if st == success {
		c.addresses, c.canonical = sortAddresses(c.lookup.addrs, &c.r.sys), c.lookup.canon
	}
}

// nextLookup follows next_lookup: st is the status when nothing is left to try.
func (c *call) nextLookup(st status) {
	for c.lookup.order != "" {
		switch {
		case c.lookup.order[0] == 'f':
			if c.fileLookup() {
				c.answeredBy = resolver.ByHosts
				c.finish(success)
				return
			}
		case c.r.channel.Query || !c.isLocalhost(c.lookup.name):
			if c.nextAttempt() {
				return
			}
		}
		c.lookup.order = c.lookup.order[1:]
	}
	c.finish(st)
}

// nextAttempt follows next_dns_lookup.
func (c *call) nextAttempt() bool {
	if c.lookup.next >= len(c.lookup.names) {
		return false
	}
	cand := c.lookup.names[c.lookup.next]
	c.lookup.next++
	types := []probe.QueryType{probe.TypeA, probe.TypeAAAA}
	switch c.req.Family {
	case resolver.Inet:
		types = types[:1]
	case resolver.Inet6:
		types = types[1:]
	}
	labels, ok := c.r.feat.split(cand.name)
	shown := resolver.JoinLabels(labels)
	if !ok {
		shown = resolver.ShowName(cand.name)
	}
	n := c.beginAttempt(shown, cand.origin, cand.index)
	c.lookup.remaining, c.lookup.pair = len(types), nil
	done := c.answered
	for _, t := range types {
		switch {
		case isOnion(cand.name):
			c.callback(notFound, nil)
			continue
		case !ok:
			c.callback(badName, nil)
			continue
		}
		q := &query{ref: probe.Ref{Attempt: n, Type: t}, done: done}
		q.msg = resolver.Query{ID: c.uniqueID(), Name: shown, Type: t, Overlong: !c.r.feat.old}
		if c.r.feat.edns {
			q.msg.EDNSSize = ednsBytes
		}
		c.lookup.pair = append(c.lookup.pair, q)
		c.queries = append(c.queries, q)
		if c.transport.ask(q); c.failure != nil {
			return true
		}
	}
	return true
}

// answered turns what became of a query into a status of its name.
func (c *call) answered(st status, reply *resolver.Reply) {
	if st == success {
		st = statusOf(rcodeOf(reply), reply.ANCount)
	}
	c.callback(st, reply)
}

func rcodeOf(r *resolver.Reply) int { return int(r.RcodeHigh)<<4 | r.Rcode }

// callback follows host_callback. What the query that ends last brings decides about the pair.
func (c *call) callback(st status, reply *resolver.Reply) {
	l := &c.lookup
	l.remaining--
	parsed := success
	if st == success {
		if parsed = c.parse(reply); parsed == success && !c.r.feat.old && slices.ContainsFunc(l.addrs, netip.Addr.Is4) {
			// With an IPv4 address in hand the other query gets no further try.
			for _, q := range l.pair {
				q.noRetries = true
			}
		}
	}
	if l.remaining > 0 || c.done {
		return
	}
	if st == noData || parsed == noData {
		st = noData
		if l.noData == 0 {
			l.noData = c.Attempts()
		}
	}
	c.EndLast(c.judge(st, parsed))
	then := st
	if l.noData != 0 {
		then = noData
	}
	switch {
	case parsed != success && parsed != noData && (c.r.feat.old || parsed != badResp || len(l.addrs) == 0):
		c.finish(parsed)
	case len(l.addrs) > 0:
		c.finish(success)
	case st == notFound || st == noData:
		c.nextLookup(then)
	case (st == servFail || st == refused) && !c.r.feat.old && !strings.Contains(l.names[l.next-1].name, "."):
		c.Note("the name has one label only: c-ares goes on with its list, since systemd-resolved refuses such names")
		c.nextLookup(then)
	default:
		c.finish(st)
	}
}

// judge returns the outcome of an attempt.
func (c *call) judge(st, parsed status) probe.Outcome {
	switch {
	case len(c.lookup.addrs) > 0:
		return probe.OK
	case parsed != success && parsed != noData:
		return parsed.attemptOutcome()
	case st == connRefused && c.rejected != success:
		// 1.18 has one status for all that kept it from an answer.
		return c.rejected.attemptOutcome()
	}
	return st.attemptOutcome()
}

// parse follows ares_parse_into_addrinfo. 1.18 takes only addresses of the name that the records before lead to.
func (c *call) parse(reply *resolver.Reply) status {
	if c.r.feat.old && (reply.QDCount != 1 || len(reply.Questions) != 1 || len(reply.Answers) < reply.ANCount) {
		return badResp
	}
	name := reply.Questions[0].Name
	var addrs []netip.Addr
	for i := range reply.Answers {
		rr := &reply.Answers[i]
		if rr.Class != resolver.ClassIN {
			continue
		}
		switch rr.Type {
		case resolver.TypeCNAME:
			if c.r.feat.old && !isOldTarget(rr.Target) {
				return badResp
			}
			name = rr.Target
		case resolver.TypeA, resolver.TypeAAAA:
			if rr.Addr.IsValid() && rr.Addr.Is4() == (rr.Type == resolver.TypeA) && (!c.r.feat.old || resolver.SameName(rr.Name, name)) {
				addrs = append(addrs, rr.Addr)
			}
		}
	}
	if len(addrs) == 0 {
		return noData
	}
	if c.lookup.canon = strings.TrimSuffix(name, "."); c.r.feat.old {
		c.lookup.canon = strings.TrimSuffix(reply.Questions[0].Name, ".")
	}
	c.lookup.addrs = append(c.lookup.addrs, addrs...)
	return success
}

// isOldTarget reports whether 1.18 takes a CNAME's target as a host name.
func isOldTarget(target string) bool {
	return target != "" && !strings.ContainsFunc(target, func(r rune) bool { return r >= 0x80 || !isHostByte(byte(r)) || r == '*' })
}
