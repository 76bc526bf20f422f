package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// The names of facts.
const (
	FactDNSPolicy   = "dnsPolicy"
	FactDNSConfig   = "dnsConfig"
	FactHostNetwork = "hostNetwork"
	FactHostAliases = "hostAliases"
	FactOwner       = "owner"
	FactDNSService  = "dnsService"
)

// PodFacts are the facts in a pod's own spec.
func PodFacts(pod *corev1.Pod) map[string]probe.Fact {
	from := func(field string) string { return fmt.Sprintf("spec.%s of pod %s/%s", field, pod.Namespace, pod.Name) }
	policy := pod.Spec.DNSPolicy
	if policy == "" {
		policy = corev1.DNSClusterFirst
	}
	return map[string]probe.Fact{
		FactDNSPolicy:   {Value: string(policy), Source: from("dnsPolicy")},
		FactDNSConfig:   {Value: dnsConfigText(pod.Spec.DNSConfig), Source: from("dnsConfig")},
		FactHostNetwork: {Value: fmt.Sprint(pod.Spec.HostNetwork), Source: from("hostNetwork")},
		FactHostAliases: {Value: hostAliasesText(pod.Spec.HostAliases), Source: from("hostAliases")},
	}
}

// dnsConfigText is a dnsConfig in the words of resolv.conf.
func dnsConfigText(c *corev1.PodDNSConfig) string {
	if c == nil {
		return "none"
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
		return "none"
	}
	return strings.Join(parts, "; ")
}

func hostAliasesText(aliases []corev1.HostAlias) string {
	if len(aliases) == 0 {
		return "none"
	}
	var parts []string
	for _, a := range aliases {
		parts = append(parts, a.IP+" "+strings.Join(a.Hostnames, " "))
	}
	return strings.Join(parts, "; ")
}

// Look reads everything about a pod that its DNS depends on, all at once: the facts, and the workload that owns it.
func Look(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (map[string]probe.Fact, Ownership) {
	facts := PodFacts(pod)
	var (
		wg      sync.WaitGroup
		owner   Ownership
		service probe.Fact
	)
	wg.Go(func() { owner = OwnerOf(ctx, client, pod) })
	wg.Go(func() { service = dnsService(ctx, client) })
	wg.Wait()
	facts[FactOwner], facts[FactDNSService] = owner.Fact, service
	return facts, owner
}

// dnsService finds the address of the cluster's DNS Service: the one called kube-dns, which CoreDNS keeps for compatibility, else
// the one with the label that add-ons give it.
func dnsService(ctx context.Context, client kubernetes.Interface) probe.Fact {
	services := client.CoreV1().Services(metav1.NamespaceSystem)
	const name = "kube-dns"
	s, err := services.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return serviceFact(s)
	}
	if apierrors.IsNotFound(err) {
		list, listErr := services.List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=" + name})
		if listErr == nil && len(list.Items) > 0 {
			return serviceFact(&list.Items[0])
		}
		return probe.Fact{Unknown: "namespace kube-system has no Service kube-dns, and none with the label k8s-app=kube-dns", Source: "services of kube-system"}
	}
	if apierrors.IsForbidden(err) {
		return probe.Fact{Unknown: "you may not get services in namespace kube-system; that permission would tell", Source: "services of kube-system"}
	}
	return probe.Fact{Unknown: err.Error(), Source: "services of kube-system"}
}

func serviceFact(s *corev1.Service) probe.Fact {
	return probe.Fact{Value: strings.Join(clusterIPs(s), " "), Source: fmt.Sprintf("spec.clusterIPs of service %s/%s", s.Namespace, s.Name)}
}

func clusterIPs(s *corev1.Service) []string {
	if len(s.Spec.ClusterIPs) > 0 {
		return s.Spec.ClusterIPs
	}
	return []string{s.Spec.ClusterIP}
}
