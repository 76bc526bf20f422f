package probe

import "testing"

func TestClusterZone(t *testing.T) {
	for _, c := range []struct {
		name   string
		search []string
		want   string
	}{
		{"as the kubelet writes it", []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "ec2.internal"}, "cluster.local"},
		{"another zone, final dots, capitals", []string{"shop.svc.k8s.corp.example.", "SVC.k8s.corp.example."}, "k8s.corp.example"},
		{"a node's own list", []string{"ec2.internal"}, ""},
		{"nothing after svc", []string{"svc", "svc."}, ""},
		{"no list", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ClusterZone(c.search); got != c.want {
				t.Errorf("ClusterZone = %q, want %q", got, c.want)
			}
		})
	}
}

func TestInZone(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		want       bool
	}{
		{"a.svc.cluster.local.", "cluster.local", true},
		{"CLUSTER.local", "cluster.local.", true},
		{"notcluster.local.", "cluster.local", false},
		{"a.ec2.internal.", "cluster.local", false},
		{"local", "cluster.local", false},
		{"a.", "", false},
	} {
		if got := InZone(c.name, c.zone); got != c.want {
			t.Errorf("InZone(%q, %q) = %v, want %v", c.name, c.zone, got, c.want)
		}
	}
}
