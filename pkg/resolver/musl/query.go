package musl

import (
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// maxQueryName is the longest name in bytes that musl puts into a query, without its final dot.
const maxQueryName = 253

// queries builds the queries for a name, and the name as it is shown.
//
// musl takes its ids from the clock, which moves on between two queries; here they are random. They differ: since 1.2.4 musl sees to
// it, in the first byte.
func (c *call) queries(name string, types []probe.QueryType) (out []resolver.Query, shown string, err error) {
	labels, broken, err := c.r.encode(name)
	if err != nil {
		return nil, "", err
	}
	shown = resolver.JoinLabels(labels)
	if broken {
		shown = resolver.ShowName(name)
	}
	for _, t := range types {
		q := resolver.Query{ID: c.n.Random16(), Name: shown, Type: t}
		for len(out) > 0 && q.ID>>8 == out[0].ID>>8 {
			q.ID += 1 << 8
		}
		if broken {
			q.Wire = brokenMessage(labels, q)
		}
		out = append(out, q)
	}
	return out, shown, nil
}

// encode follows __res_mkquery. A backslash has no meaning to it, and any byte but a dot is part of a label. broken tells that the
// name ended in two dots: versions before 1.2.4 then build a message that is none.
func (r *Resolver) encode(name string) (labels []string, broken bool, err error) {
	name = strings.TrimSuffix(name, ".")
	if name, broken = strings.CutSuffix(name, "."); broken && r.feat.skipUnsendable {
		return nil, false, errUnsendable
	}
	size := len(name)
	if broken {
		size++
	}
	if size > maxQueryName {
		return nil, false, errUnsendable
	}
	if name == "" {
		return nil, broken, nil
	}
	labels = strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > resolver.MaxLabelBytes {
			return nil, false, errUnsendable
		}
	}
	return labels, broken, nil
}

// brokenMessage is the message for a name that ends in two dots: the second dot stays where the root label should be, as the
// length of a label of 46 bytes that is not there, and one byte too many follows at the end.
func brokenMessage(labels []string, q resolver.Query) []byte {
	wire := []byte{byte(q.ID >> 8), byte(q.ID), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for _, label := range labels {
		wire = append(append(wire, byte(len(label))), label...)
	}
	return append(wire, '.', 0, byte(resolver.TypeNumber(q.Type)), 0, byte(resolver.ClassIN), 0)
}
