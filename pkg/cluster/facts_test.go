package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func controlledBy(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}}
}

// options is a dnsConfig with one option.
func options(name, value string) *corev1.PodDNSConfig {
	return &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: name, Value: &value}}}
}

func template(c *corev1.PodDNSConfig) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{DNSConfig: c}}
}

func TestOwnerOf(t *testing.T) {
	meta := func(name string, refs ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "shop", OwnerReferences: refs}
	}
	client := fake.NewClientset(
		&appsv1.ReplicaSet{ObjectMeta: meta("web-5d4", controlledBy("apps/v1", "Deployment", "web")...)},
		&appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: template(options("timeout", "1"))}},
		&appsv1.ReplicaSet{ObjectMeta: meta("roll-5d4", controlledBy("argoproj.io/v1alpha1", "Rollout", "roll")...)},
		&appsv1.ReplicaSet{ObjectMeta: meta("bare"), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2))}},
		&appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{Replicas: new(int32(5)), Template: template(nil)}},
		&appsv1.DaemonSet{ObjectMeta: meta("agent"), Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 7}},
		&batchv1.Job{ObjectMeta: meta("night-1", controlledBy("batch/v1", "CronJob", "night")...)},
		&batchv1.CronJob{ObjectMeta: meta("night"), Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template(options("ndots", "2"))}}}},
		&batchv1.Job{ObjectMeta: meta("once")},
	)
	value := func(s string) *string { return &s }
	ofPod := &patch.DNSConfig{Options: []patch.Option{{Name: "edns0", Value: value("")}}}
	tests := []struct {
		name  string
		owner []metav1.OwnerReference
		want  patch.Workload
	}{
		{"nothing", nil, patch.Workload{Owner: probe.Owner{APIVersion: "v1", Kind: "Pod", Name: "p"}, DNSConfig: ofPod}},
		{"Deployment", controlledBy("apps/v1", "ReplicaSet", "web-5d4"), patch.Workload{
			Owner:     probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Replicas: new(int32(3))},
			DNSConfig: &patch.DNSConfig{Options: []patch.Option{{Name: "timeout", Value: value("1")}}},
		}},
		{"a kind of others", controlledBy("apps/v1", "ReplicaSet", "roll-5d4"), patch.Workload{
			Owner: probe.Owner{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "roll"}, DNSConfig: ofPod,
		}},
		{"ReplicaSet", controlledBy("apps/v1", "ReplicaSet", "bare"), patch.Workload{
			Owner: probe.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "bare", Replicas: new(int32(2))},
		}},
		{"StatefulSet", controlledBy("apps/v1", "StatefulSet", "db"), patch.Workload{
			Owner: probe.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", Replicas: new(int32(5))},
		}},
		{"DaemonSet", controlledBy("apps/v1", "DaemonSet", "agent"), patch.Workload{
			Owner: probe.Owner{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", Replicas: new(int32(7))},
		}},
		{"CronJob", controlledBy("batch/v1", "Job", "night-1"), patch.Workload{
			Owner:     probe.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "night"},
			DNSConfig: &patch.DNSConfig{Options: []patch.Option{{Name: "ndots", Value: value("2")}}},
		}},
		{"Job", controlledBy("batch/v1", "Job", "once"), patch.Workload{Owner: probe.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "once"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: meta("p", tt.owner...), Spec: corev1.PodSpec{DNSConfig: options("edns0", "")}}
			got := OwnerOf(t.Context(), client, pod)
			tt.want.Namespace = "shop"
			if diff := cmp.Diff(tt.want, got.Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
			if got.Fact.Value == "" || strings.Contains(got.Fact.Source, "not read") {
				t.Errorf("fact %+v", got.Fact)
			}
		})
	}
}

// forbidding returns a client that forbids to get a resource.
func forbidding(resource string, objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	client.PrependReactor("get", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("RBAC"))
	})
	return client
}

func TestOwnerThatMayNotBeReadIsKnownByItsName(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", Namespace: "shop", Labels: map[string]string{"pod-template-hash": "5d4"}, OwnerReferences: controlledBy("apps/v1", "ReplicaSet", "web-5d4"),
	}}
	got := OwnerOf(t.Context(), forbidding("replicasets"), pod)
	if want := (probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}); got.Workload.Owner != want {
		t.Errorf("owner %+v", got.Workload.Owner)
	}
	if !strings.Contains(got.Fact.Source, "not read completely") {
		t.Errorf("fact %+v", got.Fact)
	}
}

func TestFactsOfAPod(t *testing.T) {
	value := "2"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop"}, Spec: corev1.PodSpec{
		HostNetwork: true, DNSPolicy: corev1.DNSNone,
		DNSConfig: &corev1.PodDNSConfig{
			Nameservers: []string{"192.0.2.1"}, Searches: []string{"a", "b"},
			Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: &value}, {Name: "use-vc"}},
		},
		HostAliases: []corev1.HostAlias{{IP: "192.0.2.9", Hostnames: []string{"x", "y"}}},
	}}
	for name, want := range map[string]string{
		FactDNSPolicy: "None", FactHostNetwork: "true", FactHostAliases: "192.0.2.9 x y",
		FactDNSConfig: "nameserver 192.0.2.1; search a b; options ndots:2 use-vc",
	} {
		if f := PodFacts(pod)[name]; f.Value != want || f.Source == "" {
			t.Errorf("%s: %+v, want %q", name, f, want)
		}
	}
	for name, want := range map[string]string{FactDNSPolicy: "ClusterFirst", FactHostNetwork: "false", FactHostAliases: "none", FactDNSConfig: "none"} {
		if f := PodFacts(&corev1.Pod{})[name]; f.Value != want {
			t.Errorf("of an empty pod: %s: %+v, want %q", name, f, want)
		}
	}
}

func TestDNSServiceAndWhatHidesIt(t *testing.T) {
	service := func(name, ip string, labels map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-system", Labels: labels}, Spec: corev1.ServiceSpec{ClusterIP: ip}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop"}}
	for name, tt := range map[string]struct {
		client         *fake.Clientset
		value, unknown string
	}{
		"kube-dns":         {fake.NewClientset(service("kube-dns", "198.51.100.10", nil)), "198.51.100.10", ""},
		"another name":     {fake.NewClientset(service("rke2-coredns", "198.51.100.11", map[string]string{"k8s-app": "kube-dns"})), "198.51.100.11", ""},
		"none":             {fake.NewClientset(), "", "has no Service kube-dns"},
		"may not be known": {forbidding("services", service("kube-dns", "198.51.100.10", nil)), "", "you may not get services in namespace kube-system"},
	} {
		facts, owner := Look(t.Context(), tt.client, pod)
		f := facts[FactDNSService]
		if f.Value != tt.value || !strings.Contains(f.Unknown, tt.unknown) || (f.Unknown == "") != (tt.unknown == "") {
			t.Errorf("%s: %+v", name, f)
		}
		if owner.Workload.Owner.Kind != "Pod" || facts[FactOwner].Value != "none" {
			t.Errorf("%s: owner %+v, fact %+v", name, owner.Workload.Owner, facts[FactOwner])
		}
	}
}
