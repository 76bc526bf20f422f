package caller

import (
	"slices"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

func TestEveryCallerSaysHowItIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range callers {
		if c.Word == "" || c.What == "" || seen[c.Word] {
			t.Errorf("%q has no word of its own, or nothing says what it is", c.Word)
		}
		seen[c.Word] = true
		if len(c.Statements) == 0 || len(c.Steps) == 0 {
			t.Errorf("%s does nothing, or nothing is said of it", c.Word)
		}
		for _, s := range c.Statements {
			if s.Text == "" || s.Source == "" || s.Mark != Observed && s.Mark != Documented {
				t.Errorf("%s: %+v", c.Word, s)
			}
		}
		for _, s := range c.Steps {
			if (s.Family == "") == (s.Record == "") || s.When == "" || (s.Record != "") != (s.Prefix != "") {
				t.Errorf("%s: %+v", c.Word, s)
			}
			if s.Record != "" && c.Libc != probe.Go {
				t.Errorf("%s looks up %s, which only Go's resolver does", c.Word, s.Record)
			}
		}
		if got, ok := Of(c.Word); !ok || got.What != c.What {
			t.Errorf("Of(%q) = %q", c.Word, got.What)
		}
	}
	if _, ok := Of(""); ok {
		t.Error("there is a caller without a word")
	}
}

func TestOneTypeIsOneCall(t *testing.T) {
	families := func(word string, types []probe.QueryType, hasIPv6, known bool) (list []resolver.Family) {
		c, _ := Of(word)
		for _, s := range c.For(types, hasIPv6, known) {
			list = append(list, s.Family)
		}
		return list
	}
	onlyA := []probe.QueryType{probe.TypeA}
	for _, c := range []struct {
		word           string
		types          []probe.QueryType
		hasIPv6, known bool
		want           []resolver.Family
	}{
		{"envoy", nil, false, true, []resolver.Family{resolver.Inet6, resolver.Inet}},
		{"envoy", onlyA, false, true, []resolver.Family{resolver.Inet}},
		{"grpc-go", onlyA, false, true, []resolver.Family{resolver.Inet, ""}},
		{"jvm", nil, false, true, []resolver.Family{resolver.Inet}},
		{"jvm", nil, false, false, []resolver.Family{resolver.Unspec}},
		{"jvm", nil, true, true, []resolver.Family{resolver.Unspec}},
		{"dig", []probe.QueryType{probe.TypeAAAA}, false, true, []resolver.Family{resolver.Inet6}},
	} {
		if got := families(c.word, c.types, c.hasIPv6, c.known); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, want %v", c.word, c.types, got, c.want)
		}
	}
	steps := callers[4].Steps
	if callers[4].For(onlyA, false, true); steps[0].Family != resolver.Inet6 {
		t.Error("For changes the data")
	}
}
