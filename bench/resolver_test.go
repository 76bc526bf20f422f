package main

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestAResolutionKeepsToItsAllocations(t *testing.T) {
	for _, libc := range engine.Libcs() {
		t.Run(string(libc), func(t *testing.T) {
			w, err := newWalk(libc)
			if err != nil {
				t.Fatal(err)
			}
			var last probe.Resolution
			got := testing.AllocsPerRun(100, func() {
				if last, err = w.resolve(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%.0f allocations for %d attempts with %d queries", got, len(last.Attempts), last.QueriesSent)
			// A walk that got shorter would keep to any budget.
			if len(last.Attempts) != 5 || last.QueriesSent != 10 {
				t.Errorf("%d attempts with %d queries, want 5 with 10", len(last.Attempts), last.QueriesSent)
			}
			if most := mostAllocations[libc]; got > most {
				t.Errorf("%.0f allocations a resolution, over the budget of %.0f", got, most)
			}
		})
	}
}

// BenchmarkWalk is what docs/benchmarks.md has of the resolvers, for a profile: go test ./bench -bench Walk/glibc -memprofile FILE.
func BenchmarkWalk(b *testing.B) {
	for _, libc := range engine.Libcs() {
		b.Run(string(libc), func(b *testing.B) {
			w, err := newWalk(libc)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.resolve(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
