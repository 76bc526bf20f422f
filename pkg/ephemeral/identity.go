package ephemeral

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Nobody is the uid of a probe whose target's uid is not known: the one of the agent's image, as distroless images have it.
const Nobody int64 = 65532

// Identity is as whom a container runs.
type Identity struct {
	UID int64
	// GID is nil when it is not known.
	GID *int64
	// Known is false when UID is a guess.
	Known bool
	// Source is where UID is from ("spec", "status", "assumed").
	Source string
}

// The sources of an identity.
const (
	fromSpec   = "spec"
	fromStatus = "status"
	assumed    = "assumed"
)

// identify returns as whom a container of a pod runs.
//
// To read the target's own files through /proc/1/root the kernel wants the same uid and gid as the target's process has, and
// no capability that it has and the reader lacks (ptrace_may_access in kernel/ptrace.c, cap_ptrace_access_check in
// security/commoncap.c). The best source of them is what the kubelet reports of the running process (ContainerStatus.user,
// Kubernetes 1.31 and later): it includes what the image says. Next is the spec, where the container's securityContext
// overrides the pod's.
//
// When neither says a uid, the image decides and cannot be asked. The spec then lets the container run as root, so root is no
// more than it was granted; with runAsNonRoot the uid is some other, unknown one, and Nobody is as good as any.
func identify(pod *corev1.Pod, container *corev1.Container, status *corev1.ContainerStatus) Identity {
	var id Identity
	spec := effectiveUser(pod, container)
	switch {
	case status != nil && status.User != nil && status.User.Linux != nil:
		linux := status.User.Linux
		id = Identity{UID: linux.UID, GID: &linux.GID, Known: true, Source: fromStatus}
	case spec.uid != nil:
		id = Identity{UID: *spec.uid, GID: spec.gid, Known: true, Source: fromSpec}
	case spec.nonRoot:
		id = Identity{UID: Nobody, GID: spec.gid, Source: assumed}
	default:
		id = Identity{UID: 0, GID: spec.gid, Source: assumed}
	}
	return id
}

// user is what a spec says about the user of a container.
type user struct {
	uid, gid *int64
	nonRoot  bool
}

func effectiveUser(pod *corev1.Pod, container *corev1.Container) user {
	var u user
	if sc := pod.Spec.SecurityContext; sc != nil {
		u.uid, u.gid = sc.RunAsUser, sc.RunAsGroup
		u.nonRoot = sc.RunAsNonRoot != nil && *sc.RunAsNonRoot
	}
	if sc := container.SecurityContext; sc != nil {
		if sc.RunAsUser != nil {
			u.uid = sc.RunAsUser
		}
		if sc.RunAsGroup != nil {
			u.gid = sc.RunAsGroup
		}
		if sc.RunAsNonRoot != nil {
			u.nonRoot = *sc.RunAsNonRoot
		}
	}
	return u
}

// String tells people as whom the probe runs.
func (id Identity) String() string {
	if id.Source == assumed {
		return fmt.Sprintf("uid %d (assumed: neither the pod's spec nor its status says the target's)", id.UID)
	}
	return fmt.Sprintf("uid %d, as the target container has it", id.UID)
}
