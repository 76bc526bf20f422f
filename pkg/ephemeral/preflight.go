package ephemeral

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Situation is all that the API server was asked before a pod is touched.
type Situation struct {
	Pod *corev1.Pod
	// Namespace is nil when it could not be read; NamespaceUnknown then says why.
	Namespace        *corev1.Namespace
	NamespaceUnknown string
	// NodeOS is the node's kubernetes.io/os label, empty when it could not be read.
	NodeOS string
	// Access holds what was asked of Permissions.
	Access map[Permission]Access
}

// Plan is what a run would do to a pod.
type Plan struct {
	// Container is the target container.
	Container string
	Identity  Identity
	// Keep is how long a container that is added stays without use; 0 ends it with its session.
	Keep time.Duration
	// Reuse names a probe's container that is there already and will be used; empty when Add will be added.
	Reuse string
	Add   *corev1.EphemeralContainer
	// Ended counts the probe's containers that have ended: they stay listed until the pod is replaced.
	Ended int
	// Level is the Pod Security level that the namespace enforces ("restricted"), empty when it is not known.
	Level string
	// Notes are remarks worth a line before the pod is touched.
	Notes []string
}

// Describe tells people what will be done to the pod, before it is done.
func (p Plan) Describe(pod string) string {
	if p.Reuse != "" {
		return fmt.Sprintf("using the probe's container %s, which is in pod %s already", p.Reuse, pod)
	}
	ends := fmt.Sprintf("it ends by itself %s after its last use", p.Keep)
	if p.Keep == 0 {
		ends = "it ends with this run"
	}
	return fmt.Sprintf("adding ephemeral container %s (%s) to pod %s with %s; %s, and stays listed in the pod until the pod is replaced",
		p.Add.Name, p.Add.Image, pod, p.Identity, ends)
}

// Judge decides what a run would do, and returns every reason why it cannot: the first is what a run says. name is the name that
// a new container would get. It asks nobody.
func Judge(s Situation, r Request, name string) (Plan, []*Refusal) {
	var (
		plan     Plan
		refusals []*Refusal
	)
	refuse := func(next, format string, args ...any) {
		refusals = append(refusals, &Refusal{What: fmt.Sprintf(format, args...), Next: next})
	}
	judgePod(s, refuse)

	container, err := targetContainer(s.Pod, r.Container)
	if err != nil {
		return plan, append(refusals, err)
	}
	status := containerStatus(s.Pod.Status.ContainerStatuses, container.Name)
	target := Target{Container: container, Identity: identify(s.Pod, container, status), Running: status != nil && status.State.Running != nil}
	switch {
	case !target.Running:
		target.Identity = Identity{UID: Nobody, Source: assumed}
		plan.Notes = append(plan.Notes, fmt.Sprintf("container %s is not running (%s): the settings of the pod's sandbox are used, and the libc cannot be detected",
			container.Name, stateText(status)))
	case sharesProcesses(s.Pod):
		// The agent then finds the target's process by the id in its cgroup's name; the runtime's name stands before it.
		_, target.ID, _ = strings.Cut(status.ContainerID, "://")
	}
	plan.Container, plan.Identity, plan.Keep = container.Name, target.Identity, r.Keep
	if s.Namespace != nil {
		plan.Level = levelText(podSecurity(s.Namespace))
	}

	want := probeContainer(name, target, r)
	plan.Reuse, plan.Ended = survey(s.Pod, &want)
	if plan.Reuse == "" {
		plan.Add = &want
		if s.Pod.DeletionTimestamp != nil {
			refuse("take another pod: kubectl -n "+s.Pod.Namespace+" get pods", "pod %s is being deleted, so no container starts in it any more", s.Pod.Name)
		}
		refusals = append(refusals, judgePodSecurity(s, &plan)...)
	}
	if plan.Ended > 0 {
		plan.Notes = append(plan.Notes, fmt.Sprintf("%s of earlier runs: Kubernetes keeps them listed until the pod is replaced", count(plan.Ended, "ended probe container")))
	}
	return plan, append(refusals, judgeAccess(s, plan.Reuse != "")...)
}

// judgePod refuses pods in which no ephemeral container can ever start.
func judgePod(s Situation, refuse func(next, format string, args ...any)) {
	pod := s.Pod
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		refuse("take a running pod: kubectl -n "+pod.Namespace+" get pods --field-selector=status.phase=Running",
			"pod %s has finished (%s), so nothing can run in it", pod.Name, pod.Status.Phase)
	case pod.Spec.NodeName == "":
		refuse("see why it is not scheduled: kubectl -n "+pod.Namespace+" describe pod "+pod.Name,
			"pod %s has no node yet, so nothing runs in it", pod.Name)
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		refuse("take a pod of a Deployment or DaemonSet on the same node (its resolver settings come from the same kubelet)",
			"pod %s is a static pod: the kubelet reads it from a file and never starts an ephemeral container in it", pod.Name)
	}
	if isWindows(s) {
		refuse("take a pod on a Linux node", "pod %s runs on Windows, whose resolver has no search walk of this kind and which knows no ephemeral containers with a target", pod.Name)
	}
}

// sharesProcesses says whether PID 1 of the pod's process namespace is none of the target's.
func sharesProcesses(pod *corev1.Pod) bool {
	return pod.Spec.HostPID || pod.Spec.ShareProcessNamespace != nil && *pod.Spec.ShareProcessNamespace
}

func isWindows(s Situation) bool {
	if os := s.Pod.Spec.OS; os != nil {
		return os.Name == corev1.Windows
	}
	return s.Pod.Spec.NodeSelector[corev1.LabelOSStable] == "windows" || s.NodeOS == "windows"
}

// targetContainer returns the container called name, or the default one: the annotated, else the first (as kubectl has it).
func targetContainer(pod *corev1.Pod, name string) (*corev1.Container, *Refusal) {
	containers := pod.Spec.Containers
	if len(containers) == 0 {
		return nil, &Refusal{What: fmt.Sprintf("pod %s has no containers", pod.Name)}
	}
	asked := name
	if name == "" {
		name = pod.Annotations["kubectl.kubernetes.io/default-container"]
	}
	var names []string
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i], nil
		}
		names = append(names, containers[i].Name)
	}
	if asked == "" {
		return &containers[0], nil
	}
	r := &Refusal{
		What:  fmt.Sprintf("pod %s has no container %q", pod.Name, asked),
		Next:  "its containers: " + strings.Join(names, ", "),
		Usage: true,
	}
	for _, c := range pod.Spec.InitContainers {
		if c.Name == asked {
			r.What = fmt.Sprintf("%q is an init container of pod %s, which no ephemeral container can look into", asked, pod.Name)
		}
	}
	return nil, r
}

func containerStatus(all []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	i := slices.IndexFunc(all, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// stateText is a container's state in the kubelet's words.
func stateText(s *corev1.ContainerStatus) string {
	switch {
	case s == nil:
		return "no status yet"
	case s.State.Waiting != nil && s.State.Waiting.Reason != "":
		return s.State.Waiting.Reason
	case s.State.Terminated != nil:
		return fmt.Sprintf("%s, exit code %d", orElse(s.State.Terminated.Reason, "ended"), s.State.Terminated.ExitCode)
	}
	return "waiting"
}

// survey returns the probe's container that can be used instead of want, and how many have ended. One that still waits to
// start counts too: a second would wait for the same.
func survey(pod *corev1.Pod, want *corev1.EphemeralContainer) (reuse string, ended int) {
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		if !isOurs(c) {
			continue
		}
		status := containerStatus(pod.Status.EphemeralContainerStatuses, c.Name)
		switch {
		case status != nil && status.State.Terminated != nil:
			ended++
		case canServe(c, want):
			reuse = c.Name
		}
	}
	return reuse, ended
}

// judgePodSecurity asks the admission plugin's own code whether the pod would pass with the new container in it. The plugin
// looks at the whole pod again, so what is in it already can be the reason.
func judgePodSecurity(s Situation, plan *Plan) []*Refusal {
	if s.Namespace == nil {
		return nil
	}
	lv := podSecurity(s.Namespace)
	after := s.Pod.DeepCopy()
	after.Spec.EphemeralContainers = append(after.Spec.EphemeralContainers, *plan.Add)
	why, err := violations(lv, &after.ObjectMeta, &after.Spec)
	if err != nil {
		plan.Notes = append(plan.Notes, err.Error())
		return nil
	}
	if why == "" {
		return nil
	}
	names, itself, err := offenders(lv, s.Pod)
	next := "take a pod that was created since the namespace enforces this level, for instance by restarting its workload"
	switch {
	case err != nil || itself || len(names) == 0:
	case slices.ContainsFunc(s.Pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return slices.Contains(names, c.Name) }):
		next = fmt.Sprintf("an earlier ephemeral container is in the way (%s) and cannot be removed: take another pod of the same workload, or replace this one",
			strings.Join(names, ", "))
	default:
		next = fmt.Sprintf("in the way: container %s. %s", strings.Join(names, ", "), next)
	}
	return []*Refusal{{
		What: fmt.Sprintf("namespace %s enforces Pod Security %q, which pod %s does not pass any more: %s", s.Pod.Namespace, plan.Level, s.Pod.Name, why),
		Next: next,
	}}
}

// judgeAccess refuses what the user may not do. What could not be asked is tried.
func judgeAccess(s Situation, reuse bool) []*Refusal {
	var out []*Refusal
	for _, p := range Permissions() {
		a, asked := s.Access[p]
		if !asked || a.Allowed || a.Unknown != "" {
			continue
		}
		// Watching only makes waiting shorter; and a container that is there already need not be added.
		if p == WatchPods || p == PatchProbe && reuse {
			continue
		}
		out = append(out, forbidden(p, s.Pod.Namespace, s.Pod.Name, a.Reason))
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
