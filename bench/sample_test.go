package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		all  []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 9, 2}, 3},
	} {
		s := sample{All: c.all}
		if got := s.median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.all, got, c.want)
		}
	}
}

func TestMedianKeepsTheOrderOfMeasuring(t *testing.T) {
	var s sample
	for _, d := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		s.add(d)
	}
	s.median()
	if diff := cmp.Diff([]float64{3, 1, 2}, s.All); diff != "" {
		t.Errorf("values after median (-want +got):\n%s", diff)
	}
	if got, want := s.spread(), "1.00 to 3.00 s"; got != want {
		t.Errorf("spread is %q, want %q", got, want)
	}
}

func TestRatiosPairRounds(t *testing.T) {
	probe, debug := &sample{All: []float64{2, 9, 1}}, &sample{All: []float64{1, 3}}
	if diff := cmp.Diff([]float64{2, 3}, probe.ratios(debug).All); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
}
