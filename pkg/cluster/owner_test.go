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

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
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
			if managed := got.Managed; (managed.Unknown != "") != (tt.want.Owner.Kind == "Rollout") || managed.Unknown == "" && managed.Value != fact.None {
				t.Errorf("managed by %+v", managed)
			}
			if got.Fact.Value == "" || strings.Contains(got.Fact.Source, "not read") {
				t.Errorf("fact %+v", got.Fact)
			}
		})
	}
}

// forbid makes a client refuse a verb on a resource; "*" stands for all.
func forbid(client *fake.Clientset, verb, resource string) *fake.Clientset {
	client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("RBAC"))
	})
	return client
}

func TestOwnerThatMayNotBeReadIsKnownByItsName(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", Namespace: "shop", Labels: map[string]string{"pod-template-hash": "5d4"}, OwnerReferences: controlledBy("apps/v1", "ReplicaSet", "web-5d4"),
	}}
	got := OwnerOf(t.Context(), forbid(fake.NewClientset(), "get", "replicasets"), pod)
	if want := (probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}); got.Workload.Owner != want {
		t.Errorf("owner %+v", got.Workload.Owner)
	}
	if !strings.Contains(got.Fact.Source, "not read completely") {
		t.Errorf("fact %+v", got.Fact)
	}
	if want := "you may not get replicasets in namespace shop; that permission would tell"; got.Managed.Unknown != want {
		t.Errorf("managed by %+v", got.Managed)
	}
}
