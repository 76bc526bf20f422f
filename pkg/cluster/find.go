package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// Found is the pod that a target means.
type Found struct {
	Pod *corev1.Pod
	// Chosen says why this pod, when the target is a workload or a Service.
	Chosen string
}

// Other finds the pod selector of an object of a kind that this package does not know by itself, and what to call the object.
type Other func(ctx context.Context, namespace string, ref Ref) (selector labels.Selector, what string, err error)

// Find returns the pod that ref means in a namespace. Kinds of Kubernetes itself are asked for directly, which saves the
// discovery of what the API server has; other asks for all the rest, nil when there is no way to.
func Find(ctx context.Context, client kubernetes.Interface, namespace string, ref Ref, other Other) (Found, error) {
	if ref.Kind == "pod" {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return Found{}, readError(err, "pod "+ref.Name, namespace)
		}
		return Found{Pod: pod}, nil
	}
	if ref.Kind == "cronjob" {
		return findOfCronJob(ctx, client, namespace, ref.Name)
	}
	selector, what, err := selectorOf(ctx, client, namespace, ref)
	if errors.Is(err, errOtherKind) {
		if other == nil {
			return Found{}, fmt.Errorf("find the pods of %s: unknown kind", ref)
		}
		selector, what, err = other(ctx, namespace, ref)
	}
	if err != nil {
		return Found{}, err
	}
	return pickBySelector(ctx, client, namespace, selector, what)
}

func pickBySelector(ctx context.Context, client kubernetes.Interface, namespace string, selector labels.Selector, what string) (Found, error) {
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return Found{}, readError(err, "the pods of "+what, namespace)
	}
	pod, why, err := Pick(list.Items, what)
	if err != nil {
		return Found{}, err
	}
	return Found{Pod: pod, Chosen: why}, nil
}

// errOtherKind is returned by selectorOf for a kind that it does not know.
var errOtherKind = errors.New("not a kind of Kubernetes itself")

// selectorOf returns the selector of the pods of a workload or Service, and what to call it.
func selectorOf(ctx context.Context, client kubernetes.Interface, namespace string, ref Ref) (labels.Selector, string, error) {
	var (
		opts     metav1.GetOptions
		selector *metav1.LabelSelector
		what     string
		err      error
	)
	switch ref.Kind {
	case "deployment":
		what = "Deployment " + ref.Name
		if o, e := client.AppsV1().Deployments(namespace).Get(ctx, ref.Name, opts); e != nil {
			err = e
		} else {
			selector = o.Spec.Selector
		}
	case "replicaset":
		what = "ReplicaSet " + ref.Name
		if o, e := client.AppsV1().ReplicaSets(namespace).Get(ctx, ref.Name, opts); e != nil {
			err = e
		} else {
			selector = o.Spec.Selector
		}
	case "statefulset":
		what = "StatefulSet " + ref.Name
		if o, e := client.AppsV1().StatefulSets(namespace).Get(ctx, ref.Name, opts); e != nil {
			err = e
		} else {
			selector = o.Spec.Selector
		}
	case "daemonset":
		what = "DaemonSet " + ref.Name
		if o, e := client.AppsV1().DaemonSets(namespace).Get(ctx, ref.Name, opts); e != nil {
			err = e
		} else {
			selector = o.Spec.Selector
		}
	case "job":
		what = "Job " + ref.Name
		if o, e := client.BatchV1().Jobs(namespace).Get(ctx, ref.Name, opts); e != nil {
			err = e
		} else {
			selector = o.Spec.Selector
		}
	case "service", "replicationcontroller":
		return mapSelectorOf(ctx, client, namespace, ref)
	default:
		return nil, "", errOtherKind
	}
	if err != nil {
		return nil, "", readError(err, what, namespace)
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, "", fmt.Errorf("read the selector of %s: %w", what, err)
	}
	return s, what, nil
}

// mapSelectorOf is selectorOf for the kinds whose selector is a plain map.
func mapSelectorOf(ctx context.Context, client kubernetes.Interface, namespace string, ref Ref) (labels.Selector, string, error) {
	if ref.Kind == "replicationcontroller" {
		what := "ReplicationController " + ref.Name
		o, err := client.CoreV1().ReplicationControllers(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return nil, "", readError(err, what, namespace)
		}
		return labels.SelectorFromSet(o.Spec.Selector), what, nil
	}
	what := "Service " + ref.Name
	o, err := client.CoreV1().Services(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, "", readError(err, what, namespace)
	}
	if len(o.Spec.Selector) == 0 {
		return nil, "", &ReadError{
			What: what + " selects no pods (it has no selector)", Next: "name a pod or a workload, such as deploy/" + ref.Name,
		}
	}
	return labels.SelectorFromSet(o.Spec.Selector), what, nil
}

// findOfCronJob takes a pod of the CronJob's newest Job that still has a running one.
func findOfCronJob(ctx context.Context, client kubernetes.Interface, namespace, name string) (Found, error) {
	what := "CronJob " + name
	cron, err := client.BatchV1().CronJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Found{}, readError(err, what, namespace)
	}
	list, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return Found{}, readError(err, "the Jobs of "+what, namespace)
	}
	jobs := slices.DeleteFunc(list.Items, func(j batchv1.Job) bool { return !metav1.IsControlledBy(&j, cron) })
	slices.SortFunc(jobs, func(a, b batchv1.Job) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	for _, j := range jobs {
		selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector)
		if err != nil {
			return Found{}, fmt.Errorf("read the selector of Job %s: %w", j.Name, err)
		}
		found, err := pickBySelector(ctx, client, namespace, selector, fmt.Sprintf("Job %s of %s", j.Name, what))
		if _, none := errors.AsType[*NoPodError](err); none {
			continue
		}
		return found, err
	}
	return Found{}, &NoPodError{What: what, Phases: jobPhases(len(jobs))}
}

func jobPhases(jobs int) string {
	if jobs == 0 {
		return ""
	}
	return fmt.Sprintf("%d Jobs, all ended", jobs)
}

// ReadError says what could not be read from the API server, and what to do about it.
type ReadError struct {
	What string
	Next string
	Err  error
}

func (e *ReadError) Error() string {
	if e.Err == nil {
		return e.What
	}
	return e.What + ": " + e.Err.Error()
}

func (e *ReadError) Unwrap() error { return e.Err }

// NextStep is what to do about it.
func (e *ReadError) NextStep() string { return e.Next }

// readError turns an answer of the API server into a sentence with a next step.
func readError(err error, what, namespace string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &ReadError{What: "read " + what + " in namespace " + namespace, Err: err}
	switch {
	case apierrors.IsNotFound(err):
		e.What, e.Err = fmt.Sprintf("there is no %s in namespace %s", what, namespace), nil
		e.Next = "see what there is: kubectl -n " + namespace + " get pods,deployments,statefulsets,daemonsets"
	case apierrors.IsForbidden(err):
		e.Next = "ask for a role that allows it; this prints what a run needs: kubectl dnsprobe preflight -n " + namespace + " TARGET"
	case apierrors.IsUnauthorized(err):
		e.Next = "log in to the cluster again; this shows who you are: kubectl auth whoami"
	default:
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			e.What = strings.TrimPrefix(e.What, "read ")
			e.What = "ask the cluster for " + e.What
			e.Next = "check the connection: kubectl -n " + namespace + " get pods"
		}
	}
	return e
}
