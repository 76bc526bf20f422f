package ephemeral

import (
	"context"
	"fmt"
	"strings"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Permission is a verb on a resource of the pod's namespace.
type Permission struct {
	Verb, Resource, Subresource string
}

// The permissions of a run.
var (
	GetPods    = Permission{Verb: "get", Resource: "pods"}
	WatchPods  = Permission{Verb: "watch", Resource: "pods"}
	PatchProbe = Permission{Verb: "patch", Resource: "pods", Subresource: "ephemeralcontainers"}
	ExecPods   = Permission{Verb: "create", Resource: "pods", Subresource: "exec"}
)

// Permissions lists what a run needs, in the order in which it needs it.
func Permissions() []Permission { return []Permission{GetPods, WatchPods, PatchProbe, ExecPods} }

func (p Permission) String() string {
	if p.Subresource != "" {
		return p.Verb + " " + p.Resource + "/" + p.Subresource
	}
	return p.Verb + " " + p.Resource
}

// Access is what the API server says about a permission.
type Access struct {
	Allowed bool
	// Unknown says why it could not be asked; the run then tries.
	Unknown string
	// Reason is the authorizer's, often empty.
	Reason string
}

// review asks the API server whether the user has a permission for one pod.
func review(ctx context.Context, client kubernetes.Interface, namespace, pod string, p Permission) Access {
	r, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
		Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
			Namespace: namespace, Verb: p.Verb, Resource: p.Resource, Subresource: p.Subresource, Name: pod,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return Access{Unknown: err.Error()}
	}
	return Access{Allowed: r.Status.Allowed, Reason: r.Status.Reason}
}

// Role returns a ready-made Role with all that a run needs, as YAML.
func Role(namespace string) string {
	rules := map[string][]string{}
	var order []string
	for _, p := range Permissions() {
		resource := p.Resource
		if p.Subresource != "" {
			resource += "/" + p.Subresource
		}
		if rules[resource] == nil {
			order = append(order, resource)
		}
		rules[resource] = append(rules[resource], p.Verb)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: dnsprobe\n  namespace: %s\nrules:\n", namespace)
	for _, resource := range order {
		verbs := rules[resource]
		if resource == ExecPods.Resource+"/"+ExecPods.Subresource {
			// A WebSocket opens with a GET, which API servers before 1.35 check as such (KEP-4006).
			verbs = append(verbs, "get")
		}
		fmt.Fprintf(&b, "- apiGroups: [\"\"]\n  resources: [%q]\n  verbs: [%s]\n", resource, quoted(verbs))
	}
	b.WriteString(niceToHave)
	return b.String()
}

// niceToHave are the rules of the Role without which a run still works, each with what it is good for.
const niceToHave = `# For targets that are workloads or Services, and for the workload in a patch.
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["list"]
- apiGroups: ["", "apps", "batch"]
  resources: ["services", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs"]
  verbs: ["get"]
# For a container that cannot start, to say why at once.
- apiGroups: [""]
  resources: ["events"]
  verbs: ["list", "watch"]
`

func quoted(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(q, ", ")
}
