package view

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Duration writes a time as people read DNS times: milliseconds with what matters behind the point, seconds from one
// second on. Times under a millisecond keep their microseconds.
func Duration(m probe.Millis) string {
	d := m.Duration()
	if d < 0 {
		return "-" + Duration(-m)
	}
	ms := m.Milliseconds()
	switch {
	case d == 0:
		return "0 ms"
	case ms < 0.0995:
		return fmt.Sprintf("%.3f ms", ms)
	case ms < 0.995:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 99.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	case d < 99950*time.Millisecond:
		return fmt.Sprintf("%.3f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// axis returns a scale of w cells from 0 to total: round numbers, the unit behind the last one.
func axis(total probe.Millis, w int) string {
	if total <= 0 || w < 1 {
		return ""
	}
	unit, size := "ms", float64(time.Millisecond)
	if total.Duration() >= time.Second {
		unit, size = "s", float64(time.Second)
	}
	most := float64(total) / size
	for _, step := range steps(most) {
		if line := ticks(most, step, w, unit); line != "" {
			return line
		}
	}
	// No room for a scale: its end has to do.
	if end := Duration(total); len(end) <= w {
		return padLeft(end, w)
	}
	return ""
}

// steps returns round distances, small ones first, of which the largest fits once into most.
func steps(most float64) []float64 {
	var out []float64
	for e := math.Floor(math.Log10(most)) - 1; e <= math.Log10(most); e++ {
		for _, f := range []float64{1, 2, 5} {
			if s := f * math.Pow(10, e); s <= most && most/s < 12 {
				out = append(out, s)
			}
		}
	}
	return out
}

// ticks writes the numbers of a scale, or "" when they would touch each other.
func ticks(most, step float64, w int, unit string) string {
	line := "0"
	for i := 1; float64(i)*step <= most; i++ {
		label := fmt.Sprintf("%g", math.Round(float64(i)*step*1000)/1000)
		if float64(i+1)*step > most {
			label += " " + unit
		}
		at := int(float64(i) * step / most * float64(w))
		// A label may not begin before its place, and not end outside, except that the last one is moved to the left.
		if float64(i+1)*step > most {
			at = min(at, w-len(label))
		}
		if at < len(line)+2 || at+len(label) > w {
			return ""
		}
		line += strings.Repeat(" ", at-len(line)) + label
	}
	return line
}

// plural writes a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
