package glibc

import (
	"net/netip"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// addressList is what the parsers of replies fill: addresses in order of arrival, and the canonical name.
type addressList struct {
	addrs []netip.Addr
	canon string
}

// pairAnswer follows gaih_getanswer: the addresses of both replies, the first one's status deciding. c.herr is set.
func (c *call) pairAnswer(f *found, buf *scratch) (addressList, status) {
	var out addressList
	slice := c.slice
	if !c.r.feat.chainParser {
		slice = c.oldSlice
	}
	st := notFound
	if f.first != nil {
		st = slice(f.first, buf, &out, true)
		if buf.failed {
			return out, tryAgain
		}
	}
	goOn := st == success || st == notFound || st == tryAgain && !c.r.feat.chainParser
	if f.second == nil || !goOn {
		return out, st
	}
	second := slice(f.second, buf, &out, st != success)
	if st != success && second != notFound {
		st = second
	}
	return out, st
}

// usable reports whether replies hold an address, without regard to the buffer.
func (c *call) usable(f *found) bool {
	herr := c.herr
	_, st := c.pairAnswer(f, &scratch{size: 1 << 30})
	c.herr = herr
	return st == success
}

// textBytes is the length of a name as text, without its final dot.
func textBytes(labels []string) int {
	if len(labels) == 0 {
		return 1
	}
	n := len(labels) - 1
	for _, l := range labels {
		n += len(l)
	}
	return n
}

// hostText returns a name as glibc hands it out: without the final dot.
func hostText(labels []string) string {
	name := resolver.JoinLabels(labels)
	if name == "." {
		return name
	}
	return name[:len(name)-1]
}

// question returns the name and type that a reply says it is about (__ns_rr_cursor_init).
func question(r *resolver.Reply) (labels []string, qtype uint16, ok bool) {
	if r.QDCount != 1 || len(r.Questions) != 1 {
		return nil, 0, false
	}
	labels, err := resolver.Labels(r.Questions[0].Name)
	return labels, r.Questions[0].Type, err == nil
}

func sameLabels(a []string, name string) bool {
	b, err := resolver.Labels(name)
	if err != nil || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !resolver.EqualFoldASCII(a[i], b[i]) {
			return false
		}
	}
	return true
}

// hasAddress reports whether rr is an address record of type qtype with data of the right length.
func hasAddress(rr *resolver.Record, qtype uint16) bool {
	return rr.Type == qtype && rr.Addr.IsValid() && (qtype == resolver.TypeA) == rr.Addr.Is4()
}

func (c *call) fail(herr hostErr, st status) status {
	c.herr = herr
	return st
}

// slice follows gaih_getanswer_slice since 2.37: addresses count that belong to the end of the CNAME chain which begins at
// the name in the question. Owners of CNAME records are not looked at.
func (c *call) slice(r *resolver.Reply, buf *scratch, out *addressList, storeCanon bool) status {
	expected, qtype, ok := question(r)
	if !ok {
		return c.fail(hostNoRecovery, unavail)
	}
	if r.ANCount == 0 || !resolver.IsHostName(expected) {
		return c.fail(hostNotFound, notFound)
	}
	alias := expected
	before := len(out.addrs)
	for i := range r.ANCount {
		if i >= len(r.Answers) {
			return c.fail(hostNoRecovery, unavail)
		}
		rr := &r.Answers[i]
		switch {
		case rr.Type == resolver.TypeCNAME:
			target, err := resolver.Labels(rr.Target)
			if err != nil || rr.Target == "" {
				return c.fail(hostNoRecovery, unavail)
			}
			expected = target
			if storeCanon && resolver.IsHostName(target) {
				alias = target
			}
		case hasAddress(rr, qtype) && sameLabels(expected, rr.Name):
			if !buf.alloc(tupleBytes, pointerBytes) {
				continue
			}
			if storeCanon {
				buf.text(textBytes(alias))
				out.canon, storeCanon = hostText(alias), false
			}
			out.addrs = append(out.addrs, rr.Addr)
		}
	}
	if len(out.addrs) == before {
		return c.fail(hostNotFound, notFound)
	}
	return c.fail(hostOK, success)
}

// hostAnswer follows getanswer_r since 2.37, the parser behind gethostbyname2.
func (c *call) hostAnswer(r *resolver.Reply, f family, buf *scratch) (addressList, status) {
	var out addressList
	expected, _, ok := question(r)
	if !ok {
		c.errno = errnoMsgSize
		return out, c.fail(hostNoRecovery, unavail)
	}
	if r.Rcode == resolver.RcodeNXDomain || !resolver.IsHostName(expected) {
		return out, c.fail(hostNotFound, notFound)
	}
	qtype := resolver.TypeNumber(f.query())
	addrBytes := 4
	if f == inet6 {
		addrBytes = 16
	}
	out.canon = hostText(expected)
	aliases := 1
	buf.text(textBytes(expected))
	for i := range r.ANCount {
		if i >= len(r.Answers) {
			c.errno = errnoMsgSize
			return out, c.fail(hostNoRecovery, unavail)
		}
		rr := &r.Answers[i]
		switch {
		case rr.Class != resolver.ClassIN:
		case rr.Type == resolver.TypeCNAME:
			target, err := resolver.Labels(rr.Target)
			if err != nil || rr.Target == "" {
				c.errno = errnoMsgSize
				return out, c.fail(hostNoRecovery, unavail)
			}
			if resolver.IsHostName(target) {
				buf.text(textBytes(target))
				aliases++
				out.canon = hostText(target)
			}
			expected = target
		case hasAddress(rr, qtype) && sameLabels(expected, rr.Name):
			buf.alloc(addrBytes, 4)
			out.addrs = append(out.addrs, rr.Addr)
		}
	}
	if len(out.addrs) == 0 {
		c.errno = errnoNoEntry
		return out, c.fail(hostNoRecovery, tryAgain)
	}
	buf.alloc((len(out.addrs)+1)*pointerBytes, pointerBytes)
	buf.alloc(aliases*pointerBytes, pointerBytes)
	return out, c.fail(hostOK, success)
}
