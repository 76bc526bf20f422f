package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerateIsAFunction(t *testing.T) {
	kinds := map[string]bool{}
	for n := range 200 {
		a, b := Generate(7, n), Generate(7, n)
		if diff := cmp.Diff(a.Text(), b.Text()); diff != "" {
			t.Fatalf("case %d (-once +again):\n%s", n, diff)
		}
		if _, err := a.World(); err != nil {
			t.Errorf("case %d: %v", n, err)
		}
		kinds[a.ResolvConf] = true
	}
	if len(kinds) < 150 {
		t.Errorf("200 cases have only %d different files", len(kinds))
	}
}

func TestShrinkKeepsWhatMatters(t *testing.T) {
	c := Generate(7, 1)
	c.ResolvConf = "nameserver 127.0.0.2\nsearch a.test b.test c.test\noptions ndots:5 rotate edns0\n"
	c.Rules = []Rule{{Name: "x", Do: []string{"nx"}}, {Name: "y", Do: []string{"delay:40", "servfail"}}}
	matters := func(c Case) bool {
		return strings.Contains(c.ResolvConf, "b.test") && slices.ContainsFunc(c.Rules, func(r Rule) bool { return slices.Contains(r.Do, "servfail") })
	}
	small := Shrink(c, 100, func(batch []Case) int { return slices.IndexFunc(batch, matters) })
	if !matters(small) || len(small.Rules) != 1 || len(small.Rules[0].Do) != 1 || strings.Contains(small.ResolvConf, "edns0") ||
		strings.Contains(small.ResolvConf, "a.test") || len(small.Env) != 0 {
		t.Errorf("left over:\n%s", small.Text())
	}
	if again := Shrink(c, 100, func([]Case) int { return -1 }); again.ResolvConf != c.ResolvConf || len(again.Rules) != 2 {
		t.Error("a case of which nothing smaller differs was changed")
	}
}
