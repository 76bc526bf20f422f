package musl

import (
	"net/netip"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// expectedAddresses are the addresses as the recording program prints them: without hints once for UDP and once for TCP.
func expectedAddresses(call scenario.Call, addrs []netip.Addr) []netip.Addr {
	if !call.NullHints {
		return addrs
	}
	var out []netip.Addr
	for _, a := range addrs {
		out = append(out, a, a)
	}
	return out
}

// checkEvents checks that the events of a call fold into a trace without loose ends.
func checkEvents(t *testing.T, what string, events []probe.Event, res resolver.Result) {
	t.Helper()
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: "r", Begin: &probe.Begin{Libc: probe.Musl, Variant: probe.VariantNow}})
	sent := 0
	for _, ev := range events {
		ev.Resolution = "r"
		f.Add(ev)
		if ev.Kind == probe.KindSent {
			sent++
		}
	}
	if len(events) == 0 || events[len(events)-1].Kind != probe.KindEnded {
		t.Fatalf("%s: the last of %d events is not the end", what, len(events))
	}
	r := f.Resolution("r")
	if r.Outcome != res.Outcome || r.Code != res.Code || len(r.Addresses) != len(res.Addresses) {
		t.Errorf("%s: the trace says %s %q %v, the result %+v", what, r.Outcome, r.Code, r.Addresses, res)
	}
	if r.TransmissionsSent != sent {
		t.Errorf("%s: %d of %d transmissions are in the trace", what, r.TransmissionsSent, sent)
	}
	if len(r.Attempts) > 0 && r.AnsweredBy != byDNS {
		t.Errorf("%s: %d attempts, answered by %q", what, len(r.Attempts), r.AnsweredBy)
	}
	decided := 0
	for _, a := range r.Attempts {
		if a.Outcome == "" {
			t.Errorf("%s: attempt %d (%s) has no outcome", what, a.N, a.Name)
		}
		if a.Decided {
			decided++
		}
		checkTransmissions(t, what, a)
	}
	if len(r.Attempts) > 0 && decided != 1 {
		t.Errorf("%s: %d attempts decided", what, decided)
	}
}

func checkTransmissions(t *testing.T, what string, a probe.Attempt) {
	t.Helper()
	for _, q := range a.Queries {
		for _, tr := range q.Transmissions {
			if tr.Reply == "" {
				t.Errorf("%s: attempt %d %s try %d: nothing came of it", what, a.N, q.Type, tr.Try)
			}
			if tr.Received != nil && *tr.Received < tr.Sent {
				t.Errorf("%s: attempt %d %s try %d: answered before it was sent", what, a.N, q.Type, tr.Try)
			}
		}
	}
}
