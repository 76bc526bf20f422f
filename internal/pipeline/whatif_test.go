package pipeline

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// TestEveryLibcOfThePodIsAsked has a glibc application beside a container with musl. With ndots:2 the name in use with two dots would be
// found by glibc and not by musl.
func TestEveryLibcOfThePodIsAsked(t *testing.T) {
	p := newPod(t, "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
		rule(t, "A/api.partner.example.net", "a:203.0.113.10"), rule(t, "api.partner.example.net"),
		rule(t, "A/ledger.billing.svc.cluster.local", "a:10.96.44.7"), rule(t, "ledger.billing.svc.cluster.local"),
	)
	in := p.in("api.partner.example.net")
	in.Also, in.Libcs = []string{"ledger.billing.svc"}, []probe.Resolver{{Libc: probe.Musl, Version: "1.2.5"}}
	run := p.run(in)
	if run.Patch == nil || run.Patch.Variant != "ndots:3" {
		t.Fatalf("patch %+v\n%s", run.Patch, table(run))
	}
	for _, n := range run.Patch.Names {
		if len(n.Libcs) != 1 || n.Libcs[0].Libc != probe.Musl || !n.Libcs[0].Same || n.Libcs[0].After.Source != probe.Measured {
			t.Errorf("%s on the other libc: %+v", n.Name, n.Libcs)
		}
	}
	for _, w := range run.WhatIf {
		if w.Variant != probe.VariantNow && w.Variant != probe.VariantDot && len(w.Libcs) != 1 {
			t.Errorf("%s has %d other libcs", w.Variant, len(w.Libcs))
		}
	}
	// What another libc does is no evidence about the application.
	if got := classes(run); !strings.HasPrefix(got, "search-walk") {
		t.Errorf("findings %q", got)
	}
}
