// Package viewtest tells hand-made runs as event streams, for the tests of the faces. No file of the program imports it.
package viewtest

import (
	"math"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Server is the nameserver of the runs made here.
const Server = "198.19.0.10"

// Start is when the runs made here start.
var Start = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// Ms is a time in milliseconds, to the microsecond.
func Ms(ms float64) probe.Millis {
	return probe.Millis(time.Duration(math.Round(ms*1000)) * time.Microsecond)
}

// Stream collects the events of a run.
type Stream struct {
	Events []probe.Event
	id     string
	nextID uint16
}

// Open begins a stream in pod shop/payments-7d4, which runs glibc 2.36.
func Open(search ...string) *Stream {
	replicas := int32(3)
	s := &Stream{nextID: 48213}
	s.Events = []probe.Event{
		{Kind: probe.KindRun, Run: &probe.Header{
			Schema: probe.Schema, Tool: probe.Tool{Version: "v0.1.0", Agent: "v0.1.0"},
			Target: probe.Target{
				Namespace: "shop", Pod: "payments-7d4", Container: "app", Node: "node-a", Via: "ephemeral",
				Owner: &probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "payments", Replicas: &replicas},
			},
		}},
		{Kind: probe.KindSettings, Settings: &probe.Settings{
			Raw: "nameserver " + Server + "\noptions ndots:5\n", Nameservers: []string{Server}, Search: search,
			Ndots: 5, TimeoutSeconds: 5, Attempts: 2, Options: []string{"ndots:5"}, Source: "target",
		}},
		{Kind: probe.KindResolver, Resolver: &probe.Resolver{
			Libc: probe.Glibc, Version: "2.36",
			Source: probe.SourceDetected, Why: "read from the container",
		}},
	}
	return s
}

// ClusterSearch is the search list of a pod in namespace shop on a cloud node.
var ClusterSearch = []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"}

// Add appends an event.
func (s *Stream) Add(ev probe.Event) *Stream {
	s.Events = append(s.Events, ev)
	return s
}

// Begin begins a resolution under the settings as they are.
func (s *Stream) Begin(id, host string) *Stream {
	s.id = id
	return s.Add(probe.Event{Kind: probe.KindBegin, Resolution: id, Begin: &probe.Begin{
		Host:    host,
		Variant: probe.VariantNow, Libc: probe.Glibc, Source: probe.Measured, StartedAt: Start,
	}})
}

// Through begins a resolution by a libc; any but the first is there to be compared with that.
func (s *Stream) Through(id, host string, libc probe.Libc, version string) *Stream {
	s.Begin(id, host)
	b := s.Events[len(s.Events)-1].Begin
	b.Libc, b.LibcVersion = libc, version
	for _, ev := range s.Events[:len(s.Events)-1] {
		if ev.Kind == probe.KindBegin {
			b.Purpose = probe.PurposeCompare
		}
	}
	return s
}

// Attempt opens attempt n; index is that of the search domain, -1 for the host as it is.
func (s *Stream) Attempt(at float64, n int, name string, index int) *Stream {
	origin := probe.OriginSearch
	if index < 0 {
		origin = probe.OriginAsIs
	}
	return s.event(at, probe.Event{
		Kind:    probe.KindAttempt,
		Attempt: &probe.Try{N: n, Name: name, Origin: origin, SearchIndex: index},
	})
}

// Sent reports the try-th message for a query, over UDP on socket 1.
func (s *Stream) Sent(at float64, n int, typ probe.QueryType, try int) *Stream {
	return s.event(at, probe.Event{Kind: probe.KindSent, Sent: &probe.Sent{
		Ref: probe.Ref{Attempt: n, Type: typ}, Try: try,
		Server: Server, Transport: probe.UDP, Socket: 1, LocalPort: 41022, ID: queryID(n, typ),
	}})
}

// Received reports a reply that the libc accepted.
func (s *Stream) Received(at float64, n int, typ probe.QueryType, rcode string, answers ...probe.Answer) *Stream {
	rc := &probe.Received{
		Ref: probe.Ref{Attempt: n, Type: typ}, Server: Server, Transport: probe.UDP, Socket: 1,
		ID: queryID(n, typ), Rcode: rcode, Flags: []string{"AA", "RD", "RA"}, Size: 120, Answers: answers, Use: probe.UseAccepted,
	}
	if len(answers) == 0 {
		minimum := uint32(5)
		rc.SOAMinimum = &minimum
	}
	return s.event(at, probe.Event{Kind: probe.KindReceived, Received: rc})
}

// Lost reports that a query's messages were waited for in vain.
func (s *Stream) Lost(at float64, n int, typ probe.QueryType) *Stream {
	return s.event(at, probe.Event{Kind: probe.KindLost, Lost: &probe.Lost{
		Ref: probe.Ref{Attempt: n, Type: typ}, Socket: 1,
		ID: queryID(n, typ), Reason: probe.ReplyLost,
	}})
}

// EndAttempt closes attempt n.
func (s *Stream) EndAttempt(at float64, n int, outcome probe.Outcome) *Stream {
	return s.event(at, probe.Event{Kind: probe.KindAttemptEnded, AttemptEnded: &probe.AttemptEnded{N: n, Outcome: outcome}})
}

// End closes the resolution.
func (s *Stream) End(at float64, e probe.Ended) *Stream {
	return s.event(at, probe.Event{Kind: probe.KindEnded, Ended: &e})
}

// Pair tells an attempt whose two queries both get rcode within took milliseconds.
func (s *Stream) Pair(at, took float64, n int, name string, index int, rcode string) *Stream {
	outcome := probe.NXDomain
	if rcode != "NXDOMAIN" {
		outcome = probe.NoData
	}
	return s.Attempt(at, n, name, index).Sent(at, n, probe.TypeA, 1).Sent(at, n, probe.TypeAAAA, 1).
		Received(at+took*0.8, n, probe.TypeA, rcode).Received(at+took, n, probe.TypeAAAA, rcode).
		EndAttempt(at+took, n, outcome)
}

// Run returns what the events tell.
func (s *Stream) Run() probe.Run { return probe.FoldAll(s.Events) }

func (s *Stream) event(at float64, ev probe.Event) *Stream {
	ev.Resolution, ev.At = s.id, Ms(at)
	return s.Add(ev)
}

func queryID(n int, typ probe.QueryType) uint16 {
	if typ == probe.TypeA {
		return uint16(48213 + n)
	}
	return uint16(10077 + n)
}

// A is an address record.
func A(name, addr string) probe.Answer {
	return probe.Answer{Name: name, Type: "A", TTL: 30, Data: addr}
}
