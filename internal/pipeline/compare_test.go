package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// agent resolves like the libc that it is asked for, but knows no c-ares.
type agent struct{ asked []probe.Ask }

func (a *agent) Resolve(_ context.Context, ask probe.Ask) (probe.Resolution, error) {
	a.asked = append(a.asked, ask)
	if ask.Libc == probe.CAres {
		return probe.Resolution{}, errors.New("it is none of glibc, musl")
	}
	libc := ask.Libc
	if libc == "" {
		libc = probe.Glibc
	}
	return probe.Resolution{ID: string(libc) + ask.Host, Host: ask.Host, Variant: probe.VariantNow, Libc: libc, Outcome: probe.NXDomain, Purpose: ask.Purpose}, nil
}

func TestHostsGoThroughTheOtherLibcs(t *testing.T) {
	var prober agent
	var run probe.Fold
	err := Run(t.Context(), In{
		Prober: &prober, Hosts: []string{"a", "b"}, Bare: true, Ask: probe.Ask{AddrConfig: true},
		Compare: []probe.Resolver{{Libc: probe.Glibc, Version: "2.36"}, {Libc: probe.Musl, Version: "1.2.3"}, {Libc: probe.CAres}},
	}, run.Add)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, a := range prober.asked {
		asked = append(asked, strings.Join([]string{a.Host, string(a.Purpose), string(a.Libc), a.LibcVersion}, " "))
		if !a.AddrConfig {
			t.Errorf("%s is asked for in another way", a.Host)
		}
	}
	want := "a asked  |b asked  |a compare musl 1.2.3|a compare cares |b compare musl 1.2.3|b compare cares "
	if got := strings.Join(asked, "|"); got != want {
		t.Errorf("asked %q\nwant  %q", got, want)
	}
	out := run.Run()
	if len(out.Comparisons) != 2 || len(out.Comparisons[0].Libcs) != 2 || out.Comparisons[1].Host != "b" || out.Comparisons[1].Libcs[1].Resolution != "muslb" {
		t.Errorf("%+v", out.Comparisons)
	}
	problems := 0
	for _, p := range out.Problems {
		if strings.Contains(p, "through cares: it is none of glibc, musl; next: ") {
			problems++
		}
	}
	if problems != 2 {
		t.Errorf("an agent that cannot follow c-ares is no problem: %q", out.Problems)
	}
}
