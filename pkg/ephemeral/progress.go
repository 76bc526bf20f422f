package ephemeral

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hopeless are the reasons for waiting that no waiting mends: what the kubelet tries again fails again until somebody changes
// something (k8s.io/kubernetes pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go).
var hopeless = []string{
	"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable", "ImageInspectError",
	"SignatureValidationFailed", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError",
	"PreCreateHookError", "PreStartHookError", "CrashLoopBackOff",
}

// Progress says how far a pod's ephemeral container has come: running, or doing what (the kubelet's word), or failed for good.
func Progress(pod *corev1.Pod, container string) (running bool, doing string, err error) {
	fail := func(reason, message string) error {
		return &StartError{
			Namespace: pod.Namespace, Pod: pod.Name, Container: container, Image: imageOf(pod, container), Reason: reason, Message: message,
		}
	}
	s := containerStatus(pod.Status.EphemeralContainerStatuses, container)
	switch {
	case s != nil && s.State.Running != nil:
		return true, "", nil
	case s != nil && s.State.Terminated != nil:
		t := s.State.Terminated
		return false, "", fail(fmt.Sprintf("%s, exit code %d", orElse(t.Reason, "ended"), t.ExitCode), t.Message)
	case s != nil && s.State.Waiting != nil && slices.Contains(hopeless, s.State.Waiting.Reason):
		return false, "", fail(s.State.Waiting.Reason, s.State.Waiting.Message)
	case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return false, "", fail("PodEnded", "the pod ended in the meantime")
	case s != nil && s.State.Waiting != nil:
		return false, orElse(s.State.Waiting.Reason, "waiting"), nil
	}
	return false, "waiting for the kubelet", nil
}

func imageOf(pod *corev1.Pod, container string) string {
	for _, c := range pod.Spec.EphemeralContainers {
		if c.Name == container {
			return c.Image
		}
	}
	return ""
}
