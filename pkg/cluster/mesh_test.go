package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMeshes(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	env := func(name, value string) []corev1.EnvVar { return []corev1.EnvVar{{Name: name, Value: value}} }
	for name, tt := range map[string]struct {
		containers, init    []corev1.Container
		annotations, labels map[string]string
		want                string
	}{
		"none":               {containers: []corev1.Container{{Name: "app"}}, want: "none"},
		"Istio with capture": {containers: []corev1.Container{{Name: "app"}, {Name: "istio-proxy", Env: env("ISTIO_META_DNS_CAPTURE", "true")}}, want: "istio-proxy capture=true"},
		"Istio without":      {containers: []corev1.Container{{Name: "istio-proxy"}}, want: "istio-proxy capture=false"},
		"Istio as a sidecar of its own": {
			containers: []corev1.Container{{Name: "app"}}, init: []corev1.Container{{Name: "istio-proxy", RestartPolicy: &always, Env: env("ISTIO_META_DNS_CAPTURE", "true")}},
			want: "istio-proxy capture=true",
		},
		"an init container of that name": {containers: []corev1.Container{{Name: "app"}}, init: []corev1.Container{{Name: "istio-proxy"}}, want: "none"},
		"ambient":                        {annotations: map[string]string{"ambient.istio.io/redirection": "enabled"}, want: "istio-ambient capture=unknown"},
		"Linkerd":                        {containers: []corev1.Container{{Name: "linkerd-proxy"}}, want: "linkerd-proxy capture=false"},
		"Kuma":                           {containers: []corev1.Container{{Name: "kuma-sidecar"}}, want: "kuma-sidecar capture=unknown"},
		"Kuma with DNS": {
			containers: []corev1.Container{{Name: "kuma-sidecar"}}, annotations: map[string]string{"kuma.io/builtin-dns": "enabled"}, want: "kuma-sidecar capture=true",
		},
		"Kuma without DNS": {containers: []corev1.Container{{Name: "kuma-sidecar", Env: env("KUMA_DNS_ENABLED", "false")}}, want: "kuma-sidecar capture=false"},
		"Consul":           {containers: []corev1.Container{{Name: "consul-dataplane"}}, want: "consul-dataplane capture=unknown"},
		"an Envoy":         {containers: []corev1.Container{{Name: "envoy"}}, want: "none"},
		"Open Service Mesh": {
			containers: []corev1.Container{{Name: "envoy"}}, labels: map[string]string{"osm-proxy-uuid": "1"}, want: "envoy capture=unknown",
		},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tt.annotations, Labels: tt.labels}, Spec: corev1.PodSpec{Containers: tt.containers, InitContainers: tt.init}}
		if got := sidecarOf(pod).Text(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
