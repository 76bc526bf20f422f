package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestExternalNameVerdicts(t *testing.T) {
	gone := said("198.19.0.10", "db.example.com", probe.NXDomain)
	works := facts(input(kubernetes(5), bySearch("db", 0, "203.0.113.5")), "service db.shop", "ExternalName db.example.com")
	checkVerdicts(t, map[string]judged{
		"not asked yet":                 {alias("ExternalName db.example.com"), ""},
		"the target is gone":            {alias("ExternalName db.example.com", gone), "external-name"},
		"the target is there":           {alias("ExternalName db.example.com", said("198.19.0.10", "db.example.com", probe.OK, "203.0.113.5")), ""},
		"the target is silent":          {alias("ExternalName db.example.com", said("198.19.0.10", "db.example.com", probe.Again)), "no-such-name"},
		"an address in place of a name": {alias("ExternalName 203.0.113.5"), "external-name"},
		"another kind of Service":       {alias("none", gone), "no-such-name"},
		"it works":                      {works, "external-name healthy"},
	})
	if f := Diagnose(works)[0]; f.Severity != probe.Info {
		t.Errorf("an alias that works is %s", f.Severity)
	}
}
