package diagnose

import "testing"

func TestLeavesCluster(t *testing.T) {
	tests := []struct {
		name, zone string
		want       bool
	}{
		{"ledger.shop.svc.cluster.local.", "cluster.local", false},
		{"LEDGER.shop.svc.Cluster.Local", "cluster.local.", false},
		{"cluster.local.", "cluster.local", false},
		{"notcluster.local.", "cluster.local", true},
		{"api.stripe.com.", "cluster.local", true},
		{"ledger.", "cluster.local", true},
		{".", "cluster.local", true},
		{"", "cluster.local", true},
		// Unknown zone: nothing can be said.
		{"api.stripe.com.", "", false},
	}
	for _, tt := range tests {
		if got := LeavesCluster(tt.name, tt.zone); got != tt.want {
			t.Errorf("LeavesCluster(%q, %q) = %v, want %v", tt.name, tt.zone, got, tt.want)
		}
	}
}

func TestService(t *testing.T) {
	tests := []struct {
		name, zone, service, namespace string
		ok                             bool
	}{
		{"ledger.core.svc.cluster.local.", "cluster.local", "ledger", "core", true},
		{"Ledger.Core.SVC.cluster.local", "cluster.local.", "ledger", "core", true},
		{"node-1.ring-hl.store.svc.cluster.local.", "cluster.local", "ring-hl", "store", true},
		{"core.svc.cluster.local.", "cluster.local", "", "", false},
		{"ledger.core.cluster.local.", "cluster.local", "", "", false},
		{"ledger.core.svc.cluster.local.", "", "", "", false},
		{".core.svc.cluster.local.", "cluster.local", "", "", false},
		{"svc.cluster.local.", "cluster.local", "", "", false},
	}
	for _, tt := range tests {
		service, namespace, ok := Service(tt.name, tt.zone)
		if service != tt.service || namespace != tt.namespace || ok != tt.ok {
			t.Errorf("Service(%q, %q) = %q, %q, %v; want %q, %q, %v", tt.name, tt.zone, service, namespace, ok, tt.service, tt.namespace, tt.ok)
		}
	}
}
