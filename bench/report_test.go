package main

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		value, goal float64
		want        string
	}{{1.5, 1.5, "met"}, {1.51, 1.5, "missed"}, {100, 0, ""}} {
		if got := (figure{Value: c.value, Goal: c.goal}).verdict(); got != c.want {
			t.Errorf("verdict of %v with goal %v is %q, want %q", c.value, c.goal, got, c.want)
		}
	}
}

func TestTableShowsGoalRatioAndSpread(t *testing.T) {
	r := report{Rounds: 2, Host: "example.test", Figures: []figure{
		{Name: "first probe", Value: 2, Unit: unitSecond, Sample: &sample{All: []float64{1, 3}}, How: "a fresh pod"},
		{Name: "first probe against kubectl debug", Value: 3, Unit: unitTimes, Goal: 1.5, How: "medians"},
	}}
	text := r.table()
	for _, want := range []string{"2 rounds, host example.test", "1.00 to 3.00 s; a fresh pod", "missed", "1.5 times", "2.00  "} {
		if !strings.Contains(text, want) {
			t.Errorf("the table has no %q:\n%s", want, text)
		}
	}
}
