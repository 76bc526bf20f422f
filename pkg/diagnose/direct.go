package diagnose

import "github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"

// said returns what a server said when it was asked directly for a name, nil when it was not asked.
func (v *view) said(q probe.Question, name string) *probe.Resolution {
	for _, r := range v.direct {
		if canonical(r.Host) == canonical(name) && r.Variant == q.Label() {
			return r
		}
	}
	return nil
}

// ask is a follow-up that asks a server directly.
func ask(q probe.Question, name string, types ...probe.QueryType) FollowUp {
	return FollowUp{Ask: q.AskOf(name, types...)}
}

// gotReply says whether anything came back from a server that was asked directly: it can be reached that way.
func gotReply(r *probe.Resolution) bool {
	for _, a := range r.Attempts {
		for _, q := range a.Queries {
			for _, t := range q.Transmissions {
				if t.Received != nil {
					return true
				}
			}
		}
	}
	return false
}
