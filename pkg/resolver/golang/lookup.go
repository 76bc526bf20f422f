package golang

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// lookup follows LookupIPAddr, and LookupIP (internetAddrList) for one family.
func (c *call) lookup() error {
	if c.req.Record != "" {
		return c.records()
	}
	if c.req.Host == "" {
		c.failure = notFound(probe.NXDomain)
		return nil
	}
	if addr, err := c.literal(); err == nil {
		// net.IP knows no difference between an IPv4 address and a mapped one.
		c.addresses, c.answeredBy = []netip.Addr{addr.Unmap()}, resolver.ByLiteral
	} else if err := c.names(); err != nil || c.failure != nil {
		return err
	}
	c.narrow()
	return nil
}

// records follows Resolver.lookup: no hosts file, no sources, and nothing to sort.
func (c *call) records() error {
	c.r.load(c.n.Now())
	if !isDomainName(c.req.Host) {
		c.failure = notFound(probe.NXDomain)
		return nil
	}
	return c.dns()
}

// literal reads the host as an address. Before 1.21 an empty zone passed (parseIPv6Zone).
func (c *call) literal() (netip.Addr, error) {
	host := c.req.Host
	if bare, empty := strings.CutSuffix(host, "%"); empty && !c.r.feat.zoneNotEmpty && strings.Contains(bare, ":") {
		host = bare
	}
	return netip.ParseAddr(host)
}

// narrow drops addresses of the other family; only then an empty list is an error.
func (c *call) narrow() {
	if c.req.Family == resolver.Unspec {
		if len(c.addresses) == 0 {
			c.failure = &failure{outcome: probe.Unsent, text: ""}
		}
		return
	}
	if len(c.addresses) == 1 && c.addresses[0] == netip.IPv6Unspecified() {
		c.addresses = append(c.addresses, netip.IPv4Unspecified())
	}
	want4 := c.req.Family == resolver.Inet
	c.addresses = slices.DeleteFunc(c.addresses, func(a netip.Addr) bool { return a.Is4() != want4 })
	if len(c.addresses) == 0 {
		c.failure = &failure{outcome: probe.Fail, text: "no suitable address found"}
	}
}

// names follows lookupIP and goLookupIPCNAMEOrder.
func (c *call) names() error {
	c.r.load(c.n.Now())
	where := c.order()
	if (where == filesDNS || where == onlyFiles) && c.files() {
		return nil
	}
	if where == onlyFiles && !c.r.feat.filesNotFound {
		return nil
	}
	if where == onlyFiles || !isDomainName(c.req.Host) {
		c.failure = notFound(probe.NXDomain)
		return nil
	}
	if err := c.dns(); err != nil {
		return err
	}
	if len(c.addresses) == 0 && where == dnsFiles {
		c.files()
	}
	return nil
}

// types are the queries of an attempt, in the order in which they are asked.
func (c *call) types(attempt int) []probe.QueryType {
	if c.req.Record != "" {
		return []probe.QueryType{c.req.Record}
	}
	switch c.req.Family {
	case resolver.Inet:
		return []probe.QueryType{probe.TypeA}
	case resolver.Inet6:
		return []probe.QueryType{probe.TypeAAAA}
	}
	if c.r.first != nil && c.r.first(attempt) == probe.TypeAAAA {
		return []probe.QueryType{probe.TypeAAAA, probe.TypeA}
	}
	return []probe.QueryType{probe.TypeA, probe.TypeAAAA}
}

// dns tries the candidates until one has an address.
func (c *call) dns() error {
	list := nameList(c.req.Host, &c.r.conf, c.r.feat)
	if len(list) == 0 {
		c.Note("Go asks nobody for this name, and returns neither an address nor an error")
	}
	asIs := c.req.Host + "."
	for _, cand := range list {
		failed, err := c.attempt(cand)
		if err != nil {
			return err
		}
		if len(c.addresses) > 0 || c.found {
			c.failure, c.decided = nil, c.Attempts()
			break
		}
		for _, f := range failed {
			// The error for the name as it is counts more than others; of the others the first does.
			if c.failure == nil || cand.name == asIs {
				c.failure, c.decided = f, c.Attempts()
			}
		}
	}
	c.sort()
	return nil
}

// attempt asks for one candidate. It adds the addresses found to c.addresses and returns the errors of the queries, in order of
// their ends.
func (c *call) attempt(cand candidate) ([]*failure, error) {
	shown, sendable := wireName(cand.name)
	n := c.BeginAttempt(shown, cand.origin, cand.index)
	var failed []*failure
	var groups [][]probe.QueryType
	types := c.types(n)
	if c.r.conf.SingleRequest || c.r.conf.SingleRequestReopen {
		// Go always asks for A first here, whatever the scheduler does.
		slices.Sort(types)
		for _, t := range types {
			groups = append(groups, []probe.QueryType{t})
		}
	} else {
		groups = append(groups, types)
	}
	for _, group := range groups {
		walks := make([]*walk, len(group))
		for i, t := range group {
			walks[i] = c.newWalk(probe.Ref{Attempt: n, Type: t}, shown)
			if !sendable {
				walks[i].fail(&failure{outcome: probe.Unsent, text: "cannot marshal DNS message"})
			}
		}
		done, err := c.run(walks)
		if err != nil {
			return nil, err
		}
		for _, w := range done {
			if w.failure != nil {
				failed = append(failed, w.failure)
			}
			c.addresses = append(c.addresses, w.addresses...)
		}
	}
	c.EndAttempt(n, attemptOutcome(len(c.addresses) > 0 || c.found, failed))
	return failed, nil
}

// attemptOutcome is what an attempt came to: an address, else a query that failed, else that the name has no such records, or
// does not exist.
func attemptOutcome(ok bool, failed []*failure) probe.Outcome {
	if ok {
		return probe.OK
	}
	out := probe.NoData
	for i, f := range failed {
		if i == 0 || rank(f.outcome) > rank(out) {
			out = f.outcome
		}
	}
	return out
}

func rank(o probe.Outcome) int {
	switch o {
	case probe.NXDomain:
		return 0
	case probe.NoData:
		return 1
	}
	return 2
}
