package view

import (
	"strings"
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestFactsOfSeveralLines(t *testing.T) {
	run := &probe.Run{Facts: map[string]probe.Fact{
		"corefile":  {Value: strings.Repeat(".:53 {\n}\n", 10), Source: "configmap kube-system/coredns"},
		"dnsEvents": {Value: "first\nsecond", Source: "events"},
		"kernel":    {Unknown: "you may not get nodes; that permission would tell"},
		"osImage":   {Value: "Debian"},
	}}
	var got strings.Builder
	for _, l := range Facts(run, Frame{Width: 100}) {
		got.WriteString(l.String() + "\n")
	}
	want := `corefile  20 lines, in full with -o json (from configmap kube-system/coredns)
dnsEvents  first / second (from events)
kernel  unknown: you may not get nodes; that permission would tell
osImage  Debian
`
	if got.String() != want {
		t.Errorf("facts:\n%s\nwant:\n%s", got.String(), want)
	}
}
