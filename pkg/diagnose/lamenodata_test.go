package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestLameNodataVerdicts(t *testing.T) {
	withFlags := func(flags ...string) Input {
		tr := lame("www.example.net", probe.NoData)
		for i := range tr.tries[0].a {
			tr.tries[0].a[i].flags, tr.tries[0].aaaa[i].flags = flags, flags
		}
		return input(node(), tr)
	}
	first := empty(ms)
	first.flags, first.use = []string{"RD"}, probe.UseRejected
	second := by(dns1, found(ms, "198.51.100.4"))
	second.flags = []string{"RD", "RA"}
	none := by(dns1, empty(ms))
	none.flags = []string{"RD", "RA"}
	next := trace{host: "www.example.net", outcome: probe.OK, addresses: []string{"198.51.100.4"}, tries: []try{
		{name: "www.example.net.", search: -1, outcome: probe.OK, a: []message{first, second}, aaaa: []message{first, none}},
	}}
	checkVerdicts(t, map[string]judged{
		"neither owns nor asks":        {withFlags("RD"), "lame-nodata"},
		"it asks others":               {withFlags("RD", "RA"), ""},
		"it owns the zone":             {withFlags("AA", "RD"), ""},
		"nobody kept the flags":        {withFlags(), ""},
		"the next server has the name": {input(node(), next), "lame-nodata"},
	})
}
