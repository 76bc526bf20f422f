package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotReadyEndpointsInFull(t *testing.T) {
	want := `not-ready-endpoints (critical) node-1.ring-hl.store has no record yet: pod node-1 is Running, but not ready, and the headless Service ring-hl in namespace store only publishes ready pods.
  A headless Service has the addresses of its ready pods in DNS. The name is right, it comes into being when the pod is ready. Caches may keep saying NXDOMAIN for up to 30 s after that (the SOA's minimum).
  - pod node-1: 10.244.1.21 not-ready phase=Running node=node-b
  - Service ring-hl in namespace store: headless ready=1 not-ready=1
  - node-1.ring-hl.store.svc.cluster.local.: NXDOMAIN for A and AAAA, 1.0 ms [r-node-1.ring-hl.store-now #2]
  > Set publishNotReadyAddresses to true on Service ring-hl, if peers have to find each other before they are ready. |  | Clients then also get pods that cannot serve yet.
  > Else find out what keeps the pod from becoming ready: kubectl -n store describe pod node-1 |  | 
`
	if diff := cmp.Diff(want, told(Diagnose(notReadyPeer("headless ready=1 not-ready=1", "10.244.1.21 not-ready phase=Running node=node-b")))); diff != "" {
		t.Error(diff)
	}
}

func TestNotReadyEndpointsVerdicts(t *testing.T) {
	const notReady = "10.244.1.21 not-ready phase=Running"
	service := func(value string) Input {
		in := input(kubernetes(5), trace{host: "ring-hl.store", outcome: nowhere().outcome, tries: []try{
			denied("ring-hl.store.shop.svc.cluster.local.", 0, ms), denied("ring-hl.store.svc.cluster.local.", 1, ms), denied("ring-hl.store.cluster.local.", 2, ms),
			denied("ring-hl.store.ec2.internal.", 3, ms), denied("ring-hl.store.", -1, ms),
		}})
		return facts(in, "service ring-hl.store", value)
	}
	checkVerdicts(t, map[string]judged{
		"the pod is ready":               {notReadyPeer("headless ready=2", "10.244.1.21 ready phase=Running"), "no-such-name"},
		"there is no such pod":           {notReadyPeer("headless ready=1", "none"), "no-such-name"},
		"it is published all the same":   {notReadyPeer("headless ready=1 not-ready=1 publish-not-ready", notReady), "no-such-name"},
		"the Service has an address":     {notReadyPeer("ClusterIP 10.96.0.9 ready=1", notReady), "no-such-name"},
		"there is no such Service":       {notReadyPeer("none", notReady), "no-such-name"},
		"nobody knows":                   {notReadyPeer("", ""), "no-such-name"},
		"a Service without a ready pod":  {service("headless ready=0 not-ready=2"), "not-ready-endpoints"},
		"a Service with one":             {service("headless ready=1 not-ready=1"), "no-such-name"},
		"a Service that selects nothing": {service("headless ready=0"), "no-such-name"},
	})
}
