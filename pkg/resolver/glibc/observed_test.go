package glibc

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// observedCodes are getaddrinfo's return codes as the recordings have them.
var observedCodes = map[int]eai{
	0: eaiOK, -2: eaiNoName, -3: eaiAgain, -5: eaiNoData, -9: eaiAddrFamily, -11: eaiSystem, -105: eaiIDN,
}

func runObserved(t *testing.T, o scenario.Observed, firstServer int) resolvertest.Process {
	t.Helper()
	r := New("2.36-9+deb12u14", o.System)
	if firstServer >= 0 {
		r.rotation, r.rotationStarted = uint32(firstServer), true
	}
	return resolvertest.Run(t, r, o, 1, func(call scenario.Call) resolver.Request {
		req := call.Request
		req.IDN = call.IDN
		return req
	})
}

// firstServer is where a recorded process with rotate began, -1 without rotate.
func firstServer(o scenario.Observed, rec scenario.Recording) int {
	if !strings.Contains(o.System.ResolvConf, "rotate") || len(rec.Packets) == 0 {
		return -1
	}
	for i, s := range o.World.Servers {
		if s.Addr == rec.Packets[0].Server {
			return i
		}
	}
	return -1
}

// TestObserved compares our packets and results with what the real glibc did on all recorded scenarios.
func TestObserved(t *testing.T) {
	const all = 172
	if n := resolvertest.Recorded(t, scenario.LibraryGlibc, all, compareObserved); n != all {
		t.Errorf("%d scenarios, want %d, each recorded with glibc", n, all)
	}
}

// comparison is with a program that prints an address without hints for UDP, TCP and raw sockets.
var comparison = resolvertest.Comparison{Code: resolvertest.Codes(observedCodes), SocketTypes: 3}

func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording) {
	t.Helper()
	p := runObserved(t, o, firstServer(o, rec))
	resolvertest.Report(t, scenario.Compare(rec.Packets, p.Packets))
	resolvertest.Report(t, comparison.Results(o, rec, p))
	if rec.Killed {
		last := p.Results[len(p.Results)-1]
		if last.Outcome != probe.Fail || last.Code != "" {
			t.Errorf("the observed process hung, ours ended with %+v", last)
		}
	}
	p.CheckEvents(t, probe.Glibc, checkTrace)
}
