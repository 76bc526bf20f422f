package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

// now is the time of the machine in all tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func TestFactsOfAPod(t *testing.T) {
	value := "2"
	started := before(52 * time.Hour)
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop"},
		Spec: corev1.PodSpec{
			HostNetwork: true, DNSPolicy: corev1.DNSNone,
			DNSConfig: &corev1.PodDNSConfig{
				Nameservers: []string{"192.0.2.1"}, Searches: []string{"a", "b"},
				Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: &value}, {Name: "use-vc"}},
			},
			HostAliases:    []corev1.HostAlias{{IP: "192.0.2.9", Hostnames: []string{"x", "y"}}},
			Containers:     []corev1.Container{{Name: "app", Image: "debian:12"}},
			InitContainers: []corev1.Container{{Name: "setup", Image: "busybox"}, {Name: "log", Image: "alpine:3.20", RestartPolicy: &always}},
		},
		Status: corev1.PodStatus{StartTime: &started, PodIP: "10.244.1.7", PodIPs: []corev1.PodIP{{IP: "10.244.1.7"}, {IP: "fd00::7"}}},
	}
	for name, want := range map[string]string{
		fact.DNSPolicy: "None", fact.HostNetwork: "true", fact.HostAliases: "192.0.2.9 x y", fact.Mesh: "none", fact.Images: "app=debian:12 log=alpine:3.20",
		fact.DNSConfig: "nameserver 192.0.2.1; search a b; options ndots:2 use-vc", fact.PodStarted: "52h0m0s",
		fact.PodIPs: "10.244.1.7 fd00::7",
	} {
		if f := PodFacts(pod, now)[name]; f.Value != want || f.Source == "" {
			t.Errorf("%s: %+v, want %q", name, f, want)
		}
	}
	for name, want := range map[string]string{
		fact.DNSPolicy: "ClusterFirst", fact.HostNetwork: "false", fact.HostAliases: "none", fact.DNSConfig: "none", fact.Images: "none",
	} {
		if f := PodFacts(&corev1.Pod{}, now)[name]; f.Value != want {
			t.Errorf("of an empty pod: %s: %+v, want %q", name, f, want)
		}
	}
	if f, there := PodFacts(&corev1.Pod{}, now)[fact.PodIPs]; there {
		t.Errorf("addresses of a pod that has none: %+v", f)
	}
	if f := PodFacts(&corev1.Pod{}, now)[fact.PodStarted]; f.Unknown == "" {
		t.Errorf("a pod that has not started: %+v", f)
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, LastTransitionTime: before(time.Hour)}}
	if f := PodFacts(pod, now)[fact.PodStarted]; f.Value != "1h0m0s" {
		t.Errorf("a pod whose sandbox was made again: %+v", f)
	}
	pod.Status.Conditions[0].LastTransitionTime = before(-time.Hour)
	if f := PodFacts(pod, now)[fact.PodStarted]; f.Value != "0s" {
		t.Errorf("a pod of a node whose clock is ahead: %+v", f)
	}
}

func TestDefaultContainer(t *testing.T) {
	pod := &corev1.Pod{}
	if got := DefaultContainer(pod); got != "" {
		t.Errorf("of a pod without containers: %q", got)
	}
	pod.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	for annotation, want := range map[string]string{"": "a", "b": "b", "c": "a"} {
		pod.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": annotation}
		if got := DefaultContainer(pod); got != want {
			t.Errorf("annotated %q: %q", annotation, got)
		}
	}
}
