package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestEveryLibcChoiceIsTaken(t *testing.T) {
	for _, c := range libcChoices() {
		got, version, err := parseLibc(c.word)
		if err != nil || got.word != c.word || version != "" {
			t.Errorf("--libc %s: %+v %q %v", c.word, got, version, err)
		}
		if c.libc != "" && c.caller == "" && !engine.Supported(c.libc) {
			t.Errorf("--libc %s is offered but cannot be followed", c.word)
		}
		if c.version == "" {
			continue
		}
		for _, sep := range []string{"-", ":"} {
			if got, version, err = parseLibc(c.word + sep + c.version); err != nil || got.word != c.word || version != c.version {
				t.Errorf("--libc %s%s%s: %+v %q %v", c.word, sep, c.version, got, version, err)
			}
		}
	}
}

func TestLibcCompletionOffersEveryChoice(t *testing.T) {
	for _, args := range [][]string{
		{"__complete", "--libc", ""}, {"__complete", "explain", "--libc", ""}, {"__complete", "local", "--libc", ""}, {"__complete", "demo", "--libc", ""},
	} {
		_, out, _ := command(t, "", args...)
		for _, c := range libcChoices() {
			if !strings.Contains(out, c.word+"\t"+c.what+"\n") {
				t.Errorf("%v does not offer %s:\n%s", args, c.word, out)
			}
		}
	}
}

func TestCallersAreAsked(t *testing.T) {
	for word, libc := range map[string]probe.Libc{"jvm": "", "node-resolve": probe.CAres, "grpc-go": probe.Go, "getent": probe.Glibc} {
		f := askFlags{libc: word, types: []string{"A", "AAAA"}}
		a, err := f.complete([]string{"x"})
		if ask := a.ask("x"); err != nil || ask.Caller != word || ask.Libc != libc {
			t.Errorf("--libc %s: %+v, %v", word, ask, err)
		}
		detected := probe.Resolver{Libc: probe.Musl, Version: "1.2.5"}
		shown := a.followed(probe.Event{Kind: probe.KindResolver, Resolver: &detected}).Resolver
		if libc == "" {
			libc = probe.Musl
		}
		if shown.Caller != word || shown.Libc != libc || detected.Caller != "" || chosen(a, detected).Caller != word {
			t.Errorf("--libc %s is shown as %+v", word, shown)
		}
	}
	if _, _, err := parseLibc("jvm-17"); err == nil {
		t.Error("a caller takes a version")
	}
}
