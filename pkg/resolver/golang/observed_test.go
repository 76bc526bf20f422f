package golang

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// observedVersion is the Go that the scenarios were recorded with.
const observedVersion = "1.26.8"

// runObserved runs a scenario. In each pair the query goes out first that did so in the recording.
func runObserved(t *testing.T, o scenario.Observed, firsts []probe.QueryType) resolvertest.Process {
	t.Helper()
	r := New(observedVersion, o.System)
	pairs := 0
	r.first = func(int) probe.QueryType {
		if pairs++; pairs <= len(firsts) {
			return firsts[pairs-1]
		}
		return probe.TypeA
	}
	return resolvertest.Run(t, r, o, 1, nil)
}

// rotation are the servers that take turns in a scenario with rotate.
func rotation(o scenario.Observed) []netip.Addr {
	var servers []netip.Addr
	if strings.Contains(o.System.ResolvConf, "rotate") {
		for _, s := range o.World.Servers {
			servers = append(servers, s.Addr)
		}
	}
	return servers
}

// TestObserved compares our packets and results with what the real package net did on all recorded scenarios.
func TestObserved(t *testing.T) {
	resolvertest.Recorded(t, scenario.LibraryGo, 147, compareObserved)
}

// comparison leaves out the order: addresses that sort equal stay in the order of arrival.
var comparison = resolvertest.Comparison{Code: observedError, AnyOrder: true}

func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording) {
	t.Helper()
	p := runObserved(t, o, scenario.FirstTypes(rec.Packets, rotation(o)))
	resolvertest.Report(t, scenario.Compare(scenario.ByType(rec.Packets), scenario.ByType(p.Packets)))
	if len(rec.Results) != len(p.Results) {
		t.Fatalf("%d results, observed %d", len(p.Results), len(rec.Results))
	}
	resolvertest.Report(t, comparison.Results(o, rec, p))
	p.CheckEvents(t, probe.Go, nil)
}

// observedError takes what our codes have out of an error's text: not names, addresses, ports and flags.
func observedError(r scenario.CallResult) string {
	if r.Text == "<nil>" {
		return ""
	}
	text, _, _ := strings.Cut(r.Text, " notfound=")
	return text[strings.LastIndex(text, ": ")+2:]
}
