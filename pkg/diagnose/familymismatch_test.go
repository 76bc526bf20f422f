package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestFamilyMismatchVerdicts(t *testing.T) {
	six := trace{host: "v6.example.net", outcome: probe.OK, addresses: []string{"2001:db8::7"}, tries: []try{
		pair("v6.example.net.", -1, probe.OK, empty(ms), found(ms, "2001:db8::7")),
	}}
	onlyA := trace{host: "v6.example.net", outcome: probe.NoData, tries: []try{
		{name: "v6.example.net.", search: -1, outcome: probe.NoData, a: []message{empty(ms)}},
	}}
	quad := said("198.19.0.10", "v6.example.net", probe.OK, "2001:db8::7")
	fromInside := func(families ...string) Input {
		s := node()
		s.Families = families
		return input(s, six)
	}
	hosts := trace{host: "db", libc: probe.Musl, outcome: probe.NoData, decidedBy: -1, by: "hosts"}
	checkVerdicts(t, map[string]judged{
		"the pod has IPv4 only":            {facts(input(node(), six), fact.PodIPs, "10.244.1.7"), "family-mismatch"},
		"the pod has both":                 {facts(input(node(), six), fact.PodIPs, "10.244.1.7 fd00::7"), "healthy"},
		"nobody knows what the pod has":    {input(node(), six), "healthy"},
		"its interfaces have IPv4 only":    {fromInside("IPv4"), "family-mismatch"},
		"its interfaces have both":         {fromInside("IPv4", "IPv6"), "healthy"},
		"asked for A only, not asked more": {judging(input(node(), onlyA), "v6.example.net"), ""},
		"asked for A only":                 {judging(input(node(), onlyA, quad), "v6.example.net"), "family-mismatch"},
		"it has neither":                   {judging(input(node(), onlyA, said("198.19.0.10", "v6.example.net", probe.NoData)), "v6.example.net"), ""},
		"/etc/hosts has the other family":  {input(node(), hosts), "family-mismatch"},
	})
}
