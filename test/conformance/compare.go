package conformance

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/internal/scenario"
)

// Difference is one way in which two outcomes are not equal.
type Difference struct {
	Text string
	// Time is set when nothing but the measured times differs.
	Time bool
}

func (d Difference) String() string { return d.Text }

// OnlyTimes reports whether there are differences and all of them are about times.
func OnlyTimes(differences []Difference) bool {
	return len(differences) > 0 && len(withoutTimes(differences)) == 0
}

// withoutTimes returns the differences that are not about times.
func withoutTimes(differences []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Time })
}

// Differences says in which ways our outcome is not the real one; none means equal.
//
// Times may differ by the tolerance of scenario.Near and by what either side waited for a processor.
func Differences(c *Case, real, ours Outcome) []Difference {
	near := within(real.Waited + ours.Waited)
	packets := nearer(ours.Packets, real.Packets, near)
	var out []Difference
	for _, d := range scenario.CompareAll(real.Packets, packets) {
		out = append(out, Difference{d.String(), d.Field == "time"})
	}
	check := func(same bool, what string, a, b any) {
		if !same {
			out = append(out, Difference{Text: fmt.Sprintf("%s: observed %v, ours %v", what, a, b)})
		}
	}
	check(real.Killed == ours.Killed, "still running at the limit", real.Killed, ours.Killed)
	check(real.Crashed == ours.Crashed, "the libc ends the process", real.Crashed, ours.Crashed)
	check(len(real.Calls) == len(ours.Calls), "calls that returned", len(real.Calls), len(ours.Calls))
	for i := range min(len(real.Calls), len(ours.Calls)) {
		out = append(out, callDifferences(i, c.Calls[i], real.Calls[i], ours.Calls[i], near)...)
	}
	return out
}

// within returns whether two times are equal but for the tolerance and for what was waited for a processor.
func within(waited time.Duration) func(a, b time.Duration) bool {
	return func(a, b time.Duration) bool {
		return scenario.Near(a, b+min(max(a-b, -waited), waited))
	}
}

// nearer returns packets with the times of those that they are equal to.
func nearer(packets, to []scenario.Packet, near func(a, b time.Duration) bool) []scenario.Packet {
	out := slices.Clone(packets)
	for i := range min(len(out), len(to)) {
		if near(to[i].At, out[i].At) {
			out[i].At = to[i].At
		}
	}
	return out
}

func callDifferences(i int, call Call, real, ours Result, near func(a, b time.Duration) bool) []Difference {
	var out []Difference
	check := func(same bool, field string, a, b any) {
		if !same {
			text := fmt.Sprintf("call %d (%.80s): %s: observed %v, ours %v", i+1, call.Host, field, a, b)
			out = append(out, Difference{text, field == "start" || field == "elapsed"})
		}
	}
	check(real.Code == ours.Code, "code", real.Code, ours.Code)
	check(slices.Equal(real.Addresses, ours.Addresses), "addresses", real.Addresses, ours.Addresses)
	if call.CanonName {
		check(real.Canonical == ours.Canonical, "canonical name", real.Canonical, ours.Canonical)
	}
	check(near(real.Start, ours.Start), "start", real.Start, ours.Start)
	check(near(real.Elapsed, ours.Elapsed), "elapsed", real.Elapsed, ours.Elapsed)
	return out
}

// recordingPrecision is that of the recorder's clock, which also started with the process and not with its first call.
const recordingPrecision = 20 * time.Millisecond

// RecordedDifferences says in which ways the real libc did not do here what it did when it was recorded. With rotate the first
// server is drawn by chance, and with it the order of servers and their slot times: those are then left out.
func RecordedDifferences(c *Case, rec scenario.Recording, real Outcome, rotate bool) []string {
	near := within(real.Waited + recordingPrecision)
	recorded, here := rec.Packets, nearer(real.Packets, rec.Packets, near)
	if rotate {
		recorded, here = anyServer(recorded), anyServer(here)
	}
	var out []string
	for _, d := range scenario.Compare(recorded, here) {
		out = append(out, "recorded "+d.String())
	}
	if rec.Killed != real.Killed {
		out = append(out, fmt.Sprintf("recorded hanging %t, here %t", rec.Killed, real.Killed))
	}
	if len(rec.Results) != len(real.Calls) {
		out = append(out, fmt.Sprintf("recorded %d results, here %d", len(rec.Results), len(real.Calls)))
	}
	for i := range min(len(rec.Results), len(real.Calls)) {
		a, b := rec.Results[i], real.Calls[i]
		addresses := a.Addresses
		if c.Calls[i].NullHints {
			addresses = slices.Compact(slices.Clone(addresses))
		}
		if a.Code != b.Code || !slices.Equal(addresses, b.Addresses) || a.Canonical != b.Canonical {
			out = append(out, fmt.Sprintf("call %d (%s): recorded %d %v %q, here %d %v %q",
				i+1, a.Host, a.Code, addresses, a.Canonical, b.Code, b.Addresses, b.Canonical))
		}
		if !near(a.Elapsed, b.Elapsed) {
			out = append(out, fmt.Sprintf("call %d (%s): recorded %s, here %s", i+1, a.Host, a.Elapsed, b.Elapsed))
		}
	}
	return out
}

func anyServer(packets []scenario.Packet) []scenario.Packet {
	out := slices.Clone(packets)
	for i := range out {
		out[i].Server, out[i].At = netip.Addr{}, 0
	}
	return out
}

// listing shows packets for people.
func listing(packets []scenario.Packet) string {
	var out []byte
	for i, p := range packets {
		out = fmt.Appendf(out, "  %3d %9.3fs %-4s %-15s s%d i%d %-4s %q", i+1, p.At.Seconds(), p.Transport, p.Server, p.Socket, p.ID, p.Type, p.Name)
		if p.EDNSSize != 0 {
			out = fmt.Appendf(out, " edns%d", p.EDNSSize)
		}
		if p.AD {
			out = append(out, " ad"...)
		}
		if p.Raw != "" {
			out = fmt.Appendf(out, " raw %x", p.Raw)
		}
		out = append(out, '\n')
	}
	return string(out)
}

// Report shows both outcomes of a case for people.
func Report(differences []Difference, real, ours Outcome) string {
	var out []byte
	for i, d := range differences {
		if i == 12 {
			out = fmt.Appendf(out, "  and %d more\n", len(differences)-i)
			break
		}
		out = fmt.Appendf(out, "  %s\n", d)
	}
	for _, side := range []struct {
		name string
		o    Outcome
	}{{"observed", real}, {"ours", ours}} {
		out = fmt.Appendf(out, "%s: killed %t, crashed %t, waited %s for a processor\n", side.name, side.o.Killed, side.o.Crashed, side.o.Waited)
		for _, r := range side.o.Calls {
			out = fmt.Appendf(out, "  returned %d %v %q at %s after %s\n", r.Code, r.Addresses, r.Canonical, r.Start, r.Elapsed)
		}
		out = append(out, listing(side.o.Packets)...)
		for _, n := range side.o.Notes {
			out = fmt.Appendf(out, "  note: %s\n", n)
		}
	}
	return string(out)
}
