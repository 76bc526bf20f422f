package diagnose

import (
	"testing"
)

// meshed is O20: a sidecar answers for every address, and has no AAAA records.
func meshed() modelled {
	return modelled{
		hosts: []string{"user-api.accounts.svc.cluster.local."}, conf: clusterConf, servers: append([]string{"192.0.2.53"}, clusterServers()...),
		rules: []string{"user-api.accounts.svc.cluster.local A * *: a:10.79.8.104"},
		facts: clusterFacts("mesh", "istio-proxy capture=true"),
	}
}

func TestMeshDNS(t *testing.T) {
	for _, libc := range libcs {
		t.Run(string(libc.libc), func(t *testing.T) {
			want := verdict{first: "mesh-dns", never: []string{"no-such-name", "healthy"}, says: []string{
				"192.0.2.53, where nothing lives, answered for user-api.accounts.svc.cluster.local.", "the sidecar istio-proxy answers", "aaaa-nxdomain", "musl ignores the option no-aaaa",
			}}
			if libc.libc == "musl" {
				want.says = append(want.says, "mesh-dns (critical)")
			}
			meshed().on(libc).expect(t, want)
		})
	}
	unknown := meshed()
	delete(unknown.facts, "mesh")
	unknown.expect(t, verdict{first: "mesh-dns", says: []string{"something on the way answers in its place"}, never: []string{"sidecar in this pod"}})
}

func TestMeshDNSIsNotClaimedWhere(t *testing.T) {
	// The server itself denies AAAA: nothing is intercepted.
	direct := meshed()
	direct.servers = clusterServers()
	direct.expect(t, verdict{first: "aaaa-nxdomain", never: []string{"mesh-dns"}})
	silent := meshed()
	silent.servers = append([]string{"192.0.2.53 silent"}, clusterServers()...)
	silent.expect(t, verdict{first: "aaaa-nxdomain", never: []string{"mesh-dns"}})
	// A mesh that answers well is what somebody wanted.
	fine := meshed().with("user-api.accounts.svc.cluster.local AAAA * *: nodata")
	fine.expect(t, verdict{first: "healthy"})
	if _, asked := fine.run(t); asked > 0 {
		t.Errorf("%d messages were asked although nothing is odd", asked)
	}
}
