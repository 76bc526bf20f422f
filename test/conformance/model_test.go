//go:build linux

package conformance

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// checkModel compares what our resolver did over real sockets with what it does on the model, in everything but times: the
// predictions that people are shown rest on the two being the same. It returns how many cases were alike.
//
// Left out are processes that were killed or crashed (the model has no limit, and the kernel sends SYNs again) and servers
// without a route (to the model they are closed ports).
func checkModel(t *testing.T, b *Bench, all []*ran) (alike int) {
	t.Helper()
	for _, r := range all {
		if r.err != nil || r.ours.Killed || r.ours.Crashed || b.hasNoRoute(r.c) {
			continue
		}
		var model Prediction
		difference := ""
		for _, start := range b.rotateStarts(r.c, r.ours) {
			var err error
			if model, err = Predict(r.c, b.Library, start, disturbance{}); err != nil {
				t.Fatalf("%s: %v", r.c.Name, err)
			}
			if difference = b.modelDiffers(model, r.ours); difference == "" {
				break
			}
		}
		if difference == "" {
			alike++
		} else {
			t.Errorf("%s%s: the model differs from sockets: %s\non the model\n%sover sockets\n%s",
				r.c.Name, r.repeat(t), difference, listing(model.Packets), listing(r.ours.Packets))
		}
	}
	return alike
}

// modelDiffers says in what an outcome is not as it is on the model; empty when in nothing. Addresses are compared without their
// order, which depends on what the kernel chooses as sources.
func (l Library) modelDiffers(model Prediction, ours Outcome) string {
	packets, sent := withoutRepeatedSYNs(model.Packets), withoutRepeatedSYNs(ours.Packets)
	for i := range packets {
		// A zone is no part of an address on the wire.
		packets[i].Server = packets[i].Server.WithZone("")
	}
	if l.Libc == probe.CAres {
		packets, sent = byName(packets), byName(sent)
	}
	if diff := scenario.CompareAll(untimed(packets), untimed(sent)); len(diff) > 0 {
		return diff[0].String()
	}
	var codes []int
	for _, name := range model.Codes {
		code, known := l.code(name)
		if !known {
			return fmt.Sprintf("the model returns the unknown code %q", name)
		}
		codes = append(codes, code)
	}
	var returned []int
	var addresses []netip.Addr
	for _, r := range ours.Calls {
		returned = append(returned, r.Code)
		addresses = append(addresses, r.Addresses...)
	}
	if !slices.Equal(codes, returned) {
		return fmt.Sprintf("the model returns %v, over sockets it is %v", codes, returned)
	}
	if a, b := sortedAddresses(model.Addresses), sortedAddresses(addresses); !slices.Equal(a, b) {
		return fmt.Sprintf("the model finds %v, over sockets it is %v", a, b)
	}
	return ""
}

// withoutRepeatedSYNs leaves out what the kernel sends again while a connection is not answered, which the model does not.
func withoutRepeatedSYNs(packets []scenario.Packet) (out []scenario.Packet) {
	opened := map[int]bool{}
	for _, p := range packets {
		if p.Transport == scenario.SYN {
			if opened[p.Socket] {
				continue
			}
			opened[p.Socket] = true
		}
		out = append(out, p)
	}
	return out
}

func sortedAddresses(list []netip.Addr) []netip.Addr {
	return slices.SortedFunc(slices.Values(list), netip.Addr.Compare)
}

// hasNoRoute reports whether a name server is not on the loopback, which is all that a case's namespace has, or has no address there.
func (b *Bench) hasNoRoute(c *Case) bool {
	for _, s := range b.config(c).Nameservers {
		if !s.IsLoopback() || s.Is6() && c.NoIPv6 {
			return true
		}
	}
	return false
}

// TestModelDiffers: what the comparison with the model sees.
func TestModelDiffers(t *testing.T) {
	glibc := Library{Libc: probe.Glibc, Version: "2.36"}
	server, found := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("192.0.2.1")
	syn := scenario.Packet{Transport: scenario.SYN, Server: server, Socket: 1}
	model := Prediction{Codes: []string{""}, Addresses: []netip.Addr{found}, Packets: []scenario.Packet{syn}}
	again := syn
	again.At = time.Second
	for name, c := range map[string]struct {
		ours  Outcome
		alike bool
	}{
		"alike":            {Outcome{Calls: []Result{{Addresses: []netip.Addr{found}}}, Packets: []scenario.Packet{syn}}, true},
		"the kernel's SYN": {Outcome{Calls: []Result{{Addresses: []netip.Addr{found}}}, Packets: []scenario.Packet{syn, again}}, true},
		"a packet less":    {Outcome{Calls: []Result{{Addresses: []netip.Addr{found}}}}, false},
		"another code":     {Outcome{Calls: []Result{{Code: -2}}, Packets: []scenario.Packet{syn}}, false},
		"another address":  {Outcome{Calls: []Result{{Addresses: []netip.Addr{server}}}, Packets: []scenario.Packet{syn}}, false},
	} {
		if difference := glibc.modelDiffers(model, c.ours); (difference == "") != c.alike {
			t.Errorf("%s: %q", name, difference)
		}
	}
}
