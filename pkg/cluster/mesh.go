package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

// meshes are the containers of service meshes that are put into pods, and whether each takes the pod's DNS messages: "true",
// "false", or "unknown" where the spec does not tell.
var meshes = map[string]func(pod *corev1.Pod, c *corev1.Container) string{
	// istio.io, DNS Proxying: a setting of the mesh or of the pod, which becomes a variable of the proxy.
	"istio-proxy": func(_ *corev1.Pod, c *corev1.Container) string {
		return yes(literal(c, "ISTIO_META_DNS_CAPTURE") == "true")
	},
	// linkerd.io, Protocol Detection and Redirection: its init container redirects TCP, and leaves UDP alone.
	"linkerd-proxy": func(*corev1.Pod, *corev1.Container) string { return "false" },
	// kuma.io, Configure transparent proxying: on unless an annotation says no, where the redirection was not set up otherwise.
	"kuma-sidecar": func(pod *corev1.Pod, c *corev1.Container) string {
		switch {
		case pod.Annotations["kuma.io/builtin-dns"] == "enabled" || pod.Annotations["kuma.io/builtindns"] == "enabled" || literal(c, "KUMA_DNS_ENABLED") == "true":
			return "true"
		case pod.Annotations["kuma.io/builtin-dns"] == "disabled" || pod.Annotations["kuma.io/builtindns"] == "disabled" || literal(c, "KUMA_DNS_ENABLED") == "false":
			return "false"
		}
		return "unknown"
	},
	// developer.hashicorp.com/consul, Consul DNS with transparent proxy: decided when the pod was changed on its way in.
	"consul-dataplane": func(*corev1.Pod, *corev1.Container) string { return "unknown" },
	// openservicemesh.io: a local DNS proxy is a setting of the mesh.
	"envoy": func(pod *corev1.Pod, _ *corev1.Container) string {
		if pod.Labels["osm-proxy-uuid"] == "" {
			return ""
		}
		return "unknown"
	},
}

// sidecarOf returns the mesh that a pod is in. A pod in Istio's ambient mode has no container of it: its messages go through the
// node's, which can take DNS messages too.
func sidecarOf(pod *corev1.Pod) fact.Sidecar {
	for _, c := range running(pod) {
		capture, known := meshes[c.Name]
		if !known {
			continue
		}
		if is := capture(pod, &c); is != "" {
			return fact.Sidecar{Exists: true, Name: c.Name, Capture: is}
		}
	}
	if pod.Annotations["ambient.istio.io/redirection"] == "enabled" {
		return fact.Sidecar{Exists: true, Name: "istio-ambient", Capture: "unknown"}
	}
	return fact.Sidecar{}
}

// literal returns the value of a variable that stands in the spec itself.
func literal(c *corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

func yes(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
