package view

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestFollowUpsSayWhatTheyCost(t *testing.T) {
	for want, u := range map[string]*probe.FollowUps{
		"": nil,
		"To tell causes apart, 1 follow-up question was sent: 2 of at most 60 messages.":                                                          {Asked: 1, Sent: 2, MostSent: 60},
		"To tell causes apart, 3 follow-up questions were sent: 60 of at most 60 messages. 4 more would have gone beyond that or taken too long.": {Asked: 3, Sent: 60, MostSent: 60, Left: 4},
	} {
		got := ""
		for _, l := range FollowUps(&probe.Run{FollowUps: u}, Frame{Width: 200, Glyphs: Unicode}) {
			got += l.String()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
