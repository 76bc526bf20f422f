package ephemeral

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestProgress(t *testing.T) {
	tests := []struct {
		name    string
		change  []func(*corev1.Pod)
		running bool
		doing   string
		// reason, message and next are parts of the error; an empty reason means none.
		reason, message, next string
	}{
		{name: "the kubelet has not seen it", change: []func(*corev1.Pod){withProbe("dnsprobe-a", nil)}, doing: "waiting for the kubelet"},
		{name: "being made", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("ContainerCreating", "")))}, doing: "ContainerCreating"},
		{name: "running", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()))}, running: true},
		{
			name: "image cannot be pulled", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("ErrImagePull", "not found")))},
			reason: "ErrImagePull", message: "not found", next: "--image",
		},
		{
			name: "image is tried again", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("ImagePullBackOff", "Back-off")))},
			reason: "ImagePullBackOff", message: "Back-off", next: "registry.example/dnsprobe-agent:v1",
		},
		{
			name: "bad configuration", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("CreateContainerConfigError", "runAsNonRoot")))},
			reason: "CreateContainerConfigError", message: "runAsNonRoot", next: "describe pod payments",
		},
		{
			name: "cannot run", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("RunContainerError", "no such file")))},
			reason: "RunContainerError", message: "no such file", next: "describe pod payments",
		},
		{
			name: "ended at once", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(terminated("Error", 2, "cannot listen")))},
			reason: "Error, exit code 2", message: "cannot listen", next: "describe pod payments",
		},
		{
			name: "the pod ended", change: []func(*corev1.Pod){withProbe("dnsprobe-a", nil), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }},
			reason: "PodEnded", next: "describe pod payments",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			isRunning, doing, err := Progress(testPod(tt.change...), "dnsprobe-a")
			if isRunning != tt.running || doing != tt.doing {
				t.Errorf("running %v, doing %q; want %v, %q", isRunning, doing, tt.running, tt.doing)
			}
			if tt.reason == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			start, ok := errors.AsType[*StartError](err)
			if !ok {
				t.Fatalf("error %v, want a StartError", err)
			}
			if start.Reason != tt.reason || !strings.Contains(start.Error(), tt.message) || !strings.Contains(start.NextStep(), tt.next) {
				t.Errorf("%q\nnext: %q", start, start.NextStep())
			}
		})
	}
}
