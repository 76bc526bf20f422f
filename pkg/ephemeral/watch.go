package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
