package resolver

import (
	"encoding/json"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// clock is a Network of which a Trace sees the time and the ports.
type clock struct {
	Network
	now time.Time
}

func (c *clock) Now() time.Time            { return c.now }
func (c *clock) LocalPort(s Socket) uint16 { return 40000 + uint16(s) }

// TestTrace: attempts and tries are numbered, times count from the start, and an attempt ends once.
func TestTrace(t *testing.T) {
	n := &clock{now: time.Unix(1000, 0)}
	var lines []string
	tr := NewTrace(n, func(ev probe.Event) {
		line, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	})
	want := func(what string, parts ...string) {
		t.Helper()
		if len(lines) != 1 {
			t.Fatalf("%s: %d events, want 1: %q", what, len(lines), lines)
		}
		for _, p := range parts {
			if !strings.Contains(lines[0], p) {
				t.Errorf("%s: %s has no %s", what, lines[0], p)
			}
		}
		lines = nil
	}
	tr.EndLast(probe.Timeout)
	if len(lines) != 0 {
		t.Errorf("no attempt was open, and one ended: %q", lines)
	}
	if a := tr.BeginAttempt("x.", probe.OriginAsIs, -1); a != 1 || tr.Attempts() != 1 {
		t.Errorf("attempt %d of %d, want 1 of 1", a, tr.Attempts())
	}
	want("attempt", `"n":1`, `"name":"x."`)
	x := Exchange{Ref: probe.Ref{Attempt: 1, Type: probe.TypeA}, Server: netip.MustParseAddrPort("127.0.0.2:53"), Transport: probe.UDP, Socket: 7, Number: 2}
	tr.Sent(n.now, x, 11)
	want("first try", `"try":1`, `"server":"127.0.0.2:53"`, `"socket":2`, `"localPort":40007`)
	n.now = n.now.Add(1500 * time.Millisecond)
	tr.Sent(n.now, x, 11)
	want("second try", `"try":2`, `1500`)
	if tr.Tries(x.Ref) != 2 {
		t.Errorf("%d tries, want 2", tr.Tries(x.Ref))
	}
	if at := tr.Arrival(Event{}); !at.Equal(n.now) {
		t.Errorf("an event without a time came at %s, want now", at)
	}
	tr.Received(tr.Start().Add(-time.Millisecond), x, &Reply{ID: 11, Rcode: RcodeNXDomain}, probe.UseAccepted)
	want("reply", `"rcode":"NXDOMAIN"`, `"socket":2`)
	tr.Lost(x.Ref, x.Number, 11, probe.ReplyLost)
	want("lost", `"socket":2`, `1500`)
	tr.EndLast(probe.NXDomain)
	want("end of the attempt", `"n":1`)
	tr.EndLast(probe.Fail)
	if len(lines) != 0 {
		t.Errorf("the attempt ended twice: %q", lines)
	}
	tr.Ended(Result{Outcome: probe.OK, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}, 1, ByDNS)
	want("end", `"192.0.2.1"`, `"dns"`, `1500`)
}

// TestReceivedIsNeverBeforeTheStart: the kernel's clock may be a little behind.
func TestReceivedIsNeverBeforeTheStart(t *testing.T) {
	var got probe.Event
	tr := NewTrace(&clock{now: time.Unix(1000, 0)}, func(ev probe.Event) { got = ev })
	tr.Received(tr.Start().Add(-time.Second), Exchange{}, &Reply{}, probe.UseAccepted)
	if got.At != 0 {
		t.Errorf("at %v, want 0", got.At)
	}
}

func TestLostReason(t *testing.T) {
	for err, want := range map[error]string{
		ErrRefused: probe.ReplyICMPRefused, ErrReset: probe.ReplyClosed, ErrUnreachable: probe.ReplyUnreachable, syscall.ENETDOWN: probe.ReplyUnreachable,
	} {
		if got := LostReason(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

func TestEAIOutcome(t *testing.T) {
	for code, want := range map[string]probe.Outcome{
		"": probe.OK, "EAI_NONAME": probe.NXDomain, "EAI_NODATA": probe.NoData, "EAI_AGAIN": probe.Again, "EAI_SYSTEM": probe.Fail,
	} {
		if got := EAIOutcome(code); got != want {
			t.Errorf("%q: %s, want %s", code, got, want)
		}
	}
}
