package musl

import (
	"fmt"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/resolvertest"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// observedVersions are the versions that were recorded, and how often.
var observedVersions = []struct {
	library, version string
	recordings       int
}{
	{scenario.LibraryMusl124, "1.1.24", 144},
	{scenario.LibraryMusl123, "1.2.3", 147},
	{scenario.LibraryMusl125, "1.2.5", 147},
}

// observedCodes are getaddrinfo's return codes as the recordings have them.
var observedCodes = map[int]eai{0: eaiOK, -2: eaiNoName, -3: eaiAgain, -4: eaiFail, -5: eaiNoData, -11: eaiSystem}

func runObserved(t *testing.T, o scenario.Observed, version string) resolvertest.Process {
	t.Helper()
	return resolvertest.Run(t, New(version, o.System), o, 1, func(call scenario.Call) resolver.Request {
		req := call.Request
		if call.NullHints {
			// Without hints there are no flags; the scenario has glibc's.
			req.AddrConfig, req.V4Mapped = false, false
		}
		return req
	})
}

// TestObserved compares our packets and results with what the real musl did on all recorded scenarios.
func TestObserved(t *testing.T) {
	for _, v := range observedVersions {
		t.Run(v.version, func(t *testing.T) {
			resolvertest.Recorded(t, v.library, v.recordings, func(t *testing.T, o scenario.Observed, rec scenario.Recording) {
				compare := compareObserved
				if _, race := races[o.Name]; race {
					compare = compareRace
				}
				resolvertest.Report(t, compare(t, o, rec, v.version))
			})
		})
	}
}

// comparison is with a program that prints an address without hints once for UDP and once for TCP.
var comparison = resolvertest.Comparison{Code: resolvertest.Codes(observedCodes), SocketTypes: 2, Canonical: true}

// compareObserved returns how our run differs from a recorded one.
//
// When a connection is opened and when another query's data goes out is not ordered: the recorded replies of a pair came one after
// the other and left time for a handshake in between, modelled ones come at once. So SYNs are compared by their number only.
func compareObserved(t *testing.T, o scenario.Observed, rec scenario.Recording, version string) []string {
	t.Helper()
	p := runObserved(t, o, version)
	var out []string
	differ := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	data, syns := splitSYN(p.Packets)
	for _, d := range scenario.Compare(rec.Packets, data) {
		differ("%v", d)
	}
	_, observed := splitSYN(rec.Packets)
	if fewer := o.Name == refusedStreams && observed > 0 && observed < syns; observed != syns && !fewer {
		differ("%d connections, observed %d", syns, observed)
	}
	out = append(out, comparison.Results(o, rec, p)...)
	last := p.Results[len(p.Results)-1]
	if died := last.Outcome == probe.Fail && last.Code == ""; died != (len(rec.Results) < len(o.Calls)) {
		differ("%d results of %d calls, ours ended with %+v", len(rec.Results), len(o.Calls), last)
	}
	p.CheckEvents(t, probe.Musl, checkTrace)
	return out
}

// refusedStreams is a scenario in which both replies are truncated and the TCP port is closed. If the first connection is
// refused before the second reply is there, musl never opens the second one.
const refusedStreams = "O08"

// splitSYN returns packets without SYNs, and the number of those.
func splitSYN(packets []scenario.Packet) (data []scenario.Packet, syns int) {
	for _, p := range packets {
		if p.Transport == scenario.SYN {
			syns++
			continue
		}
		data = append(data, p)
	}
	return data, syns
}
