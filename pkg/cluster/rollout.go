package cluster

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Progress is how far a rollout has come.
type Progress struct {
	Done bool
	// Text says how far it is.
	Text string
	// Stays says why no pod changes by itself; empty when they do.
	Stays string
}

// RolloutError says that a rollout does not come to its end.
type RolloutError struct {
	What, Why string
	Next      string
}

func (e *RolloutError) Error() string { return e.What + ": " + e.Why }

// NextStep is what to do about it.
func (e *RolloutError) NextStep() string { return e.Next }

// ProgressOf judges the rollout of a generation of an object, as `kubectl rollout status` does (k8s.io/kubectl pkg/polymorphichelpers,
// rollout_status.go). An error is a rollout that the API server has given up.
func ProgressOf(o runtime.Object, generation int64) (Progress, error) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return deploymentProgress(o, generation)
	case *appsv1.StatefulSet:
		return statefulSetProgress(o, generation), nil
	case *appsv1.DaemonSet:
		return daemonSetProgress(o, generation), nil
	}
	return Progress{Done: true, Stays: "running pods stay as they are; those made from now on have the change"}, nil
}

func deploymentProgress(d *appsv1.Deployment, generation int64) (Progress, error) {
	want := int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	s := d.Status
	switch {
	case d.Spec.Paused:
		return Progress{Done: true, Stays: "the Deployment is paused: its pods change after kubectl rollout resume"}, nil
	case s.ObservedGeneration < generation:
		return Progress{Text: "waiting for the controller to see the change"}, nil
	}
	for _, c := range s.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded" {
			return Progress{}, &RolloutError{What: "roll out Deployment " + d.Name, Why: "its progress deadline has passed: " + c.Message}
		}
	}
	switch {
	case want == 0:
		return Progress{Done: true, Stays: "the Deployment has no pods to change (0 replicas)"}, nil
	case s.UpdatedReplicas < want:
		return Progress{Text: fmt.Sprintf("%d of %d new pods made", s.UpdatedReplicas, want)}, nil
	case s.Replicas > s.UpdatedReplicas:
		return Progress{Text: fmt.Sprintf("%d old pods still end", s.Replicas-s.UpdatedReplicas)}, nil
	case s.AvailableReplicas < s.UpdatedReplicas:
		return Progress{Text: fmt.Sprintf("%d of %d new pods available", s.AvailableReplicas, s.UpdatedReplicas)}, nil
	}
	return Progress{Done: true, Text: fmt.Sprintf("%d of %d pods are new and available", s.UpdatedReplicas, want)}, nil
}

func statefulSetProgress(o *appsv1.StatefulSet, generation int64) Progress {
	want := int32(1)
	if o.Spec.Replicas != nil {
		want = *o.Spec.Replicas
	}
	s := o.Status
	switch {
	case o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return Progress{Done: true, Stays: "its updateStrategy is OnDelete: a pod changes when it is deleted"}
	case o.Spec.UpdateStrategy.RollingUpdate != nil && o.Spec.UpdateStrategy.RollingUpdate.Partition != nil && *o.Spec.UpdateStrategy.RollingUpdate.Partition >= want:
		return Progress{Done: true, Stays: "the partition of its updateStrategy keeps all pods as they are"}
	case want == 0:
		return Progress{Done: true, Stays: "the StatefulSet has no pods to change (0 replicas)"}
	case s.ObservedGeneration < generation:
		return Progress{Text: "waiting for the controller to see the change"}
	}
	if u := o.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		want -= *u.Partition
	}
	switch {
	case s.UpdatedReplicas < want:
		return Progress{Text: fmt.Sprintf("%d of %d new pods made", s.UpdatedReplicas, want)}
	case s.ReadyReplicas < s.Replicas:
		return Progress{Text: fmt.Sprintf("%d of %d pods ready", s.ReadyReplicas, s.Replicas)}
	}
	return Progress{Done: true, Text: fmt.Sprintf("%d of %d pods are new and ready", s.UpdatedReplicas, want)}
}

func daemonSetProgress(o *appsv1.DaemonSet, generation int64) Progress {
	s := o.Status
	switch {
	case o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return Progress{Done: true, Stays: "its updateStrategy is OnDelete: a pod changes when it is deleted"}
	case s.ObservedGeneration < generation:
		return Progress{Text: "waiting for the controller to see the change"}
	case s.DesiredNumberScheduled == 0:
		return Progress{Done: true, Stays: "no node runs a pod of the DaemonSet"}
	case s.UpdatedNumberScheduled < s.DesiredNumberScheduled:
		return Progress{Text: fmt.Sprintf("%d of %d new pods made", s.UpdatedNumberScheduled, s.DesiredNumberScheduled)}
	case s.NumberAvailable < s.DesiredNumberScheduled:
		return Progress{Text: fmt.Sprintf("%d of %d pods available", s.NumberAvailable, s.DesiredNumberScheduled)}
	}
	return Progress{Done: true, Text: fmt.Sprintf("%d of %d pods are new and available", s.UpdatedNumberScheduled, s.DesiredNumberScheduled)}
}

// Follow waits until the change that after has is rolled out, and says each step once. It looks whenever tick has something, and gives
// up when ctx ends. It needs no right but to read the owner.
func Follow(ctx context.Context, client kubernetes.Interface, p probe.Patch, after Applied, tick <-chan time.Time, say func(string)) (Progress, error) {
	last := ""
	for {
		now, err := Current(ctx, client, p)
		if err != nil {
			return Progress{}, err
		}
		progress, err := ProgressOf(now.Object, after.Generation)
		if err != nil {
			return progress, err
		}
		if !sameDNS(now.Workload, after.Workload) {
			return progress, &RolloutError{
				What: "follow the rollout of " + p.Kind + " " + p.Name, Why: "something has changed its DNS settings again: they are not those of the patch any more",
				Next: "look who manages it: kubectl -n " + p.Namespace + " get " + p.Kind + " " + p.Name + " -o yaml --show-managed-fields",
			}
		}
		if progress.Done {
			return progress, nil
		}
		if progress.Text != last {
			last = progress.Text
			say(last)
		}
		select {
		case <-ctx.Done():
			return progress, ctx.Err()
		case <-tick:
		}
	}
}
