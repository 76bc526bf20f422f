package musl

import (
	"errors"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolvconf"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// search follows name_from_dns_search. A host with ndots dots is only asked for as it is: musl never searches for it.
func (c *call) search(name string, family resolver.Family) (eai, error) {
	conf := c.r.Config()
	domains := conf.Search
	if strings.Count(name, ".") >= conf.Ndots || strings.HasSuffix(name, ".") {
		domains = nil
	}
	bare := strings.TrimSuffix(name, ".")
	if bare == "" || strings.HasSuffix(bare, ".") {
		return eaiNoName, nil
	}
	types := typesOf(family)
	c.canon.put(0, bare+".")
	for i, domain := range domains {
		if len(bare)+1+len(domain) >= canonBytes {
			c.skip(bare+"."+domain, i)
			continue
		}
		c.canon.put(len(bare)+1, domain)
		code, next, err := c.candidate(c.canon.String(), probe.OriginSearch, i, types, &conf)
		if err != nil || !next {
			return code, err
		}
	}
	c.canon[len(bare)] = 0
	code, next, err := c.candidate(name, probe.OriginAsIs, -1, types, &conf)
	if err == nil && next {
		code = eaiNoName
	}
	return code, err
}

// skip reports a candidate that musl passes over without asking.
func (c *call) skip(name string, index int) {
	origin := probe.OriginSearch
	if index < 0 {
		origin = probe.OriginAsIs
	}
	c.BeginAttempt(resolver.ShowName(name), origin, index)
	c.EndLast(probe.Unsent)
}

func typesOf(family resolver.Family) []probe.QueryType {
	switch family {
	case resolver.Inet:
		return []probe.QueryType{probe.TypeA}
	case resolver.Inet6:
		return []probe.QueryType{probe.TypeAAAA}
	}
	return []probe.QueryType{probe.TypeA, probe.TypeAAAA}
}

// errUnsendable: __res_mkquery has no message for a name.
var errUnsendable = errors.New("the name cannot be put into a query")

// candidate follows name_from_dns: it asks for one name. next tells that the search goes on with the next one.
func (c *call) candidate(name string, origin probe.Origin, index int, types []probe.QueryType, conf *resolvconf.Config) (code eai, next bool, err error) {
	queries, shown, err := c.queries(name, types)
	if err != nil {
		c.skip(name, index)
		c.decided = c.Attempts()
		if !c.r.feat.skipUnsendable {
			c.Note("%.80q cannot be put into a query: musl before 1.2.4 gives the whole lookup up", name)
		}
		return eaiNoName, c.r.feat.skipUnsendable, nil
	}
	n := c.BeginAttempt(shown, origin, index)
	c.decided = n
	x := newExchange(c, n, queries, conf)
	if err := x.send(); err != nil {
		if errors.Is(err, errNoSocket) {
			c.EndLast(probe.Unsent)
			c.Note("%v: musl gives the whole lookup up", err)
			return eaiSystem, false, nil
		}
		return "", false, err
	}
	code, next, outcome := x.judge()
	c.EndLast(outcome)
	return code, next, nil
}
