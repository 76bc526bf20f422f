package golang

import (
	"net/netip"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

const (
	// ednsBytes is maxDNSPacketSize: what the OPT record says, and the buffer for datagrams.
	ednsBytes = 1232
	// oldBufferBytes was the buffer before.
	oldBufferBytes = 512
)

// walk is tryOneName for one query as a state machine: for each attempt of the option `attempts`, each server in turn. In Go it
// is a goroutine of its own.
type walk struct {
	*call
	ref  probe.Ref
	name string
	// offset is the first server, next counts exchanges.
	offset, next int

	// flight is the transmission under way; its socket is nil when the walk is over. sent tells whether the message has gone
	// out: over TCP it waits for the connection.
	flight   flight
	sent     bool
	deadline time.Time

	over      bool
	failure   *failure
	addresses []netip.Addr
}

// newWalk takes a turn of the option rotate, as every query does.
func (c *call) newWalk(ref probe.Ref, name string) *walk {
	w := &walk{call: c, ref: ref, name: name}
	if servers := uint32(len(c.r.conf.Nameservers)); c.r.conf.Rotate {
		w.offset = int(c.r.rotation % servers)
		c.r.rotation++
	}
	return w
}

// run carries walks to their ends, and returns them in the order in which they got there.
func (c *call) run(walks []*walk) (done []*walk, err error) {
	defer func() {
		for _, w := range walks {
			w.hangUp(probe.ReplyAbandoned)
		}
	}()
	ended := map[*walk]bool{}
	collect := func(w *walk) {
		if w.over && !ended[w] {
			ended[w] = true
			done = append(done, w)
		}
	}
	for _, w := range walks {
		if !w.over {
			if err := w.exchange(); err != nil {
				return nil, err
			}
		}
		collect(w)
	}
	for len(done) < len(walks) {
		if err := c.step(walks); err != nil {
			return nil, err
		}
		for _, w := range walks {
			collect(w)
		}
	}
	return done, nil
}

// step waits for one event and hands it to the walk it is for.
func (c *call) step(walks []*walk) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	var deadline time.Time
	for _, w := range walks {
		if !w.over && (deadline.IsZero() || w.deadline.Before(deadline)) {
			deadline = w.deadline
		}
	}
	ev, err := c.n.Poll(deadline)
	if err != nil {
		return err
	}
	for _, w := range walks {
		switch {
		case w.over:
		case ev.Kind == resolver.EventDeadline && !w.deadline.After(c.n.Now()):
			err = w.failed(&failure{outcome: probe.Timeout, text: textTimeout}, probe.ReplyLost)
		case ev.Kind != resolver.EventDeadline && ev.Socket == w.flight.socket.id:
			return w.take(ev)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fail ends the walk without addresses.
func (w *walk) fail(f *failure) { w.over, w.failure = true, f }

// failed notes that an exchange came to nothing and goes on to the next server.
func (w *walk) failed(f *failure, lost string) error {
	w.hangUp(lost)
	w.failure = f
	return w.exchange()
}

// hangUp closes the socket; a transmission that waits is lost for this reason.
func (w *walk) hangUp(reason string) {
	if w.flight.socket == nil {
		return
	}
	if w.sent && reason != "" {
		w.Lost(w.flight.ref, w.flight.socket.number, w.flight.id, reason)
	}
	w.n.Close(w.flight.socket.id)
	w.flight.socket, w.sent = nil, false
}

// exchange starts the next exchange, with a socket and an id of its own; after the last one the walk is over.
func (w *walk) exchange() error {
	conf := &w.r.conf
	for ; w.next < conf.Attempts*len(conf.Nameservers); w.next++ {
		transport := probe.UDP
		if conf.UseVC {
			transport = probe.TCP
		}
		w.flight = flight{ref: w.ref, id: w.n.Random16()}
		started, err := w.dial(transport, w.server())
		if err != nil {
			return err
		}
		if started {
			w.next++
			return nil
		}
	}
	w.over = true
	return nil
}

// server is the one that the next exchange is with.
func (w *walk) server() netip.Addr {
	servers := w.r.conf.Nameservers
	return servers[(w.offset+w.next)%len(servers)]
}

// dial opens a socket, and sends over UDP. started is false when that failed in a way that a program in the pod would see, too.
func (w *walk) dial(t probe.Transport, server netip.Addr) (started bool, err error) {
	w.deadline = w.n.Now().Add(time.Duration(w.r.conf.TimeoutSeconds) * time.Second)
	s, err := w.open(t, server)
	if err != nil {
		if !dialFailed(err) {
			return false, err
		}
		w.failure = ofSocket(err)
		w.Note("%v: Go goes on to the next server", err)
		return false, nil
	}
	w.flight.socket = s
	return t == probe.TCP || w.send(), nil
}

// send hands over the query.
func (w *walk) send() bool {
	q := resolver.Query{ID: w.flight.id, Name: w.name, Type: w.ref.Type, AD: w.r.conf.TrustAD}
	if w.r.feat.edns && !w.r.ednsOff() {
		q.EDNSSize = ednsBytes
	}
	// The time is taken before: a reply can be there before Send returns.
	w.flight.at = w.n.Now()
	s := w.flight.socket
	if err := w.n.Send(s.id, s.server, q); err != nil {
		w.failure = ofSocket(err)
		w.Note("%v: Go goes on to the next server", err)
		w.hangUp("")
		return false
	}
	w.sent = true
	w.Sent(w.flight.at, w.flight.exchange(), w.flight.id)
	return true
}

// take handles what came on the walk's socket.
func (w *walk) take(ev resolver.Event) error {
	s := w.flight.socket
	switch ev.Kind {
	case resolver.EventConnected:
		if !w.send() {
			return w.exchange()
		}
		return nil
	case resolver.EventReply:
		return w.reply(ev)
	case resolver.EventClosed:
		return w.failed(&failure{outcome: probe.Unreachable, text: "EOF"}, probe.ReplyClosed)
	default:
		if !w.sent {
			w.Note("connect to %s over %s: %v", s.server, s.transport, ev.Err)
		}
		return w.failed(ofSocket(ev.Err), resolver.LostReason(ev.Err))
	}
}

// reply handles a message. Over UDP what does not match is passed over (dnsPacketRoundTrip), over TCP it is an error.
func (w *walk) reply(ev resolver.Event) error {
	f := w.flight
	udp := f.socket.transport == probe.UDP
	reply := w.readable(ev.Reply, udp)
	if why := w.mismatch(&reply); why != "" {
		if udp {
			w.received(f, ev, probe.UseIgnored)
			return nil
		}
		w.received(f, ev, probe.UseRejected)
		w.sent = false
		return w.failed(&failure{outcome: probe.Fail, text: why}, "")
	}
	w.sent = false
	if reply.QDCount != 1 {
		w.received(f, ev, probe.UseRejected)
		return w.failed(&failure{outcome: probe.Fail, text: textInvalid}, "")
	}
	if reply.TC && udp {
		w.received(f, ev, probe.UseAccepted)
		return w.overTCP()
	}
	if reply.TC && !w.r.feat.truncatedTCP {
		w.received(f, ev, probe.UseRejected)
		return w.failed(&failure{outcome: probe.Fail, text: textNoAnswer}, "")
	}
	if bad := w.judge(&reply); bad != nil {
		w.received(f, ev, probe.UseRejected)
		return w.failed(bad, "")
	}
	w.received(f, ev, probe.UseAccepted)
	w.hangUp("")
	w.over = true
	return nil
}

// overTCP asks the same server again with the same id, and a whole timeout of its own.
func (w *walk) overTCP() error {
	server := w.flight.socket.server.Addr()
	w.hangUp("")
	if started, err := w.dial(probe.TCP, server); err != nil || started {
		return err
	}
	return w.exchange()
}
