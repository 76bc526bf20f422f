package dnsnet

import (
	"math/rand/v2"
	"net/netip"
)

// Options change how a Network reaches its servers. The zero Options are those of production.
type Options struct {
	// Port replaces port 53 of every server, 0 keeps it. Senders on that port are reported as port 53, so that resolvers
	// never see the difference. It is for tests and for servers on a machine where port 53 is taken.
	Port uint16
}

const dnsPort = 53

// outward returns where a message for server really goes.
func (o Options) outward(server netip.AddrPort) netip.AddrPort {
	if o.Port != 0 && server.Port() == dnsPort {
		return netip.AddrPortFrom(server.Addr(), o.Port)
	}
	return server
}

// inward returns whom a message from sender is reported to come from.
func (o Options) inward(sender netip.AddrPort) netip.AddrPort {
	if o.Port != 0 && sender.Port() == o.Port {
		return netip.AddrPortFrom(sender.Addr(), dnsPort)
	}
	return sender
}

// random16 is as hard to guess as the runtime's ChaCha8 source (seeded by the kernel), which is what message ids need
// against off-path answers.
func random16() uint16 { return uint16(rand.Uint32()) }
