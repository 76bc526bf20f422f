package diagnose

import (
	"testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func TestWindowsNamesVerdicts(t *testing.T) {
	on := func(system string, tr trace) Input { return facts(input(kubernetes(5), tr), fact.OSImage, system) }
	windows := "Windows Server 2022 Datacenter"
	outside := classic()
	checkVerdicts(t, map[string]judged{
		"a name with a dot":             {on(windows, bySearch("ledger.core", 1, "10.96.44.7")), "windows-names healthy"},
		"a name of the next domain":     {on(windows, bySearch("ledger", 1, "10.96.44.7")), "windows-names healthy"},
		"a name of the pod's namespace": {on(windows, bySearch("ledger", 0, "10.96.44.7")), "healthy"},
		"a name that is complete":       {on(windows, outside), "search-walk healthy"},
		"Linux":                         {on("Debian GNU/Linux 12", bySearch("ledger.core", 1, "10.96.44.7")), "healthy"},
		"nobody knows":                  {on("", bySearch("ledger.core", 1, "10.96.44.7")), "healthy"},
	})
}
