package glibc

import (
	"errors"
	"syscall"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// headerBytes is the size of a DNS header.
const headerBytes = 12

// exchange is one run of __res_context_send: the queries of one attempt, asked until a server answers.
type exchange struct {
	*call
	attempt int
	// queries are one, or an A and an AAAA query.
	queries []resolver.Query

	// first and second are the buffers for replies, in order of arrival. What is in them need not have counted.
	first, second *resolver.Reply
	// size and size2 are the lengths that C returns: size is 0 when the first reply did not count; size2 is 0 without a
	// second one and 1 when glibc gave up on it.
	size, size2 int
	// tcp is v_circuit.
	tcp bool
	// gotSomewhere tells a timeout from servers that all refused.
	gotSomewhere bool
	terrno       errno

	// silent, rejected and unreachable remember how servers failed, for the attempt's outcome.
	silent, unreachable bool
	rejected            probe.Outcome
}

func (x *exchange) pair() bool { return len(x.queries) == 2 }

// failed is what the C functions return for a recoverable error: the next server is tried.
func (x *exchange) failed() int {
	x.closeAll()
	x.size2 = 0
	return 0
}

// store puts a reply into the first buffer, or into the second when a reply of the pair was seen before.
func (x *exchange) store(reply *resolver.Reply, seen bool) {
	if seen && x.pair() {
		x.second, x.size2 = reply, reply.Size
		return
	}
	x.first, x.size = reply, reply.Size
	x.moved = x.moved || reply.Size > x.packetBuffer
	if !reply.Short {
		x.setHeader(reply.Rcode)
	}
}

func (c *call) setHeader(rcode int) {
	if !c.moved {
		c.headerRcode = rcode
	}
}

// send follows __res_context_send. It returns the length of the first reply, or -1 with c.errno set. Both replies are in
// x.first and x.second.
func (x *exchange) send() (int, error) {
	conf := &x.r.conf
	x.tcp, x.terrno = conf.UseVC, errnoTimedOut
	servers := len(conf.Nameservers)
	offset := x.r.nameserverOffset(x.n)
	for try := 0; try < conf.Attempts; try++ {
		for shift := range servers {
			ns := (shift + offset) % servers
			n, err := 0, error(nil)
			if !x.tcp {
				n, err = x.askUDP(ns)
			}
			if x.tcp && err == nil {
				// At most one round over the servers, also when TCP was taken up in the middle of one.
				try = conf.Attempts
				n, err = x.askTCP(ns)
			}
			switch {
			case errors.Is(err, syscall.EAFNOSUPPORT):
				x.Note("%v: glibc gives the whole lookup up for a server that it has no socket for", err)
				x.unreachable, x.errno = true, errnoOther
				return -1, nil
			case err != nil:
				return -1, err
			case n == 0 && x.size2 == 0:
				continue
			}
			x.closeAll()
			return n, nil
		}
	}
	x.closeAll()
	switch {
	case x.tcp:
		x.errno = x.terrno
	case x.gotSomewhere:
		x.errno = errnoTimedOut
	default:
		x.errno = errnoRefused
	}
	return -1, nil
}

// nameserverOffset follows nameserver_offset: a random start, then one further with every attempt.
func (r *Resolver) nameserverOffset(n resolver.Network) int {
	servers := len(r.conf.Nameservers)
	if servers <= 1 || !r.conf.Rotate {
		return 0
	}
	if !r.rotationStarted {
		r.rotation, r.rotationStarted = uint32(n.Random16()), true
	}
	offset := r.rotation
	r.rotation++
	return int(offset % uint32(servers))
}

// failure is the attempt's outcome when send returned -1.
func (x *exchange) failure() probe.Outcome {
	switch {
	case x.headerRcode == resolver.RcodeServFail:
		// glibc takes the last header it saw for what happened, also when silence followed.
		return probe.ServFail
	case x.silent:
		return probe.Timeout
	case x.rejected != "":
		return x.rejected
	case x.unreachable:
		return probe.Unreachable
	}
	return probe.Unsent
}

func (x *exchange) ref(i int) probe.Ref {
	return probe.Ref{Attempt: x.attempt, Type: x.queries[i].Type}
}
