package diagnose

import (
	"slices"
	"testing"
)

func TestEveryRuleHasItsPlaceAmongTheClasses(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		if !slices.Contains(causes, r.class) {
			t.Errorf("%s has no place among the classes", r.class)
		}
		if seen[r.class] {
			t.Errorf("%s has two rules", r.class)
		}
		seen[r.class] = true
	}
}
