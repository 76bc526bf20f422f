package glibc

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"

// oldSlice follows gaih_getanswer_slice up to 2.36: addresses of both types count whatever their owner, but a name that is no
// host name ends the parsing.
func (c *call) oldSlice(r *resolver.Reply, buf *scratch, out *addressList, first bool) status {
	name, _, ok := question(r)
	if !ok || !resolver.IsHostName(name) {
		c.errno = errnoOther
		return c.fail(hostNoRecovery, unavail)
	}
	if r.ANCount == 0 {
		return c.fail(hostNotFound, notFound)
	}
	before, canon := len(out.addrs), ""
	for i := range r.Answers {
		rr := &r.Answers[i]
		owner, err := resolver.Labels(rr.Name)
		if err != nil || !resolver.IsHostName(owner) {
			break
		}
		if !buf.room(textBytes(owner) + 1) {
			return c.tooSmall(buf)
		}
		held := 0
		if first && canon == "" {
			held = textBytes(owner) + 1
			buf.alloc(held, 1)
		}
		if rr.Class != resolver.ClassIN {
			continue
		}
		if rr.Type == resolver.TypeCNAME {
			target, err := resolver.Labels(rr.Target)
			if err != nil || rr.Target == "" || !resolver.IsHostName(target) {
				break
			}
			if first {
				buf.used -= held
				if !buf.text(textBytes(target)) {
					return c.tooSmall(buf)
				}
				canon = hostText(target)
			}
			continue
		}
		if !hasAddress(rr, rr.Type) {
			if rr.Type == resolver.TypeA || rr.Type == resolver.TypeAAAA {
				break
			}
			continue
		}
		if !buf.alloc(tupleBytes, pointerBytes) {
			return c.tooSmall(buf)
		}
		if first {
			if out.canon = canon; canon == "" {
				out.canon = hostText(owner)
			}
			first = false
		}
		out.addrs = append(out.addrs, rr.Addr)
	}
	switch {
	case len(out.addrs) > before:
		return c.fail(hostOK, success)
	case canon != "":
		return c.fail(hostNotFound, notFound)
	}
	c.errno = errnoOther
	return c.fail(hostInternal, tryAgain)
}

// tooSmall asks the caller for a larger buffer.
func (c *call) tooSmall(buf *scratch) status {
	buf.failed = true
	c.errno = errnoRange
	return c.fail(hostInternal, tryAgain)
}

// oldHostData is sizeof (struct host_data) in getanswer_r up to 2.36: 48 alias pointers and an address.
const oldHostData = 48*pointerBytes + 16

// oldHostAnswer follows getanswer_r up to 2.36.
func (c *call) oldHostAnswer(r *resolver.Reply, f family, buf *scratch) (addressList, status) {
	var out addressList
	name, _, ok := question(r)
	if !ok || !resolver.IsHostName(name) {
		c.errno = errnoOther
		return out, c.fail(hostNoRecovery, unavail)
	}
	if !buf.alloc(oldHostData+(r.ANCount+1)*pointerBytes, 1) || !buf.text(textBytes(name)) {
		return out, c.tooSmall(buf)
	}
	qtype := resolver.TypeNumber(f.query())
	addrBytes := 4
	if f == inet6 {
		addrBytes = 16
	}
	out.canon = hostText(name)
	for i := range r.Answers {
		rr := &r.Answers[i]
		owner, err := resolver.Labels(rr.Name)
		if err != nil || !resolver.IsHostName(owner) {
			break
		}
		if !buf.room(textBytes(owner) + 1) {
			return out, c.tooSmall(buf)
		}
		if rr.Class != resolver.ClassIN {
			continue
		}
		if rr.Type == resolver.TypeCNAME {
			target, err := resolver.Labels(rr.Target)
			if err != nil || rr.Target == "" || !resolver.IsHostName(target) {
				break
			}
			if !buf.text(textBytes(owner)) || !buf.text(textBytes(target)) {
				return out, c.tooSmall(buf)
			}
			name, out.canon = target, hostText(target)
			continue
		}
		if rr.Type != qtype || !sameLabels(name, rr.Name) {
			continue
		}
		if !hasAddress(rr, qtype) {
			break
		}
		if len(out.addrs) == 0 {
			buf.text(textBytes(owner))
		}
		if !buf.alloc(addrBytes, 4) {
			return out, c.tooSmall(buf)
		}
		out.addrs = append(out.addrs, rr.Addr)
	}
	if len(out.addrs) > 0 {
		return out, c.fail(hostOK, success)
	}
	c.errno = errnoNoEntry
	return out, c.fail(hostNoRecovery, tryAgain)
}
