package ephemeral

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	psa "k8s.io/pod-security-admission/api"
)

func TestIdentityFollowsTheTarget(t *testing.T) {
	id := func(n int64) *int64 { return &n }
	tests := []struct {
		name string
		pod  *corev1.Pod
		want Identity
	}{
		{
			"what the kubelet saw wins over the spec", testPod(secured(corev1.SecurityContext{RunAsUser: id(1)}), runsAs(1000, 3000)),
			Identity{UID: 1000, GID: id(3000), Known: true, Source: fromStatus},
		},
		{
			"the pod's uid", testPod(podSecured(corev1.PodSecurityContext{RunAsUser: id(2000), RunAsGroup: id(20)})),
			Identity{UID: 2000, GID: id(20), Known: true, Source: fromSpec},
		},
		{
			"the container's uid wins over the pod's", testPod(podSecured(corev1.PodSecurityContext{RunAsUser: id(2000), RunAsGroup: id(20)}), secured(corev1.SecurityContext{RunAsUser: id(1000)})),
			Identity{UID: 1000, GID: id(20), Known: true, Source: fromSpec},
		},
		{
			"an unknown uid that is not root", testPod(podSecured(corev1.PodSecurityContext{RunAsNonRoot: new(true)})),
			Identity{UID: Nobody, Source: assumed},
		},
		{
			"the container may be root although the pod may not", testPod(podSecured(corev1.PodSecurityContext{RunAsNonRoot: new(true)}), secured(corev1.SecurityContext{RunAsNonRoot: new(false)})),
			Identity{UID: 0, Source: assumed},
		},
		{"nothing is said", testPod(), Identity{UID: 0, Source: assumed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := identify(tt.pod, &tt.pod.Spec.Containers[0], &tt.pod.Status.ContainerStatuses[0])
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeHasNoMoreRightsThanItsTarget(t *testing.T) {
	caps := func(add, drop string) *corev1.Capabilities {
		c := &corev1.Capabilities{}
		for _, w := range strings.Fields(add) {
			c.Add = append(c.Add, corev1.Capability(w))
		}
		for _, w := range strings.Fields(drop) {
			c.Drop = append(c.Drop, corev1.Capability(w))
		}
		return c
	}
	tests := []struct {
		name   string
		target *corev1.SecurityContext
		uid    int64
		want   *corev1.Capabilities
	}{
		{"no root, no capabilities", nil, 1000, caps("", "ALL")},
		{"no root, though the spec adds some", &corev1.SecurityContext{Capabilities: caps("NET_ADMIN", "")}, 1000, caps("", "ALL")},
		{"root with the runtime's default", nil, 0, nil},
		{"root with its own", &corev1.SecurityContext{Capabilities: caps("NET_BIND_SERVICE", "ALL")}, 0, caps("NET_BIND_SERVICE", "ALL")},
		{"a privileged target is not mirrored", &corev1.SecurityContext{Privileged: new(true)}, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := securityContext(&corev1.Container{SecurityContext: tt.target}, Identity{UID: tt.uid})
			if diff := cmp.Diff(tt.want, sc.Capabilities); diff != "" {
				t.Errorf("capabilities (-want +got):\n%s", diff)
			}
			if *sc.AllowPrivilegeEscalation || *sc.Privileged || sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("escalation %v, privileged %v, seccomp %v", *sc.AllowPrivilegeEscalation, *sc.Privileged, sc.SeccompProfile.Type)
			}
			if *sc.RunAsNonRoot != (tt.uid != 0) || *sc.RunAsUser != tt.uid {
				t.Errorf("runAsUser %d, runAsNonRoot %v", *sc.RunAsUser, *sc.RunAsNonRoot)
			}
		})
	}
}

func TestSELinuxLabelsAreThoseOfTheTarget(t *testing.T) {
	target := &corev1.Container{SecurityContext: &corev1.SecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c1,c2"}}}
	sc := securityContext(target, Identity{UID: 1000})
	if sc.SELinuxOptions == nil || sc.SELinuxOptions.Level != "s0:c1,c2" {
		t.Errorf("SELinux options %v", sc.SELinuxOptions)
	}
}

func TestProbeOfANonRootTargetPassesRestricted(t *testing.T) {
	pod := testPod(restrictedPod)
	target := Target{Container: &pod.Spec.Containers[0], Identity: identify(pod, &pod.Spec.Containers[0], nil), Running: true}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{probeContainer("dnsprobe-abcde", target, testRequest)}
	why, err := violations(psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)
	if err != nil || why != "" {
		t.Errorf("violations %q, error %v", why, err)
	}
}

func TestProbeContainerSpec(t *testing.T) {
	pod := testPod()
	c := probeContainer("dnsprobe-abcde", testTarget(pod), Request{Image: "i:1", Keep: 15 * time.Minute})
	c.SecurityContext = nil
	want := corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "dnsprobe-abcde", Image: "i:1", ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{"/dnsprobe-agent"}, Args: []string{"hub", "--idle", "15m0s"},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		},
		TargetContainerName: "app",
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
	target := testTarget(pod)
	target.Running = false
	if c := probeContainer("n", target, testRequest); c.TargetContainerName != "" {
		t.Errorf("a target that does not run cannot be joined, got target %q", c.TargetContainerName)
	}
}

func TestHubArguments(t *testing.T) {
	for name, tt := range map[string]struct {
		keep time.Duration
		id   string
		want string
	}{
		"kept":                          {90 * time.Second, "", "hub --idle 1m30s"},
		"ends with its session":         {0, "", "hub --idle 1m0s --keep-after-last 0s"},
		"one process namespace for all": {time.Minute, "4711", "hub --idle 1m0s --target-container 4711"},
	} {
		got := hubArgs(tt.keep, tt.id)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if id := targetID(got); id != tt.id {
			t.Errorf("%s: target id %q, want %q", name, id, tt.id)
		}
	}
}

func TestRandomNamesAreNamesAndDiffer(t *testing.T) {
	a, b := RandomName(), RandomName()
	if a == b || !strings.HasPrefix(a, NamePrefix) || strings.ToLower(a) != a || len(a) != len(NamePrefix)+5 {
		t.Errorf("names %q and %q", a, b)
	}
}
