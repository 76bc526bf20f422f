package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Pick returns the pod of a workload or Service (what) that a run looks at, and why it: the newest ready one, since it has
// the present pod template; without a ready one the newest that runs. The same pods give the same answer.
func Pick(pods []corev1.Pod, what string) (*corev1.Pod, string, error) {
	var candidates []*corev1.Pod
	for i := range pods {
		p := &pods[i]
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			candidates = append(candidates, p)
		}
	}
	if len(candidates) == 0 {
		return nil, "", &NoPodError{What: what, Phases: phases(pods)}
	}
	best := slices.MinFunc(candidates, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(rank(a), rank(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	of := fmt.Sprintf("of %d pods of %s", len(pods), what)
	if len(pods) == 1 {
		return best, "the only pod of " + what, nil
	}
	if rank(best) > 0 {
		return best, "newest ready " + of, nil
	}
	return best, "newest running " + of + ", none is ready", nil
}

// rank is 1 for a ready pod, else 0.
func rank(p *corev1.Pod) int {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return 1
		}
	}
	return 0
}

// phases counts pods by what they are, for people ("2 Pending, 1 Succeeded").
func phases(pods []corev1.Pod) string {
	n := map[string]int{}
	for _, p := range pods {
		if p.DeletionTimestamp != nil {
			n["being deleted"]++
			continue
		}
		n[string(p.Status.Phase)]++
	}
	var out []string
	for phase, count := range n {
		out = append(out, fmt.Sprintf("%d %s", count, phase))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// NoPodError says that a workload or Service has no pod to look at.
type NoPodError struct {
	// What is the workload ("Deployment payments").
	What string
	// Phases says what pods there are, empty for none.
	Phases string
}

func (e *NoPodError) Error() string {
	if e.Phases == "" {
		return e.What + " has no pods"
	}
	return fmt.Sprintf("%s has no running pod (%s)", e.What, e.Phases)
}

// NextStep is what to do about it.
func (e *NoPodError) NextStep() string {
	return "scale it up, or name a running pod: kubectl get pods"
}
