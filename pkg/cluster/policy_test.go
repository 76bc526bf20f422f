package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
)

func labelled(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func policy(namespace, name string, rules ...networkingv1.NetworkPolicyEgressRule) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, Egress: rules,
	}}
}

func allow(to networkingv1.NetworkPolicyPeer, ports ...networkingv1.NetworkPolicyPort) networkingv1.NetworkPolicyEgressRule {
	return networkingv1.NetworkPolicyEgressRule{To: []networkingv1.NetworkPolicyPeer{to}, Ports: ports}
}

func TestPoliciesThatSelectAPod(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "shop", Labels: map[string]string{"app": "web"}}}
	ingress := policy("shop", "ingress")
	ingress.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	implied := policy("shop", "implied", networkingv1.NetworkPolicyEgressRule{})
	implied.Spec.PolicyTypes = nil
	ofOthers := policy("shop", "of-others")
	ofOthers.Spec.PodSelector = *labelled("app", "db")
	mine := policy("shop", "deny-all")
	mine.Spec.PodSelector = *labelled("app", "web")
	client := fake.NewClientset(ingress, implied, ofOthers, mine, policy("elsewhere", "deny-all"))
	f := readPolicies(t.Context(), client, pod).fact(pod, dnsSeen{place: places[0]})
	if want := "deny-all: nothing; implied: any/any to any"; f.Value != want {
		t.Errorf("%+v, want %q", f, want)
	}
	onNode := pod.DeepCopy()
	onNode.Spec.HostNetwork = true
	if f := readPolicies(t.Context(), client, onNode).fact(onNode, dnsSeen{place: places[0]}); f.Value != "" || f.Unknown != "2 policies select it, but it is on the node's network, where most network plugins apply none" {
		t.Errorf("on the node's network: %+v", f)
	}
	onNode.Labels, onNode.Namespace = nil, "quiet"
	if f := readPolicies(t.Context(), client, onNode).fact(onNode, dnsSeen{place: places[0]}); f.Value != fact.None {
		t.Errorf("without policies: %+v", f)
	}
}

func TestRulesOfPolicies(t *testing.T) {
	udp, sctp := corev1.ProtocolUDP, corev1.ProtocolSCTP
	port := func(protocol *corev1.Protocol, p *intstr.IntOrString, end *int32) networkingv1.NetworkPolicyPort {
		return networkingv1.NetworkPolicyPort{Protocol: protocol, Port: p, EndPort: end}
	}
	number := func(n int32) *intstr.IntOrString { return new(intstr.FromInt32(n)) }
	dnsPods := labelled("k8s-app", "kube-dns")
	byName := labelled(corev1.LabelMetadataName, "kube-system")
	block := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"10.0.0.0/8", "169.254.0.0/16"}}}
	for name, tt := range map[string]struct {
		rule networkingv1.NetworkPolicyEgressRule
		want string
	}{
		"everything":                     {networkingv1.NetworkPolicyEgressRule{}, "any/any to any"},
		"TCP by default":                 {networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{port(nil, number(53), nil)}}, "tcp/53 to any"},
		"a range":                        {allow(block, port(&udp, number(50), new(int32(60)))), "udp/50-60 to 0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16"},
		"ports by name and all":          {allow(block, port(&udp, new(intstr.FromString("dns")), nil), port(&sctp, nil, nil)), "udp/dns to 0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16, sctp/any to 0.0.0.0/0 except 10.0.0.0/8 169.254.0.0/16"},
		"DNS by namespace and pods":      {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: byName, PodSelector: dnsPods}), "any/any to dns-pods"},
		"DNS by namespace":               {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: byName}), "any/any to dns-pods"},
		"DNS by pods in all namespaces":  {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: labelled(), PodSelector: dnsPods}), "any/any to dns-pods"},
		"DNS pods of this namespace":     {allow(networkingv1.NetworkPolicyPeer{PodSelector: dnsPods}), "any/any to pods k8s-app=kube-dns in shop"},
		"labels that nobody may read":    {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: labelled("tier", "system"), PodSelector: dnsPods}), "any/any to maybe-dns-pods"},
		"more labels than are known":     {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: byName, PodSelector: labelled("k8s-app", "kube-dns", "x", "y")}), "any/any to maybe-dns-pods"},
		"another label of the pods":      {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: byName, PodSelector: labelled("k8s-app", "metrics", "x", "y")}), "any/any to pods k8s-app=metrics and x=y in namespaces kubernetes.io/metadata.name=kube-system"},
		"another namespace":              {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: labelled(corev1.LabelMetadataName, "db")}), "any/any to all pods in namespaces kubernetes.io/metadata.name=db"},
		"other pods in all namespaces":   {allow(networkingv1.NetworkPolicyPeer{NamespaceSelector: labelled(), PodSelector: labelled("k8s-app", "x")}), "any/any to pods k8s-app=x in all namespaces"},
		"an expression that is no label": {allow(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"b", "c"}}}}}), "any/any to pods a in (b and c) in shop"},
	} {
		p := policyOf(policy("shop", "p", tt.rule), peerOf(dnsSeen{place: places[0]}, answer[*corev1.Namespace]{}))
		text := fact.PoliciesText([]fact.Policy{p})
		if want := "p: " + tt.want; text != want {
			t.Errorf("%s:\n%s, want\n%s", name, text, want)
		}
		if got, known := (fact.Facts{fact.NetworkPolicies: {Value: text}}).Policies(); !known || len(got) != 1 || len(got[0].Rules) != len(p.Rules) {
			t.Errorf("%s: read again as %+v", name, got)
		}
	}
	inSystem := policyOf(policy("kube-system", "p", allow(networkingv1.NetworkPolicyPeer{PodSelector: dnsPods})), peerOf(dnsSeen{place: places[0]}, answer[*corev1.Namespace]{}))
	if inSystem.Rules[0].To != fact.ToDNSPods {
		t.Errorf("in the namespace of the cluster's DNS: %+v", inSystem)
	}
}

func TestMatch(t *testing.T) {
	known := map[string]string{"a": "1"}
	for name, tt := range map[string]struct {
		selector   *metav1.LabelSelector
		all        bool
		yes, maybe bool
	}{
		"everything":          {nil, false, true, false},
		"empty":               {labelled(), false, true, false},
		"equal":               {labelled("a", "1"), false, true, false},
		"other":               {labelled("a", "2"), false, false, false},
		"unknown label":       {labelled("a", "1", "b", "2"), false, false, true},
		"no such label":       {labelled("a", "1", "b", "2"), true, false, false},
		"other in spite of b": {labelled("a", "2", "b", "2"), false, false, false},
		"nonsense":            {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}, true, false, true},
	} {
		if yes, maybe := match(tt.selector, known, tt.all); yes != tt.yes || maybe != tt.maybe {
			t.Errorf("%s: %v, %v", name, yes, maybe)
		}
	}
}
