package ephemeral

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testPod returns a running pod "payments" with a container "app" in namespace "shop", changed by each of change.
func testPod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: "shop", ResourceVersion: "7"},
		Spec: corev1.PodSpec{
			NodeName:   "node-a",
			Containers: []corev1.Container{{Name: "app", Image: "shop/payments:1"}},
		},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: running()}},
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(reason string, code int32, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: message}}
}

// runsAs sets what the kubelet says about the user of the target's process.
func runsAs(uid, gid int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].User = &corev1.ContainerUser{Linux: &corev1.LinuxContainerUser{UID: uid, GID: gid}}
	}
}

// secured sets the target container's securityContext.
func secured(sc corev1.SecurityContext) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext = &sc }
}

// podSecured sets the pod's securityContext.
func podSecured(sc corev1.PodSecurityContext) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.SecurityContext = &sc }
}

// restrictedPod makes the pod one that Pod Security "restricted" lets in.
func restrictedPod(p *corev1.Pod) {
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		RunAsNonRoot:             new(true),
		RunAsUser:                new(int64(1000)),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// withProbe adds a probe's container in a state; no state means that the kubelet has not seen it yet.
func withProbe(name string, state *corev1.ContainerState, change ...func(*corev1.EphemeralContainer)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := probeContainer(name, testTarget(p), testRequest)
		for _, f := range change {
			f(&c)
		}
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, c)
		if state != nil {
			p.Status.EphemeralContainerStatuses = append(p.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: name, State: *state})
		}
	}
}

// testTarget is the pod's first container, running as uid 1000.
func testTarget(p *corev1.Pod) Target {
	return Target{Container: &p.Spec.Containers[0], Identity: Identity{UID: 1000}, Running: true}
}

var testRequest = Request{Image: "registry.example/dnsprobe-agent:v1", Keep: 15 * time.Minute}

// namespace returns the namespace "shop" that enforces a Pod Security level.
func namespace(level string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "shop", Labels: map[string]string{"pod-security.kubernetes.io/enforce": level},
	}}
}
