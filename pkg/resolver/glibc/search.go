package glibc

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxDName is MAXDNAME: the size of the buffer that candidate names are put together in.
const maxDName = 1025

// ednsBytes is RESOLV_EDNS_BUFFER_SIZE.
const ednsBytes = 1200

// found is what a search returns: the replies of the attempt that ended it. A nil reply did not count.
type found struct {
	ok            bool
	first, second *resolver.Reply
	// size2 is the length of the second reply as C has it: 1 when glibc gave up on it.
	size2   int
	attempt int
}

// candidate is a name to try.
type candidate struct {
	name   string
	origin probe.Origin
	index  int
	// tooLong is set when the name does not even fit the buffer it is put together in.
	tooLong bool
}

func asIs(name string) candidate {
	return candidate{name: name, origin: probe.OriginAsIs, index: -1, tooLong: name == "" || len(name) >= maxDName}
}

func inDomain(name, domain string, index int) candidate {
	return candidate{
		name: name + "." + domain, origin: probe.OriginSearch, index: index, tooLong: len(name)+len(domain)+1 >= maxDName,
	}
}

// searchState is what __res_context_search remembers from one candidate to the next.
type searchState struct {
	// asIsErr is h_errno of the as-is try that came first, asIs its attempt; 0 when there was none.
	asIsErr hostErr
	asIs    int
	// noData and servFail are the first attempts that ended so.
	noData, servFail int
	rootOnList       bool
	searched         bool
}

// search follows __res_context_search. When nothing is found, c.herr and c.errno tell why and c.decided which attempt.
func (c *call) search(name string, types []probe.QueryType) (found, error) {
	c.errno, c.herr = errnoNone, hostNotFound
	c.headerRcode, c.moved = resolver.RcodeNoError, false
	dots := strings.Count(name, ".")
	trailing := strings.HasSuffix(name, ".")
	if dots == 0 {
		if alias, ok := c.hostAlias(name); ok {
			// The alias of a name without dots is asked for as it is, and nothing else.
			return c.query(candidate{name: alias, origin: probe.OriginAsIs, index: -1}, types)
		}
	}
	var st searchState
	if dots >= c.r.conf.Ndots || trailing {
		f, err := c.query(asIs(name), types)
		if err != nil || f.ok || trailing {
			return f, err
		}
		st.asIs, st.asIsErr = c.Attempts(), c.herr
	}
	if !trailing {
		f, stop, err := c.searchList(name, types, &st)
		if err != nil || f.ok || stop {
			return f, err
		}
	}
	if st.asIs == 0 && !st.rootOnList && (dots > 0 || !st.searched || !c.r.conf.NoTLDQuery) {
		if f, err := c.query(asIs(name), types); err != nil || f.ok {
			return f, err
		}
	}
	switch {
	case st.asIs != 0:
		c.herr, c.decided = st.asIsErr, st.asIs
	case st.noData != 0:
		c.herr, c.decided = hostNoData, st.noData
	case st.servFail != 0:
		c.herr, c.decided = hostTryAgain, st.servFail
	}
	return found{}, nil
}

// searchList tries the search domains in order. stop tells that the search is over without the as-is try.
func (c *call) searchList(name string, types []probe.QueryType, st *searchState) (f found, stop bool, err error) {
	for i, domain := range c.r.conf.Search {
		st.searched = true
		domain = strings.TrimPrefix(domain, ".")
		if domain == "" {
			st.rootOnList = true
		}
		f, err := c.query(inDomain(name, domain, i), types)
		if err != nil || f.ok {
			return f, false, err
		}
		if c.errno == errnoRefused {
			// No server is there at all.
			c.herr = hostTryAgain
			return found{}, true, nil
		}
		switch {
		case c.herr == hostNotFound:
		case c.herr == hostNoData:
			if st.noData == 0 {
				st.noData = c.Attempts()
			}
		case c.herr == hostTryAgain && c.headerRcode == resolver.RcodeServFail:
			if st.servFail == 0 {
				st.servFail = c.Attempts()
			}
		default:
			return found{}, false, nil
		}
	}
	return found{}, false, nil
}

// query follows __res_context_querydomain and __res_context_query for one candidate.
func (c *call) query(cand candidate, types []probe.QueryType) (found, error) {
	labels, nameErr := resolver.Labels(cand.name)
	shown := resolver.JoinLabels(labels)
	if nameErr != nil || cand.tooLong {
		shown = resolver.ShowName(cand.name)
	}
	n := c.BeginAttempt(shown, cand.origin, cand.index)
	c.decided = n
	if cand.tooLong || nameErr != nil {
		c.herr = hostNoRecovery
		if !cand.tooLong {
			// ns_name_pton says so.
			c.errno = errnoMsgSize
		}
		c.EndLast(probe.Unsent)
		return found{}, nil
	}
	c.setHeader(resolver.RcodeNoError)
	x := &exchange{call: c, attempt: n, queries: c.queries(shown, types)}
	size, err := x.send()
	if err != nil {
		return found{}, err
	}
	if c.discardAAAA(types) {
		if f, ok := x.patched(size); ok {
			c.judge(&f)
			return f, nil
		}
	}
	if size < 0 {
		c.herr = hostTryAgain
		if c.r.conf.Attempts <= 0 {
			c.Note("attempts:%d makes glibc send nothing", c.r.conf.Attempts)
		}
		c.EndLast(x.failure())
		return found{}, nil
	}
	f := found{second: x.second, size2: x.size2, attempt: n}
	if size >= headerBytes {
		f.first = x.first
	}
	if x.size2 < headerBytes {
		f.second = nil
	}
	c.judge(&f)
	return f, nil
}

// queries builds the queries of an attempt, each with a random id of its own.
func (c *call) queries(name string, types []probe.QueryType) []resolver.Query {
	conf := &c.r.conf
	out := make([]resolver.Query, 0, len(types))
	for _, t := range types {
		q := resolver.Query{ID: c.n.Random16(), Name: name, Type: t, AD: conf.TrustAD}
		if conf.EDNS0 {
			q.EDNSSize = ednsBytes
		}
		if c.discardAAAA(types) {
			// __res_handle_no_aaaa: an A query in its place, without EDNS.
			q.Type, q.EDNSSize = probe.TypeA, 0
		}
		out = append(out, q)
	}
	return out
}

// discardAAAA reports whether no-aaaa turns a lone AAAA query into an A query whose records are thrown away.
func (c *call) discardAAAA(types []probe.QueryType) bool {
	return c.r.conf.NoAAAA && len(types) == 1 && types[0] == probe.TypeAAAA
}

// patched follows the end of __res_handle_no_aaaa: the records of the reply go. Where no reply about A is in the buffer, the
// result is not set, and what was nothing at all becomes an empty answer.
func (x *exchange) patched(size int) (found, bool) {
	f := found{first: x.first, attempt: x.attempt}
	if x.first != nil && len(x.first.Questions) > 0 && x.first.Questions[0].Type == resolver.TypeA {
		reply := *x.first
		reply.ANCount, reply.Answers = 0, nil
		f.first = &reply
		return f, size >= 0
	}
	if size < 0 {
		x.EndLast(x.failure())
		x.Note("no-aaaa: glibc mistakes the missing answer for an empty one")
	}
	if f.first == nil {
		f.first = &resolver.Reply{}
	}
	return f, true
}

// judge decides whether the replies of an attempt are an answer, and else sets c.herr.
func (c *call) judge(f *found) {
	first, second := f.first, f.second
	if second == nil {
		second = first
	}
	if first == nil {
		first = second
	}
	if first == nil {
		c.herr = hostTryAgain
		c.EndLast(probe.Timeout)
		return
	}
	if answered(first) || answered(second) {
		f.ok = true
		outcome := probe.NoData
		if c.usable(f) {
			outcome = probe.OK
		}
		c.EndLast(outcome)
		return
	}
	rcode := first.Rcode
	if rcode == resolver.RcodeNoError {
		rcode = second.Rcode
	}
	switch rcode {
	case resolver.RcodeNXDomain:
		c.herr = hostNotFound
		c.EndLast(probe.NXDomain)
	case resolver.RcodeServFail:
		c.herr = hostTryAgain
		c.EndLast(probe.ServFail)
	case resolver.RcodeNoError:
		c.herr = hostNoData
		c.EndLast(probe.NoData)
	default:
		c.herr = hostNoRecovery
		c.EndLast(resolver.RcodeOutcome(rcode))
	}
}

// answered: a CNAME alone counts, too.
func answered(r *resolver.Reply) bool {
	return r.Rcode == resolver.RcodeNoError && r.ANCount != 0
}
