package experiment

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestSame(t *testing.T) {
	r := func(outcome probe.Outcome, name string, addresses ...string) probe.Resolution {
		return probe.Resolution{Outcome: outcome, Addresses: addresses, Attempts: []probe.Attempt{{Name: name, Decided: true}}}
	}
	tests := map[string]struct {
		a, b probe.Resolution
		want bool
	}{
		"the same":                       {r(probe.OK, "x.", "192.0.2.1"), r(probe.OK, "x.", "192.0.2.1"), true},
		"in another order":               {r(probe.OK, "x.", "192.0.2.1", "192.0.2.2"), r(probe.OK, "y.", "192.0.2.2", "192.0.2.1"), true},
		"said twice":                     {r(probe.OK, "x.", "192.0.2.1", "192.0.2.1"), r(probe.OK, "y.", "192.0.2.1"), true},
		"rotating":                       {r(probe.OK, "x.", "192.0.2.1"), r(probe.OK, "X.", "192.0.2.2"), true},
		"another name, another address":  {r(probe.OK, "x.", "192.0.2.1"), r(probe.OK, "y.", "192.0.2.2"), false},
		"one address more, another name": {r(probe.OK, "x.", "192.0.2.1"), r(probe.OK, "y.", "192.0.2.1", "192.0.2.2"), false},
		"no name known, another address": {probe.Resolution{Outcome: probe.OK, Addresses: []string{"192.0.2.1"}}, probe.Resolution{Outcome: probe.OK, Addresses: []string{"192.0.2.2"}}, false},
		"another outcome":                {r(probe.OK, "x.", "192.0.2.1"), r(probe.NXDomain, "x."), false},
		"both fail alike":                {r(probe.NXDomain, "x."), r(probe.NXDomain, "y."), true},
		"both fail, but not in one way":  {r(probe.NXDomain, "x."), r(probe.Again, "x."), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Same(tt.a, tt.b); got != tt.want {
				t.Errorf("got %v", got)
			}
			if got := Same(tt.b, tt.a); got != tt.want {
				t.Error("it depends on the order")
			}
		})
	}
}
