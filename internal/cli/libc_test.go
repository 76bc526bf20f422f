package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/engine"
)

func TestEveryLibcChoiceIsTaken(t *testing.T) {
	for _, c := range libcChoices() {
		got, version, err := parseLibc(c.word)
		if err != nil || got.word != c.word || version != "" {
			t.Errorf("--libc %s: %+v %q %v", c.word, got, version, err)
		}
		if c.libc != "" && !engine.Supported(c.libc) {
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
