package ephemeral

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"
)

// Look asks the API server everything that Judge wants to know, all at once. What may not be read stays unknown.
func Look(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) Situation {
	s := Situation{Pod: pod, Access: map[Permission]Access{}}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for _, p := range Permissions() {
		if p == GetPods {
			// The pod was read: that is answer enough.
			s.Access[p] = Access{Allowed: true}
			continue
		}
		wg.Go(func() {
			a := review(ctx, client, pod.Namespace, pod.Name, p)
			mu.Lock()
			defer mu.Unlock()
			s.Access[p] = a
		})
	}
	wg.Go(func() {
		ns, err := client.CoreV1().Namespaces().Get(ctx, pod.Namespace, metav1.GetOptions{})
		if err != nil {
			s.NamespaceUnknown = err.Error()
			return
		}
		s.Namespace = ns
	})
	if pod.Spec.NodeName != "" && pod.Spec.OS == nil {
		wg.Go(func() {
			// Not everybody may read nodes; the pod's own word is then all there is.
			if node, err := client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{}); err == nil {
				s.NodeOS = node.Labels[corev1.LabelOSStable]
			}
		})
	}
	wg.Wait()
	return s
}

// Add puts a container into a pod, and returns the pod as it then is. Errors: *AddError, or a *Refusal when the user may not.
//
// It is a PATCH of what differs, as kubectl debug sends it: roles made for that allow it, and it cannot undo what others change
// at the same time.
func Add(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, c *corev1.EphemeralContainer) (*corev1.Pod, error) {
	patch, err := addition(pod, c)
	if err != nil {
		return nil, &AddError{Pod: pod.Name, Err: err}
	}
	after, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "ephemeralcontainers")
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, addError(pod.Namespace, pod.Name, err)
	}
	return after, nil
}

// addition returns the strategic merge patch that adds c to a pod.
func addition(pod *corev1.Pod, c *corev1.EphemeralContainer) ([]byte, error) {
	before, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	changed := pod.DeepCopy()
	changed.Spec.EphemeralContainers = append(changed.Spec.EphemeralContainers, *c)
	after, err := json.Marshal(changed)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, pod)
}

// Wait waits until a pod's ephemeral container runs. It tells say what the kubelet is doing, and ends with a *StartError as
// soon as the kubelet says that it will not work, or after limit.
func Wait(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, container string, limit time.Duration, say func(string)) error {
	last := ""
	step := func(p *corev1.Pod) (bool, error) {
		running, doing, err := Progress(p, container)
		if doing != "" && doing != last {
			last = doing
			say(fmt.Sprintf("container %s: %s", container, doing))
		}
		return running, err
	}
	if done, err := step(pod); done || err != nil {
		return err
	}
	timed, stop := context.WithTimeout(ctx, limit)
	defer stop()
	bounded, fail := context.WithCancelCause(timed)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer fail(nil)
	watching.Go(func() {
		if err := firstFailure(bounded, client, pod, container); err != nil {
			fail(err)
		}
	})
	err := follow(bounded, client, pod, step)
	if err == nil || ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if failed, ok := errors.AsType[*StartError](context.Cause(bounded)); ok {
		return failed
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &StartError{
			Namespace: pod.Namespace, Pod: pod.Name, Container: container, Image: imageOf(pod, container),
			Reason: reasonTimeout, After: limit, Message: lastWarning(ctx, client, pod, last),
		}
	}
	return err
}

// follow calls step with every state of a pod after the present one, until it is done or fails.
func follow(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, step func(*corev1.Pod) (bool, error)) error {
	pods := client.CoreV1().Pods(pod.Namespace)
	for {
		// A watch that ends (an API server that restarts, a proxy's limit) is opened again; one that is not allowed is made up
		// for by asking at short intervals.
		w, err := pods.Watch(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("metadata.name", pod.Name).String(), ResourceVersion: pod.ResourceVersion,
		})
		if err == nil {
			done, err := watched(ctx, w, step)
			if done || err != nil {
				return err
			}
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
		fresh, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("wait for the probe's container: read pod %s: %w", pod.Name, err)
		}
		if done, err := step(fresh); done || err != nil {
			return err
		}
		pod = fresh
	}
}

// pollEvery is how often a pod is asked for when it cannot be watched: a quarter of a second is not noticed by people.
const pollEvery = 250 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
