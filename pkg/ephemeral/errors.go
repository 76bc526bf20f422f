package ephemeral

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refusal says why a run cannot be, found out before anything was changed, and what to do instead.
type Refusal struct {
	What string
	Next string
	// Usage is set when the command line is what is wrong.
	Usage bool
	// Denied is the permission that is missing; zero when the reason is another.
	Denied Permission
}

func (r *Refusal) Error() string { return r.What }

// NextStep is what to do instead.
func (r *Refusal) NextStep() string { return r.Next }

// forbidden is the refusal for a missing permission.
func forbidden(p Permission, namespace, pod, reason string) *Refusal {
	what := fmt.Sprintf("you may not %s in namespace %s, which a probe of pod %s needs", p, namespace, pod)
	if reason != "" {
		what += " (" + reason + ")"
	}
	next := "ask for the Role that this prints: kubectl dnsprobe preflight -n " + namespace + " pod/" + pod
	if p == PatchProbe {
		next += "\n(the roles edit and admin of Kubernetes do not include it)\n" + meanwhile(namespace, pod)
	}
	return &Refusal{What: what, Next: next, Denied: p}
}

// meanwhile is what can be seen of a pod that no container may be added to: its settings, read by exec, followed without a packet.
func meanwhile(namespace, pod string) string {
	return fmt.Sprintf("meanwhile, with the right to exec and a container that has cat, the walk can be seen without sending anything:\n"+
		"kubectl -n %s exec %s -- cat /etc/resolv.conf | kubectl dnsprobe explain HOST --resolv-conf -", namespace, pod)
}

// AddError says why the API server did not take the container.
type AddError struct {
	Pod  string
	Next string
	Err  error
}

func (e *AddError) Error() string {
	return fmt.Sprintf("add the probe's container to pod %s: %s", e.Pod, e.Err)
}

func (e *AddError) Unwrap() error { return e.Err }

// NextStep is what to do about it.
func (e *AddError) NextStep() string { return e.Next }

// addError turns the API server's answer to the PATCH into a sentence and a next step.
func addError(namespace, pod string, err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return &AddError{Pod: pod, Err: err, Next: "check the connection to the cluster: kubectl -n " + namespace + " get pod " + pod}
	}
	s := status.ErrStatus
	out := &AddError{Pod: pod, Err: errors.New(s.Message)}
	switch {
	case strings.Contains(s.Message, "violates PodSecurity"):
		out.Next = "see which container is in the way: kubectl dnsprobe preflight -n " + namespace + " pod/" + pod
	case strings.Contains(s.Message, "admission webhook") || strings.Contains(s.Message, "ValidatingAdmissionPolicy"):
		out.Next = "the policy named there decides: ask its owner to allow ephemeral containers named " + NamePrefix + "*, or give an allowed image with --image\n" +
			meanwhile(namespace, pod)
	case s.Reason == metav1.StatusReasonNotFound && (s.Details == nil || s.Details.Name == ""):
		// A missing pod is named in the details; a path that the server does not serve is not.
		out.Err = errors.New("this cluster does not serve ephemeral containers (Kubernetes before 1.25)")
		out.Next = "upgrade the cluster, or see this machine's own resolver: kubectl dnsprobe local HOST"
	case s.Reason == metav1.StatusReasonNotFound:
		out.Err = errors.New("the pod is gone")
		out.Next = "take another one: kubectl -n " + namespace + " get pods"
	case s.Reason == metav1.StatusReasonConflict:
		out.Next = "somebody changed the pod at the same moment: run the command again"
	case s.Code == http.StatusForbidden:
		return forbidden(PatchProbe, namespace, pod, s.Message)
	case s.Reason == metav1.StatusReasonInvalid:
		out.Next = "see what is in the pod: kubectl -n " + namespace + " describe pod " + pod
	}
	return out
}

// StartError says why the probe's container did not come to life, in the kubelet's words.
type StartError struct {
	Namespace, Pod, Container, Image string
	// Reason is the kubelet's ("ErrImagePull"); "Timeout" when it gave none in time.
	Reason string
	// Message is the kubelet's.
	Message string
	// After is how long it was waited for, for a Timeout.
	After time.Duration
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("start the probe's container %s in pod %s: %s", e.Container, e.Pod, e.Reason)
	if e.Reason == reasonTimeout {
		text = fmt.Sprintf("start the probe's container %s in pod %s: it was not running after %s", e.Container, e.Pod, e.After)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

const reasonTimeout = "Timeout"

// NextStep is what to do about it.
func (e *StartError) NextStep() string {
	switch e.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "RegistryUnavailable", "ImageInspectError", "InspectFailed":
		return fmt.Sprintf("give an image that this node can pull, with the pull secrets that the pod has: --image REGISTRY/dnsprobe-agent:TAG (tried %s)", e.Image)
	case reasonTimeout:
		return fmt.Sprintf("see the pod's events: kubectl -n %s describe pod %s", e.Namespace, e.Pod)
	}
	return fmt.Sprintf("see the pod's events: kubectl -n %s describe pod %s; the container stays listed in the pod but does not run", e.Namespace, e.Pod)
}
