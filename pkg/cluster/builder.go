package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FromBuilder returns an Other for kinds that the API server has from others (an Argo Rollout, a StatefulSet with a group in its
// name): it looks the kind up as kubectl does, and takes the object's spec.selector.
func FromBuilder(getter genericclioptions.RESTClientGetter) Other {
	return func(_ context.Context, namespace string, ref Ref) (labels.Selector, string, error) {
		infos, err := resource.NewBuilder(getter).Unstructured().NamespaceParam(namespace).DefaultNamespace().
			ResourceNames(ref.Kind, ref.Name).SingleResourceType().Latest().Do().Infos()
		if err != nil {
			return nil, "", readError(err, ref.String(), namespace)
		}
		if len(infos) != 1 {
			return nil, "", fmt.Errorf("find %s in namespace %s: it names %d objects", ref, namespace, len(infos))
		}
		object, ok := infos[0].Object.(*unstructured.Unstructured)
		if !ok {
			return nil, "", fmt.Errorf("read %s: not an object as it was expected", ref)
		}
		selector, err := specSelector(object.Object)
		what := object.GetKind() + " " + object.GetName()
		if err != nil {
			return nil, "", &ReadError{What: what + " has no pods of its own", Next: "name a pod, or a workload such as deploy/" + ref.Name, Err: err}
		}
		return selector, what, nil
	}
}

// specSelector reads spec.selector: a label selector, or a plain map of labels.
func specSelector(object map[string]any) (labels.Selector, error) {
	raw, found, err := unstructured.NestedMap(object, "spec", "selector")
	if err != nil || !found || len(raw) == 0 {
		return nil, fmt.Errorf("it has no spec.selector")
	}
	_, byLabels := raw["matchLabels"]
	_, byExpressions := raw["matchExpressions"]
	if !byLabels && !byExpressions {
		set, _, err := unstructured.NestedStringMap(object, "spec", "selector")
		if err != nil {
			return nil, fmt.Errorf("its spec.selector is neither a label selector nor a map of labels")
		}
		return labels.SelectorFromSet(set), nil
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &selector); err != nil {
		return nil, fmt.Errorf("its spec.selector cannot be read: %w", err)
	}
	return metav1.LabelSelectorAsSelector(&selector)
}
