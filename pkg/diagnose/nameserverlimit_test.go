package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func TestNameserverLimitInFull(t *testing.T) {
	want := `nameserver-limit (critical) erp.corp.example is known to nameserver 10.9.0.53, which was left out: it is beyond the limit of three nameservers.
  Three nameservers are the most that a pod gets and that glibc asks: 10.8.0.53, 10.8.0.54 and 203.0.113.53. The one left out is 10.9.0.53, and it has the name. The three say that it does not exist.
  - erp.corp.example.node.example.com.: NXDOMAIN for A and AAAA, 1.0 ms [r-erp.corp.example-now #2]
  - Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.8.0.53 10.8.0.54 203.0.113.53
  - 10.9.0.53, asked directly for erp.corp.example: 10.9.4.4 [at 10.9.0.53 erp.corp.example #0]
  > Set dnsPolicy to None with nameservers 10.9.0.53, 10.8.0.53 and 10.8.0.54, search node.example.com and ndots 1. |  | Adding it through dnsConfig.nameservers does nothing while dnsPolicy stays: additions come last and are cut.
  > For all pods: shorten the node's file to three, or let one nameserver forward each zone to the server that knows it. |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(fourth(said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4"))))); diff != "" {
		t.Error(diff)
	}
}

func TestNameserverLimitVerdicts(t *testing.T) {
	known := said("10.9.0.53", "erp.corp.example", probe.OK, "10.9.4.4")
	checkVerdicts(t, map[string]judged{
		"the fourth denies it, too":         {fourth(said("10.9.0.53", "erp.corp.example", probe.NXDomain)), ""},
		"the fourth is silent":              {fourth(said("10.9.0.53", "erp.corp.example", probe.Again)), ""},
		"the event is gone":                 {withFact(fourth(known), fact.DNSEvents, "none"), "nameserver-limit"},
		"only the event is known":           {withFact(fourth(), fact.NodeResolvConf, ""), "nameserver-limit"},
		"the policy does not take the file": {withFact(withFact(fourth(said("10.9.0.53", "erp.corp.example", probe.NXDomain)), fact.DNSPolicy, "None"), fact.DNSEvents, "none"), ""},
	})
	// What multi-nameserver asks of the three comes after.
	if asks := wanted(fourth()); !strings.HasPrefix(asks, "erp.corp.example at 10.9.0.53") {
		t.Errorf("asks %s", asks)
	}
}
