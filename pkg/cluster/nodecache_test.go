package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func TestNodeCaches(t *testing.T) {
	pod := func(name, node string, ready bool, args ...string) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem, Labels: map[string]string{"k8s-app": "node-local-dns"}},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "log"}, {Name: "node-cache", Args: args}}},
		}
		if ready {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		return p
	}
	for name, tt := range map[string]struct {
		client *fake.Clientset
		want   string
	}{
		"none":              {fake.NewClientset(), "none"},
		"on other nodes":    {fake.NewClientset(pod("a", "node-b", true)), "none"},
		"ready":             {fake.NewClientset(pod("a", "node-a", true, "-localip", "169.254.20.10,10.96.0.10")), "169.254.20.10 10.96.0.10 ready pod=a"},
		"flag with value":   {fake.NewClientset(pod("a", "node-a", false, "--localip=169.254.20.10")), "169.254.20.10 not-ready pod=a"},
		"no addresses":      {fake.NewClientset(pod("a", "node-a", true, "-localip")), "ready pod=a"},
		"one that is ended": {fake.NewClientset(pod("a", "node-a", false), pod("b", "node-a", true, "-localip", "169.254.20.10")), "169.254.20.10 ready pod=b"},
	} {
		facts := readNodeCache(t.Context(), tt.client, "node-a").facts()
		if f := facts[fact.NodeLocal]; f.Value != tt.want || f.Source == "" {
			t.Errorf("%s: %+v, want %q", name, f, tt.want)
		}
		if tt.want == "none" && (!facts.IsNone(fact.NodeLocalCorefile) || !facts.IsNone(fact.DNSUpstreamService)) {
			t.Errorf("%s: %+v", name, facts)
		}
		if tt.want != "none" && (facts[fact.NodeLocalCorefile].Unknown != "namespace kube-system has no ConfigMap node-local-dns" || !facts.IsNone(fact.DNSUpstreamService)) {
			t.Errorf("%s: %+v", name, facts)
		}
	}
}
