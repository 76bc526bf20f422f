package view

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestLibcNameSaysWhoCalls(t *testing.T) {
	for want, r := range map[string]probe.Resolver{
		"glibc 2.36":                 {Libc: probe.Glibc, Version: "2.36"},
		"jvm over glibc 2.36":        {Libc: probe.Glibc, Version: "2.36", Caller: "jvm"},
		"grpc-go over Go's resolver": {Libc: probe.Go, Caller: "grpc-go"},
		"dig+search":                 {Libc: "dig", Caller: "dig+search"},
	} {
		if got := libcName(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRecordsStandInTheColumnOfA(t *testing.T) {
	txt := probe.Attempt{Outcome: probe.NXDomain, Queries: []probe.Query{{Type: probe.TypeTXT, Rcode: "NXDOMAIN"}}}
	if got := cellOf(&txt, probe.TypeA, true, ASCII).String(); got != ASCII.No+" TXT NXDOMAIN" {
		t.Errorf("%q", got)
	}
	txt.Outcome, txt.Queries[0].Rcode = probe.OK, "NOERROR"
	if got := cellOf(&txt, probe.TypeA, true, ASCII).String(); got != ASCII.OK+" TXT found" {
		t.Errorf("%q", got)
	}
	if got := cellOf(&txt, probe.TypeAAAA, true, ASCII).String(); got != ASCII.None+" not asked" {
		t.Errorf("%q", got)
	}
}
