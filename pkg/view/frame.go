package view

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// Frame is what the pictures of a run depend on beside the run itself.
type Frame struct {
	// Width is in cells.
	Width  int
	Glyphs Glyphs
	// Live is set while events may still come. Elapsed is then how far the resolution that is shown has come, as a clock
	// outside knows it; the events alone tell a time only when something happens.
	Live    bool
	Elapsed probe.Millis
	// Brief leaves the explanations of findings to whoever asks for one finding.
	Brief bool
}

// Shown returns the indexes of the resolutions that deserve a picture of their own: those that somebody asked for. What else
// was resolved (names that must keep working, variants) is summed up by the what-if table and the patch.
func Shown(run *probe.Run) []int {
	var out []int
	for i := range run.Resolutions {
		if run.Resolutions[i].Purpose.OrAsked() == probe.PurposeAsked {
			out = append(out, i)
		}
	}
	return out
}

func isNow(variant string) bool { return variant == "" || variant == probe.VariantNow }

// Span of time that a picture of r has to cover: its duration, or as far as it has come.
func (f Frame) total(r *probe.Resolution) probe.Millis {
	if r.Outcome != "" {
		return max(r.Duration, lastStart(r))
	}
	return max(f.Elapsed, lastStart(r))
}

func lastStart(r *probe.Resolution) probe.Millis {
	if n := len(r.Attempts); n > 0 {
		a := &r.Attempts[n-1]
		return max(a.Start+a.Duration, lastMessage(a))
	}
	return 0
}

func lastMessage(a *probe.Attempt) probe.Millis {
	last := a.Start
	for i := range a.Queries {
		for j := range a.Queries[i].Transmissions {
			t := &a.Queries[i].Transmissions[j]
			last = max(last, t.Sent)
			if t.Received != nil {
				last = max(last, *t.Received)
			}
		}
	}
	return last
}

// LeftCluster reports whether an attempt asked, in vain, for a name that is not the cluster's own: such a query goes on to
// the servers outside. zone is the cluster's zone; without one nothing can be said, so nothing is marked, and neither is a
// query without a reply, which may not have come far.
func LeftCluster(r *probe.Resolution, a *probe.Attempt, zone string) bool {
	if zone == "" || a.Decided || !replied(a) || probe.InZone(a.Name, zone) {
		return false
	}
	if r.Outcome == "" {
		// Whether an attempt decides is known at the end; until then only the failed ones of the search list are in vain.
		return a.Origin == probe.OriginSearch && a.Outcome != "" && a.Outcome != probe.OK
	}
	return true
}

func replied(a *probe.Attempt) bool {
	for i := range a.Queries {
		if a.Queries[i].Rcode != "" {
			return true
		}
	}
	return false
}
