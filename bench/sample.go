package main

import (
	"fmt"
	"slices"
	"time"
)

// sample is one quantity measured several times, in seconds and in the order of measuring.
type sample struct {
	All []float64 `json:"all"`
}

func (s *sample) add(d time.Duration) { s.All = append(s.All, d.Seconds()) }

// median returns the middle value, the mean of the two middle ones of an even number, 0 of none.
func (s *sample) median() float64 {
	n := len(s.All)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.All))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread is the smallest and the largest value, for people.
func (s *sample) spread() string {
	if len(s.All) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f to %.2f s", slices.Min(s.All), slices.Max(s.All))
}

// ratios returns the ratios of the values of s to those of base, round by round: what slowed a whole round down is in both.
func (s *sample) ratios(base *sample) *sample {
	out := &sample{}
	for i := range min(len(s.All), len(base.All)) {
		if base.All[i] > 0 {
			out.All = append(out.All, s.All[i]/base.All[i])
		}
	}
	return out
}
