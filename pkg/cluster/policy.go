package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// policiesSeen is what was read of the NetworkPolicies of a namespace.
type policiesSeen struct {
	policies answer[[]networkingv1.NetworkPolicy]
	// system is the namespace of the cluster's DNS. It is only read where a selector of namespaces hangs on its labels.
	system answer[*corev1.Namespace]
}

func readPolicies(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) policiesSeen {
	list, err := client.NetworkingV1().NetworkPolicies(pod.Namespace).List(ctx, metav1.ListOptions{Limit: maxPolicies})
	if err != nil {
		return policiesSeen{policies: asked[[]networkingv1.NetworkPolicy](listPolicies, pod.Namespace, nil, err)}
	}
	seen := policiesSeen{policies: asked(listPolicies, pod.Namespace, egressOf(list.Items, pod), nil)}
	if list.Continue != "" {
		seen.policies.err = fmt.Errorf("there are more than %d", maxPolicies)
		return seen
	}
	if slices.ContainsFunc(seen.policies.value, hangsOnNamespace) {
		n, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		seen.system = asked(getNamespace, "", n, err)
	}
	return seen
}

// maxPolicies bounds the policies of a namespace that are read. With more than that nobody knows what is allowed.
const maxPolicies = 500

// egressOf returns the policies that select the pod for egress. Without policyTypes a policy is one for egress when it has rules
// for that (k8s.io/api networking/v1 NetworkPolicySpec.PolicyTypes).
func egressOf(all []networkingv1.NetworkPolicy, pod *corev1.Pod) []networkingv1.NetworkPolicy {
	var out []networkingv1.NetworkPolicy
	for _, p := range all {
		forEgress := slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) || len(p.Spec.PolicyTypes) == 0 && len(p.Spec.Egress) > 0
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if forEgress && err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b networkingv1.NetworkPolicy) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// hangsOnNamespace says whether what a policy allows depends on labels of namespaces.
func hangsOnNamespace(p networkingv1.NetworkPolicy) bool {
	for _, rule := range p.Spec.Egress {
		for _, to := range rule.To {
			if to.NamespaceSelector != nil && (len(to.NamespaceSelector.MatchLabels) > 0 || len(to.NamespaceSelector.MatchExpressions) > 0) {
				return true
			}
		}
	}
	return false
}

// dnsPeer is the cluster's DNS as a selector sees it.
type dnsPeer struct {
	namespace string
	// namespaceLabels and podLabels are what is known of the labels. Where they are not all, others may be there besides.
	namespaceLabels, podLabels       labels.Set
	allNamespaceLabels, allPodLabels bool
}

// peerOf tells the labels of the cluster's DNS. The API server itself gives each namespace a label with its name
// (k8s.io/api core/v1 LabelMetadataName).
func peerOf(dns dnsSeen, system answer[*corev1.Namespace]) dnsPeer {
	peer := dnsPeer{namespace: dns.place.namespace, namespaceLabels: labels.Set{corev1.LabelMetadataName: dns.place.namespace}}
	if system.value != nil && system.value.Name == peer.namespace {
		peer.namespaceLabels = labels.Merge(system.value.Labels, peer.namespaceLabels)
		peer.allNamespaceLabels = true
	}
	switch {
	case len(dns.pods.value) > 0:
		peer.podLabels, peer.allPodLabels = dns.pods.value[0].Labels, true
	case dns.service.value != nil:
		peer.podLabels = dns.service.value.Spec.Selector
	default:
		peer.podLabels, _ = labels.ConvertSelectorToLabelsMap(dns.place.label)
	}
	return peer
}

// match says whether a selector selects labels of which all or only some are known. A nil selector selects everything.
func match(selector *metav1.LabelSelector, known labels.Set, all bool) (yes, maybe bool) {
	if selector == nil {
		return true, false
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return false, true
	}
	if all {
		return s.Matches(known), false
	}
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		if !known.Has(r.Key()) {
			maybe = true
			continue
		}
		if !r.Matches(known) {
			return false, false
		}
	}
	return !maybe, maybe
}

// policiesFact has the policies that select the pod.
func (s policiesSeen) fact(pod *corev1.Pod, dns dnsSeen) probe.Fact {
	source := "networkpolicies of " + pod.Namespace
	if s.policies.err != nil {
		return s.policies.fact(source)
	}
	if pod.Spec.HostNetwork && len(s.policies.value) > 0 {
		return probe.Fact{
			Unknown: fmt.Sprintf("%s select it, but it is on the node's network, where most network plugins apply none",
				count(len(s.policies.value), "policy", "policies")),
			Source: source,
		}
	}
	peer := peerOf(dns, s.system)
	var list []fact.Policy
	for _, p := range s.policies.value {
		list = append(list, policyOf(&p, peer))
	}
	if s.system.err != nil {
		source += "; the labels of namespace " + peer.namespace + " are not known: " + s.system.unknown()
	}
	text := fact.PoliciesText(list)
	if len(text) > maxConfig {
		return probe.Fact{Unknown: fmt.Sprintf("%s with more rules than are read", count(len(list), "policy", "policies")), Source: source}
	}
	return probe.Fact{Value: text, Source: source}
}

func policyOf(p *networkingv1.NetworkPolicy, dns dnsPeer) fact.Policy {
	out := fact.Policy{Name: p.Name}
	for _, rule := range p.Spec.Egress {
		tos := []string{"any"}
		if len(rule.To) > 0 {
			tos = nil
			for _, to := range rule.To {
				tos = append(tos, toText(to, p.Namespace, dns))
			}
		}
		ports := []fact.PolicyRule{{Protocol: "any", Port: "any"}}
		if len(rule.Ports) > 0 {
			ports = nil
			for _, port := range rule.Ports {
				ports = append(ports, portOf(port))
			}
		}
		for _, to := range tos {
			for _, port := range ports {
				port.To = to
				out.Rules = append(out.Rules, port)
			}
		}
	}
	return out
}

// portOf reads a port of a policy. Without a protocol it is TCP, without a number it is every port.
func portOf(p networkingv1.NetworkPolicyPort) fact.PolicyRule {
	rule := fact.PolicyRule{Protocol: "tcp", Port: "any"}
	if p.Protocol != nil {
		rule.Protocol = strings.ToLower(string(*p.Protocol))
	}
	switch {
	case p.Port == nil:
	case p.Port.Type == intstr.String:
		rule.Port = p.Port.StrVal
	case p.EndPort != nil:
		rule.Port = fmt.Sprintf("%d-%d", p.Port.IntVal, *p.EndPort)
	default:
		rule.Port = strconv.Itoa(int(p.Port.IntVal))
	}
	return rule
}

// toText writes a peer of a policy that is in a namespace.
func toText(to networkingv1.NetworkPolicyPeer, namespace string, dns dnsPeer) string {
	if b := to.IPBlock; b != nil {
		if len(b.Except) == 0 {
			return b.CIDR
		}
		return b.CIDR + " except " + strings.Join(b.Except, " ")
	}
	inNamespace, maybe := namespace == dns.namespace, false
	if to.NamespaceSelector != nil {
		inNamespace, maybe = match(to.NamespaceSelector, dns.namespaceLabels, dns.allNamespaceLabels)
	}
	pods, maybePods := match(to.PodSelector, dns.podLabels, dns.allPodLabels)
	switch {
	case inNamespace && pods:
		return fact.ToDNSPods
	case (inNamespace || maybe) && (pods || maybePods):
		return fact.ToMaybeDNSPods
	}
	text := "all pods"
	if to.PodSelector != nil && selectorText(to.PodSelector) != "" {
		text = "pods " + selectorText(to.PodSelector)
	}
	switch {
	case to.NamespaceSelector == nil:
		return text + " in " + namespace
	case selectorText(to.NamespaceSelector) == "":
		return text + " in all namespaces"
	}
	return text + " in namespaces " + selectorText(to.NamespaceSelector)
}

// selectorText writes a selector without commas, which separate rules; empty for one that selects everything.
func selectorText(s *metav1.LabelSelector) string {
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return ""
	}
	return strings.ReplaceAll(metav1.FormatLabelSelector(s), ",", " and ")
}
