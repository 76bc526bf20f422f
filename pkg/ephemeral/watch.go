package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// watched hands what a watch brings to step. It is done when step is; not done and no error means that the watch ended.
func watched(ctx context.Context, w watch.Interface, step func(*corev1.Pod) (bool, error)) (bool, error) {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case ev, open := <-w.ResultChan():
			if !open || ev.Type == watch.Error {
				return false, nil
			}
			if ev.Type == watch.Deleted {
				return false, errors.New("wait for the probe's container: the pod was deleted")
			}
			pod, ok := ev.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			if done, err := step(pod); done || err != nil {
				return done, err
			}
		}
	}
}

// firstFailure waits for an event in which the kubelet says that it could not start a container. The kubelet tells it in an
// event at once, in the pod's status only when it looks at the pod again, some 15 seconds later. It returns nil when ctx ends, and
// when events may not be watched.
func firstFailure(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, container string) error {
	w, err := client.CoreV1().Events(pod.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.name":      pod.Name,
		"involvedObject.fieldPath": "spec.ephemeralContainers{" + container + "}",
	}.AsSelector().String()})
	if err != nil {
		return nil //nolint:nilerr // Events only make the answer come sooner.
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if e, ok := ev.Object.(*corev1.Event); ok && e.InvolvedObject.UID == pod.UID {
				if failed := failure(e); failed != nil {
					failed.Namespace, failed.Pod, failed.Container, failed.Image = pod.Namespace, pod.Name, container, imageOf(pod, container)
					return failed
				}
			}
		}
	}
}

// failure returns what an event of a container says about why it cannot start, nil when it says nothing of the kind. The
// words are the kubelet's (k8s.io/kubernetes pkg/kubelet/events/event.go and pkg/kubelet/kuberuntime/kuberuntime_container.go).
func failure(e *corev1.Event) *StartError {
	if e.Type != corev1.EventTypeWarning {
		return nil
	}
	reason, found := strings.CutPrefix(e.Message, "Error: ")
	switch {
	case e.Reason == "Failed" && strings.HasPrefix(e.Message, "Failed to pull image "):
		_, why, _ := strings.Cut(e.Message, `": `) // What stands before is the image, which the next step names.
		return &StartError{Reason: "ErrImagePull", Message: why}
	case e.Reason == "Failed" && found:
		return &StartError{Reason: orElse(reason, "Failed")}
	case e.Reason == "ErrImageNeverPull" || e.Reason == "InspectFailed" || e.Reason == "FailedPostStartHook":
		return &StartError{Reason: e.Reason, Message: e.Message}
	}
	return nil
}

// lastWarning returns the newest warning among a pod's events, or what was last known when there is none or it may not be read.
func lastWarning(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, known string) string {
	list, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.name": pod.Name, "type": corev1.EventTypeWarning}.AsSelector().String(),
	})
	if err != nil || len(list.Items) == 0 {
		return known
	}
	newest := slices.MaxFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	return fmt.Sprintf("%s (%s: %s)", known, newest.Reason, newest.Message)
}
