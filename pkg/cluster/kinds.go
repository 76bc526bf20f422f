package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// typed is what the clients of all kinds have in common.
type typed[T runtime.Object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

func kindClient[T runtime.Object](group, resource string, in func(kubernetes.Interface, string) typed[T]) clientOf {
	return clientOf{
		group: group, resource: resource,
		get: func(ctx context.Context, client kubernetes.Interface, namespace, name string) (runtime.Object, error) {
			return in(client, namespace).Get(ctx, name, metav1.GetOptions{})
		},
		patch: func(ctx context.Context, client kubernetes.Interface, namespace, name string, body []byte, o metav1.PatchOptions) (runtime.Object, error) {
			return in(client, namespace).Patch(ctx, name, types.StrategicMergePatchType, body, o)
		},
	}
}

// clients are those of the kinds whose pod template can be changed in place, by API version and kind.
var clients = map[string]clientOf{
	"apps/v1 Deployment": kindClient("apps", "deployments", func(c kubernetes.Interface, ns string) typed[*appsv1.Deployment] { return c.AppsV1().Deployments(ns) }),
	"apps/v1 StatefulSet": kindClient("apps", "statefulsets", func(c kubernetes.Interface, ns string) typed[*appsv1.StatefulSet] {
		return c.AppsV1().StatefulSets(ns)
	}),
	"apps/v1 DaemonSet":  kindClient("apps", "daemonsets", func(c kubernetes.Interface, ns string) typed[*appsv1.DaemonSet] { return c.AppsV1().DaemonSets(ns) }),
	"apps/v1 ReplicaSet": kindClient("apps", "replicasets", func(c kubernetes.Interface, ns string) typed[*appsv1.ReplicaSet] { return c.AppsV1().ReplicaSets(ns) }),
	"v1 ReplicationController": kindClient("", "replicationcontrollers", func(c kubernetes.Interface, ns string) typed[*corev1.ReplicationController] {
		return c.CoreV1().ReplicationControllers(ns)
	}),
	"batch/v1 CronJob": kindClient("batch", "cronjobs", func(c kubernetes.Interface, ns string) typed[*batchv1.CronJob] { return c.BatchV1().CronJobs(ns) }),
}

func clientFor(apiVersion, kind string) (clientOf, error) {
	c, ok := clients[apiVersion+" "+kind]
	if !ok {
		return c, &ReadError{
			What: fmt.Sprintf("a %s of %s is not changed by this tool", kind, apiVersion), Next: "put the patch into what creates it; -o yaml prints it",
		}
	}
	return c, nil
}

// podSpecOf returns the pod spec in the template of an object, and the object's metadata.
func podSpecOf(o runtime.Object) (*corev1.PodSpec, metav1.Object, error) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec, o, nil
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec, o, nil
	case *appsv1.DaemonSet:
		return &o.Spec.Template.Spec, o, nil
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec, o, nil
	case *corev1.ReplicationController:
		if o.Spec.Template == nil {
			return &corev1.PodSpec{}, o, nil
		}
		return &o.Spec.Template.Spec, o, nil
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template.Spec, o, nil
	}
	return nil, nil, fmt.Errorf("read the pod template of a %T: it has none that is known here", o)
}
