package cluster

import (
	"context"
	"fmt"
	"strings"
	"sync"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Scope says where a permission is needed.
type Scope int

// The scopes.
const (
	// InPodNamespace is the namespace of the pod that is looked at.
	InPodNamespace Scope = iota
	// InSystem is the namespace of the cluster's DNS, kube-system.
	InSystem
	// InDefault is the namespace default, where events of nodes are.
	InDefault
	// InCluster is everywhere: for objects that have no namespace, and for those of a namespace that a host names.
	InCluster
)

// Permission is a verb on a resource that facts rest on. A run works without any of them.
type Permission struct {
	Verb, Group, Resource string
	Scope                 Scope
	// Names are the only objects that are asked for, empty for all.
	Names []string
	// Tells is what would be known with it.
	Tells string
}

// The permissions that facts rest on.
var (
	getDNSService = Permission{
		Verb: "get", Resource: "services", Scope: InSystem,
		Tells: "the address of the cluster's DNS, so that a nameserver of the pod is known to be it",
	}
	listDNSServices = Permission{
		Verb: "list", Resource: "services", Scope: InSystem, Tells: "that address where the Service is not called kube-dns",
	}
	listDNSEndpoints = Permission{
		Verb: "list", Group: "discovery.k8s.io", Resource: "endpointslices", Scope: InSystem,
		Tells: "which servers are behind the cluster's DNS, which of them are ready, and when that changed",
	}
	listDNSPods = Permission{
		Verb: "list", Resource: "pods", Scope: InSystem,
		Tells: "whether the pods of the cluster's DNS restart, and whether a NodeLocal DNSCache runs on the pod's node",
	}
	getDNSConfigs = Permission{
		Verb: "get", Resource: "configmaps", Scope: InSystem, Names: []string{configCoreDNS, configNodeLocal, configKubeProxy, configKubeProxyEKS},
		Tells: "how CoreDNS and NodeLocal DNSCache are configured, the zone of the cluster, and the mode of kube-proxy",
	}
	listPolicies = Permission{
		Verb: "list", Group: "networking.k8s.io", Resource: "networkpolicies", Scope: InPodNamespace,
		Tells: "which NetworkPolicies select the pod, and whether they let DNS pass",
	}
	listEvents = Permission{
		Verb: "list", Resource: "events", Scope: InPodNamespace,
		Tells: "what the kubelet left out of the pod's resolv.conf",
	}
	listServices = Permission{
		Verb: "list", Resource: "services", Scope: InPodNamespace,
		Tells: "which Service a short name means, and which names of the container's environment are Services",
	}
	listEndpoints = Permission{
		Verb: "list", Group: "discovery.k8s.io", Resource: "endpointslices", Scope: InPodNamespace,
		Tells: "how many endpoints of such a Service are ready",
	}
	listNodeEvents = Permission{
		Verb: "list", Resource: "events", Scope: InDefault,
		Tells: "whether the node problem detector says that the node's conntrack table is full",
	}
	getNode = Permission{
		Verb: "get", Resource: "nodes", Scope: InCluster, Tells: "the kernel and the operating system of the pod's node",
	}
	getNamespace = Permission{
		Verb: "get", Resource: "namespaces", Scope: InCluster,
		Tells: "whether a host ends in the name of a namespace, and which namespaces a NetworkPolicy means",
	}
	getServices = Permission{
		Verb: "get", Resource: "services", Scope: InCluster, Tells: "which Service of another namespace a host means",
	}
	getPods = Permission{
		Verb: "get", Resource: "pods", Scope: InCluster, Tells: "whether the pod that a host means, behind a headless Service, is ready",
	}
	listAllEndpoints = Permission{
		Verb: "list", Group: "discovery.k8s.io", Resource: "endpointslices", Scope: InCluster,
		Tells: "how many endpoints of a Service in another namespace are ready",
	}
)

// Optional lists the permissions that facts rest on, the most telling first.
func Optional() []Permission {
	return []Permission{
		getDNSService, listDNSServices, listDNSEndpoints, listDNSPods, getDNSConfigs, listPolicies, listEvents, listServices, listEndpoints, getNode,
		listNodeEvents, getNamespace, getServices, getPods, listAllEndpoints,
	}
}

// In says the permission in words, as it is needed for a pod in a namespace: "list events in namespace shop".
func (p Permission) In(namespace string) string {
	what := p.Verb + " " + p.Resource
	switch p.Scope {
	case InPodNamespace:
		return what + " in namespace " + namespace
	case InSystem:
		return what + " in namespace " + metav1.NamespaceSystem
	case InDefault:
		return what + " in namespace " + metav1.NamespaceDefault
	}
	return what
}

// at is In for a namespace that a host or a distribution names.
func (p Permission) at(namespace string) string {
	if namespace == "" {
		return p.Verb + " " + p.Resource
	}
	return p.Verb + " " + p.Resource + " in namespace " + namespace
}

// Answer is what the API server says about a permission.
type Answer struct {
	Permission
	Allowed bool
	// Unknown says why it could not be asked.
	Unknown string
}

// Review asks the API server which of the optional permissions the user has, all at once.
func Review(ctx context.Context, client kubernetes.Interface, namespace string) []Answer {
	answers := make([]Answer, len(Optional()))
	var wg sync.WaitGroup
	for i, p := range Optional() {
		wg.Go(func() { answers[i] = review(ctx, client, namespace, p) })
	}
	wg.Wait()
	return answers
}

func review(ctx context.Context, client kubernetes.Interface, namespace string, p Permission) Answer {
	of := authv1.ResourceAttributes{Verb: p.Verb, Group: p.Group, Resource: p.Resource}
	switch p.Scope {
	case InPodNamespace:
		of.Namespace = namespace
	case InSystem:
		of.Namespace = metav1.NamespaceSystem
	case InDefault:
		of.Namespace = metav1.NamespaceDefault
	}
	if len(p.Names) > 0 {
		of.Name = p.Names[0]
	}
	r, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
		Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &of},
	}, metav1.CreateOptions{})
	if err != nil {
		return Answer{Permission: p, Unknown: err.Error()}
	}
	return Answer{Permission: p, Allowed: r.Status.Allowed}
}

// Roles returns ready-made roles with all permissions that facts rest on, as YAML: one for the pod's namespace, one for that of the
// cluster's DNS, one for the events of nodes, and one for the cluster.
func Roles(namespace string) string {
	var b strings.Builder
	for i, role := range []struct {
		kind, name, namespace string
		scope                 Scope
	}{
		{"Role", "dnsprobe-facts", namespace, InPodNamespace},
		{"Role", "dnsprobe-facts", metav1.NamespaceSystem, InSystem},
		{"Role", "dnsprobe-facts-nodes", metav1.NamespaceDefault, InDefault},
		{"ClusterRole", "dnsprobe-facts", "", InCluster},
	} {
		if i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", role.kind, role.name)
		if role.namespace != "" {
			fmt.Fprintf(&b, "  namespace: %s\n", role.namespace)
		}
		b.WriteString("rules:\n")
		for _, p := range Optional() {
			if p.Scope != role.scope {
				continue
			}
			fmt.Fprintf(&b, "# Tells %s.\n- apiGroups: [%q]\n  resources: [%q]\n", p.Tells, p.Group, p.Resource)
			if len(p.Names) > 0 {
				fmt.Fprintf(&b, "  resourceNames: [\"%s\"]\n", strings.Join(p.Names, `", "`))
			}
			fmt.Fprintf(&b, "  verbs: [%q]\n", p.Verb)
		}
	}
	return b.String()
}
