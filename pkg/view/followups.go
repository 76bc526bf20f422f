package view

import (
	"fmt"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// FollowUps returns what was asked beside the hosts because a verdict hung on it, and the bound it kept to; nil when nothing was.
func FollowUps(run *probe.Run, f Frame) []Line {
	u := run.FollowUps
	if u == nil {
		return nil
	}
	text := fmt.Sprintf("To tell causes apart, %d follow-up %s sent: %d of at most %d messages.", u.Asked, were(u.Asked, "question was", "questions were"), u.Sent, u.MostSent)
	if u.Left > 0 {
		text += fmt.Sprintf(" %d more would have gone beyond that or taken too long.", u.Left)
	}
	return Wrap(Faint, text, f.Width)
}

func were(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
