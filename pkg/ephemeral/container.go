package ephemeral

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// NamePrefix starts the name of every probe's container.
const NamePrefix = "dnsprobe-"

// Agent is the program in the probe's container; the image has nothing else.
const Agent = "/dnsprobe-agent"

// AttachCommand is the command to exec in the probe's container: it joins the hub that is the container's main process.
func AttachCommand() []string { return []string{Agent, "attach"} }

// startIdle is how long a container that is to end with its session waits for the session to begin.
const startIdle = time.Minute

// targetFlag tells the agent the id of the target container, for pods whose containers share one process namespace.
const targetFlag = "--target-container"

// hubArgs are the arguments of the container's main process. It ends by itself in any case: a plugin that dies cannot be
// relied upon to say so.
func hubArgs(keep time.Duration, targetID string) []string {
	args := []string{"hub", "--idle", keep.String()}
	if keep == 0 {
		args = []string{"hub", "--idle", startIdle.String(), "--keep-after-last", "0s"}
	}
	if targetID != "" {
		args = append(args, targetFlag, targetID)
	}
	return args
}

// targetID returns the id that the agent was told.
func targetID(args []string) string {
	if i := slices.Index(args, targetFlag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// Request is what a run wants in a pod.
type Request struct {
	// Container is the target container; empty for the default one.
	Container string
	// Image is the image of the probe's container.
	Image string
	// Keep is how long the probe's container stays with nobody attached; 0 ends it with its session.
	Keep time.Duration
}

// Target is the container to probe, as far as it is known.
type Target struct {
	Container *corev1.Container
	Identity  Identity
	// Running is false when it does not run: the probe then sees only the pod's sandbox.
	Running bool
	// ID is the runtime's id of the container, set where the process namespace alone does not lead to it.
	ID string
}

// probeContainer returns the probe's container for a target: never more rights than the target has, and within Pod Security
// "restricted" whenever the target is.
func probeContainer(name string, t Target, r Request) corev1.EphemeralContainer {
	c := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name:  name,
		Image: r.Image,
		// The image is one program that never changes under a tag, and a node that has it needs no registry.
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{Agent},
		Args:            hubArgs(r.Keep, t.ID),
		SecurityContext: securityContext(t.Container, t.Identity),
		// When the agent cannot start, its last words are the reason.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}}
	if t.Running {
		c.TargetContainerName = t.Container.Name
	}
	return c
}

// securityContext drops everything the work does not need. What it does need is to be allowed to look at the target's files
// (see identify): a target that is not root has no capabilities, so none are needed either; for a root target the probe needs
// the capabilities that the target has, and gets exactly these. A privileged target is not mirrored: its files are then not
// read, and the run says so.
func securityContext(target *corev1.Container, id Identity) *corev1.SecurityContext {
	sc := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Privileged:               new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		RunAsUser:                new(id.UID),
		RunAsGroup:               id.GID,
		RunAsNonRoot:             new(id.UID != 0),
	}
	if id.UID == 0 {
		sc.Capabilities = nil
		if target.SecurityContext != nil {
			sc.Capabilities = target.SecurityContext.Capabilities.DeepCopy()
		}
	}
	if target.SecurityContext != nil {
		// Other labels than the target's would hide its files from the probe.
		sc.SELinuxOptions = target.SecurityContext.SELinuxOptions.DeepCopy()
	}
	return sc
}

// isOurs says whether an ephemeral container is a probe's.
func isOurs(c *corev1.EphemeralContainer) bool {
	return strings.HasPrefix(c.Name, NamePrefix) && len(c.Args) > 0 && c.Args[0] == "hub"
}

// canServe says whether a probe's container that is there already does what want would do. Its idle limit is its own: a
// second container would be worse than another limit.
func canServe(have, want *corev1.EphemeralContainer) bool {
	return isOurs(have) && have.Image == want.Image && have.TargetContainerName == want.TargetContainerName &&
		slices.Equal(have.Command, want.Command) && targetID(have.Args) == targetID(want.Args)
}
