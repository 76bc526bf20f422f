package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// PodFacts are the facts that a pod tells of itself. now is the time of this machine.
func PodFacts(pod *corev1.Pod, now time.Time) fact.Facts {
	from := func(field string) string { return fmt.Sprintf("%s of pod %s/%s", field, pod.Namespace, pod.Name) }
	policy := pod.Spec.DNSPolicy
	if policy == "" {
		policy = corev1.DNSClusterFirst
	}
	facts := fact.Facts{
		fact.DNSPolicy:   {Value: string(policy), Source: from("spec.dnsPolicy")},
		fact.DNSConfig:   bounded(dnsConfigText(pod.Spec.DNSConfig), from("spec.dnsConfig"), maxValue),
		fact.HostNetwork: {Value: fmt.Sprint(pod.Spec.HostNetwork), Source: from("spec.hostNetwork")},
		fact.HostAliases: bounded(hostAliasesText(pod.Spec.HostAliases), from("spec.hostAliases"), maxValue),
		fact.Mesh:        {Value: sidecarOf(pod).Text(), Source: from("containers and annotations")},
		fact.Images:      bounded(imagesText(pod), from("spec.containers"), maxValue),
		fact.PodStarted:  startedFact(pod, now, from),
	}
	if ips := podIPs(pod); ips != "" {
		facts[fact.PodIPs] = probe.Fact{Value: ips, Source: from("status.podIPs")}
	}
	return facts
}

// podIPs are the pod's addresses, one of each family at most.
func podIPs(pod *corev1.Pod) string {
	var list []string
	for _, ip := range pod.Status.PodIPs {
		list = append(list, ip.IP)
	}
	if len(list) == 0 {
		return pod.Status.PodIP
	}
	return strings.Join(list, " ")
}

// dnsConfigText is a dnsConfig in the words of resolv.conf.
func dnsConfigText(c *corev1.PodDNSConfig) string {
	if c == nil {
		return fact.None
	}
	var parts []string
	if len(c.Nameservers) > 0 {
		parts = append(parts, "nameserver "+strings.Join(c.Nameservers, " "))
	}
	if len(c.Searches) > 0 {
		parts = append(parts, "search "+strings.Join(c.Searches, " "))
	}
	if len(c.Options) > 0 {
		words := []string{"options"}
		for _, o := range c.Options {
			word := o.Name
			if o.Value != nil {
				word += ":" + *o.Value
			}
			words = append(words, word)
		}
		parts = append(parts, strings.Join(words, " "))
	}
	if len(parts) == 0 {
		return fact.None
	}
	return strings.Join(parts, "; ")
}

func hostAliasesText(aliases []corev1.HostAlias) string {
	if len(aliases) == 0 {
		return fact.None
	}
	var parts []string
	for _, a := range aliases {
		parts = append(parts, a.IP+" "+strings.Join(a.Hostnames, " "))
	}
	return strings.Join(parts, "; ")
}

// running are the containers that run beside each other, sidecars among the init containers included.
func running(pod *corev1.Pod) []corev1.Container {
	out := slices.Clone(pod.Spec.Containers)
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = append(out, c)
		}
	}
	return out
}

func imagesText(pod *corev1.Pod) string {
	var words []string
	for _, c := range running(pod) {
		words = append(words, c.Name+"="+c.Image)
	}
	if len(words) == 0 {
		return fact.None
	}
	return strings.Join(words, " ")
}

// startedFact says how long ago the pod's sandbox was made, which is when its resolv.conf was written. Kubelets since 1.29 say when
// the sandbox was there (k8s.io/api core/v1 PodReadyToStartContainers); before, the time when they took the pod on is close to it.
func startedFact(pod *corev1.Pod, now time.Time, from func(string) string) probe.Fact {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return probe.Fact{Value: ago(c.LastTransitionTime.Time, now), Source: from("status.conditions " + string(c.Type))}
		}
	}
	if t := pod.Status.StartTime; t != nil {
		return probe.Fact{Value: ago(t.Time, now), Source: from("status.startTime")}
	}
	return probe.Fact{Unknown: "the kubelet has not said so yet", Source: from("status.startTime")}
}

// DefaultContainer is the container that a target means when none is named: the annotated, else the first (as kubectl has it).
func DefaultContainer(pod *corev1.Pod) string {
	if name := pod.Annotations["kubectl.kubernetes.io/default-container"]; name != "" &&
		slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name }) {
		return name
	}
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	return pod.Spec.Containers[0].Name
}
