package view

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func ms(n float64) probe.Millis { return probe.Millis(n * float64(time.Millisecond)) }

func plain(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

func TestSpreadIsShownWhereThereIsOne(t *testing.T) {
	rows := []probe.WhatIf{
		{Host: "a.example", Variant: probe.VariantNow, Outcome: probe.OK, QueriesSent: 10, Duration: ms(47.2), Fastest: ms(45), Slowest: ms(61.5), Times: 3, SameAnswer: true, Source: probe.Measured},
		{Host: "a.example", Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 2, Duration: ms(4), Fastest: ms(4), Slowest: ms(4), Times: 3, SameAnswer: true, Source: probe.Measured},
		{Host: "a.example", Variant: "timeout:1", Outcome: probe.OK, QueriesSent: 2, Duration: ms(999), Fastest: ms(4), Slowest: ms(1002), Times: 3, SameAnswer: true, Source: probe.Measured},
	}
	f := Frame{Width: 78, Glyphs: Unicode}
	head, shown := WhatIf(&probe.Run{WhatIf: rows}, &probe.Resolution{Host: "a.example", Variant: probe.VariantNow}, f)
	got := head.String() + "\n"
	for _, r := range shown {
		got += plain(r.Lines)
	}
	want := `What if    queries      time  spread          same answer
now             10   47.2 ms  45.0-61.5 ms
ndots:2          2    4.0 ms                  yes
timeout:1        2    999 ms  4.0 ms-1.002 s  yes
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for i := range rows {
		rows[i].Times = 1
	}
	head, _ = WhatIf(&probe.Run{WhatIf: rows}, &probe.Resolution{Host: "a.example", Variant: probe.VariantNow}, f)
	if strings.Contains(head.String(), "spread") {
		t.Errorf("one time has no spread: %s", head)
	}
}

func TestOtherLibcsAreShown(t *testing.T) {
	rows := []probe.WhatIf{
		{Host: "a.b.c", Variant: "ndots:2", Outcome: probe.OK, QueriesSent: 8, Duration: ms(4), SameAnswer: true, Source: probe.Measured, Libcs: []probe.WhatIfLibc{
			{Libc: probe.Musl, LibcVersion: "1.2.5", Outcome: probe.NXDomain, QueriesSent: 2, Duration: ms(1), Source: probe.Predicted},
		}},
	}
	_, shown := WhatIf(&probe.Run{WhatIf: rows}, &probe.Resolution{Host: "a.b.c", Variant: "-"}, Frame{Width: 78, Glyphs: Unicode})
	if got := plain(shown[0].Lines); !strings.Contains(got, "on musl 1.2.5") || !strings.Contains(got, "same answer: NO, NXDOMAIN") || !strings.Contains(got, "predicted") {
		t.Errorf("got\n%s", got)
	}
	p := probe.Patch{Kind: "Deployment", Name: "x", Variant: "ndots:3", Caveats: []string{"Helm release x takes it back."}, Names: []probe.PatchName{
		{
			Name: "a.b.c", Before: probe.NameResult{Outcome: probe.OK, Addresses: []string{"10.0.0.1"}, QueriesSent: 6}, Same: true,
			After: probe.NameResult{Outcome: probe.OK, Addresses: []string{"10.0.0.1"}, QueriesSent: 6, Source: probe.Measured},
			Libcs: []probe.PatchLibc{{Libc: probe.Musl, LibcVersion: "1.2.5", Same: true, Before: probe.NameResult{QueriesSent: 6}, After: probe.NameResult{Outcome: probe.OK, QueriesSent: 6}}},
		},
		{
			Name: "code.example", Wanted: true, Before: probe.NameResult{Outcome: probe.OK, Addresses: []string{"203.0.113.80"}, QueriesSent: 8},
			After: probe.NameResult{Outcome: probe.OK, Addresses: []string{"198.51.100.20"}, QueriesSent: 8, Source: probe.Measured},
		},
	}}
	got := strings.Join(strings.Fields(plain(Patch(&probe.Run{Patch: &p}, Frame{Width: 78, Glyphs: Unicode}))), " ")
	for _, want := range []string{
		"a.b.c 6 queries, same address (on musl 1.2.5 6 to 6 queries, same address)", "code.example 8 queries, 198.51.100.20 instead of 203.0.113.80, as it should",
		"But: Helm release x takes it back.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "ANOTHER ANSWER") {
		t.Errorf("what was wanted is called a fault:\n%s", got)
	}
}
