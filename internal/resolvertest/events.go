package resolvertest

import (
	"net/netip"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// byDNS is what Ended.AnsweredBy says of DNS.
const byDNS = "dns"

// Trace folds the events of a call.
func Trace(libc probe.Libc, events []probe.Event) probe.Resolution {
	const id = "r"
	var f probe.Fold
	f.Add(probe.Event{Kind: probe.KindBegin, Resolution: id, Begin: &probe.Begin{Libc: libc, Variant: probe.VariantNow}})
	for _, ev := range events {
		ev.Resolution = id
		f.Add(ev)
	}
	return *f.Resolution(id)
}

// CheckEvents checks that the events of a call fold into a trace without loose ends that says what the result says, and returns
// the trace.
func CheckEvents(t *testing.T, libc probe.Libc, what string, events []probe.Event, res resolver.Result) probe.Resolution {
	t.Helper()
	if len(events) == 0 || events[len(events)-1].Kind != probe.KindEnded {
		t.Fatalf("%s: the last of %d events is not the end", what, len(events))
	}
	sent := 0
	for _, ev := range events {
		if ev.Kind == probe.KindSent {
			sent++
		}
	}
	r := Trace(libc, events)
	if r.Outcome != res.Outcome || r.Code != res.Code || len(r.Addresses) != len(res.Addresses) {
		t.Errorf("%s: the trace says %s %q %v, the result %+v", what, r.Outcome, r.Code, r.Addresses, res)
	}
	for _, addr := range res.Addresses {
		if addr == (netip.Addr{}) {
			t.Errorf("%s: an address is none", what)
		}
	}
	if r.TransmissionsSent != sent {
		t.Errorf("%s: %d of %d transmissions are in the trace", what, r.TransmissionsSent, sent)
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
	if len(r.Attempts) > 0 && r.AnsweredBy == byDNS && decided != 1 {
		t.Errorf("%s: %d attempts decided", what, decided)
	}
	return r
}

func checkTransmissions(t *testing.T, what string, a probe.Attempt) {
	t.Helper()
	for _, q := range a.Queries {
		for _, tr := range q.Transmissions {
			if tr.Server == "" || tr.Reply == "" {
				t.Errorf("%s: attempt %d %s try %d: nothing came of it", what, a.N, q.Type, tr.Try)
			}
			if tr.Received != nil && *tr.Received < tr.Sent {
				t.Errorf("%s: attempt %d %s try %d: answered before it was sent", what, a.N, q.Type, tr.Try)
			}
		}
	}
}
