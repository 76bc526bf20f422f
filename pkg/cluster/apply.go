package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// fieldManager is the name under which the API server remembers whose fields the patched ones are.
const fieldManager = "kubectl-dnsprobe"

// patchTries bounds how often a patch is sent again because the object changed in something else meanwhile, such as its status.
const patchTries = 5

// client is how objects of one kind are read and patched.
type clientOf struct {
	group, resource string
	get             func(context.Context, kubernetes.Interface, string, string) (runtime.Object, error)
	patch           func(context.Context, kubernetes.Interface, string, string, []byte, metav1.PatchOptions) (runtime.Object, error)
}

// Applied is a workload as the API server has it, or would have it.
type Applied struct {
	Workload patch.Workload
	// Object is the typed object.
	Object runtime.Object
	// Version is its resourceVersion, Generation its metadata.generation.
	Version    string
	Generation int64
}

// ConflictError says that somebody else changed the DNS settings of a workload between looking and patching.
type ConflictError struct{ What string }

func (e *ConflictError) Error() string {
	return "patch " + e.What + ": somebody else has changed its DNS settings meanwhile, so nothing was changed"
}

// NextStep is what to do about it.
func (e *ConflictError) NextStep() string {
	return "run the command again: it starts from what is there now"
}

// MayPatch asks the API server whether the user may patch the owner of a patch. Missing is the permission that is missing, in words,
// empty when there is none; where that cannot be asked, it is tried.
func MayPatch(ctx context.Context, client kubernetes.Interface, p probe.Patch) (missing string, err error) {
	c, err := clientFor(p.APIVersion, p.Kind)
	if err != nil {
		return "", err
	}
	r, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authv1.SelfSubjectAccessReview{
		Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: "patch", Group: c.group, Resource: c.resource, Name: p.Name,
		}},
	}, metav1.CreateOptions{})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil || r.Status.Allowed {
		return "", nil //nolint:nilerr // A review that fails forbids nothing: the patch itself is answered.
	}
	return c.permission(p.Namespace), nil
}

func (c clientOf) permission(namespace string) string {
	return fmt.Sprintf("verb patch on resource %s of API group %q in namespace %s", c.resource, c.group, namespace)
}

// Current reads the owner of a patch.
func Current(ctx context.Context, client kubernetes.Interface, p probe.Patch) (Applied, error) {
	c, err := clientFor(p.APIVersion, p.Kind)
	if err != nil {
		return Applied{}, err
	}
	o, err := c.get(ctx, client, p.Namespace, p.Name)
	if err != nil {
		return Applied{}, readError(err, p.Kind+" "+p.Name, p.Namespace)
	}
	return applied(o, p)
}

// Apply sends a patch, as a PATCH and never as an update. With dryRun the API server carries it through, admission included, and stores
// nothing. Before is what the decision for the patch rests on: when the DNS settings are others by now, nothing is changed and a
// ConflictError tells.
func Apply(ctx context.Context, client kubernetes.Interface, p probe.Patch, before Applied, dryRun bool) (Applied, error) {
	c, err := clientFor(p.APIVersion, p.Kind)
	if err != nil {
		return Applied{}, err
	}
	options := metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	what := p.Kind + " " + p.Name
	for range patchTries {
		body, err := bodyOf(p, before.Version)
		if err != nil {
			return Applied{}, fmt.Errorf("patch %s: %w", what, err)
		}
		o, err := c.patch(ctx, client, p.Namespace, p.Name, body, options)
		if err == nil {
			return applied(o, p)
		}
		if !apierrors.IsConflict(err) {
			return Applied{}, c.patchError(err, what, p.Namespace)
		}
		now, err := Current(ctx, client, p)
		if err != nil {
			return Applied{}, err
		}
		if !sameDNS(now.Workload, before.Workload) {
			break
		}
		before.Version = now.Version
	}
	return Applied{}, &ConflictError{What: what}
}

// bodyOf is the patch with the version of the object that it is meant for.
func bodyOf(p probe.Patch, version string) ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(p.YAML), &doc); err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	if version != "" {
		doc["metadata"] = map[string]any{"resourceVersion": version}
	}
	return json.Marshal(doc)
}

func sameDNS(a, b patch.Workload) bool {
	return a.DNSPolicy == b.DNSPolicy && reflect.DeepEqual(a.DNSConfig, b.DNSConfig)
}

func (c clientOf) patchError(err error, what, namespace string) error {
	e := &ReadError{What: "patch " + what + " in namespace " + namespace, Err: err}
	switch {
	case apierrors.IsForbidden(err):
		e.Next = "what it takes is: " + c.permission(namespace) + ". A policy of the cluster can refuse it as well; the message says which"
	case apierrors.IsInvalid(err):
		e.Next = "the API server does not take this change; please report it with the output of: kubectl dnsprobe patch -o json"
	default:
		if next, ok := errors.AsType[*ReadError](readError(err, what, namespace)); ok && next.Next != "" {
			e.Next = next.Next
		}
	}
	return e
}

func applied(o runtime.Object, p probe.Patch) (Applied, error) {
	spec, meta, err := podSpecOf(o)
	if err != nil {
		return Applied{}, err
	}
	w := patch.Workload{Owner: probe.Owner{APIVersion: p.APIVersion, Kind: p.Kind, Name: p.Name}, Namespace: p.Namespace}
	setDNS(&w, spec)
	return Applied{Workload: w, Object: o, Version: meta.GetResourceVersion(), Generation: meta.GetGeneration()}, nil
}

// HasDNS says whether a pod has the DNS settings of a workload's template: it was made after the template got them.
func HasDNS(pod *corev1.Pod, w patch.Workload) bool {
	of := patch.Workload{}
	setDNS(&of, &pod.Spec)
	return sameDNS(of, w)
}
