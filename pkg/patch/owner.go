package patch

import (
	"fmt"
	"strings"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// workload is how a kind of owner takes a change of its pod template.
type workload struct {
	// resource is what kubectl calls the kind.
	resource string
	// path leads from the object to the pod spec.
	path []string
	// inPlace says whether the API server accepts the change on an existing object.
	inPlace bool
	// rollout says whether `kubectl rollout undo` takes the change back.
	rollout bool
	effect  func(probe.Owner) string
}

var (
	podSpec      = []string{"spec"}
	templateSpec = []string{"spec", "template", "spec"}
	cronSpec     = []string{"spec", "jobTemplate", "spec", "template", "spec"}
)

// workloads are the kinds of Kubernetes itself that own pods, by API group and kind.
var workloads = map[string]workload{
	"apps/Deployment": {
		resource: "deployment", path: templateSpec, inPlace: true, rollout: true,
		effect: func(o probe.Owner) string { return "the Deployment rolls its " + pods(o) },
	},
	"apps/StatefulSet": {
		resource: "statefulset", path: templateSpec, inPlace: true, rollout: true,
		effect: func(o probe.Owner) string {
			return "the StatefulSet rolls its " + pods(o) + ", one after the other (with updateStrategy OnDelete each changes when it is deleted)"
		},
	},
	"apps/DaemonSet": {
		resource: "daemonset", path: templateSpec, inPlace: true, rollout: true,
		effect: func(o probe.Owner) string {
			return "the DaemonSet rolls its " + pods(o) + ", node by node (with updateStrategy OnDelete each changes when it is deleted)"
		},
	},
	"apps/ReplicaSet": {
		resource: "replicaset", path: templateSpec, inPlace: true,
		effect: func(probe.Owner) string {
			return "only new pods of the ReplicaSet get it: running ones stay as they are until they are deleted"
		},
	},
	"/ReplicationController": {
		resource: "replicationcontroller", path: templateSpec, inPlace: true,
		effect: func(probe.Owner) string {
			return "only new pods of the ReplicationController get it: running ones stay as they are until they are deleted"
		},
	},
	"batch/CronJob": {
		resource: "cronjob", path: cronSpec, inPlace: true,
		effect: func(probe.Owner) string {
			return "the CronJob's next Job gets it: Jobs that run now stay as they are"
		},
	},
	"batch/Job": {
		resource: "job", path: templateSpec,
		effect: func(probe.Owner) string {
			return "the pod template of a Job cannot be changed: put this into what creates the Job, and create it anew"
		},
	},
	"/Pod": {
		resource: "pod", path: podSpec,
		effect: func(probe.Owner) string {
			return "the dnsConfig of a pod cannot be changed: put this into what creates the pod, and create it anew"
		},
	},
}

// workloadOf returns how the owner takes a change. Kinds that Kubernetes does not have itself are assumed to keep their pod
// template where its own keep it, and are never changed by a command.
func workloadOf(o probe.Owner) workload {
	group := ""
	if g, _, ok := strings.Cut(o.APIVersion, "/"); ok {
		group = g
	}
	if w, ok := workloads[group+"/"+o.Kind]; ok {
		return w
	}
	kind := printable.Text(o.Kind, maxWord)
	return workload{path: templateSpec, effect: func(probe.Owner) string {
		return fmt.Sprintf("put this into the pod template of the %s (assumed at %s): its own controller decides when pods roll",
			kind, strings.Join(templateSpec, "."))
	}}
}

// maxWord bounds a word from the cluster in a sentence, in bytes.
const maxWord = 253

func pods(o probe.Owner) string {
	switch {
	case o.Replicas == nil:
		return "pods"
	case *o.Replicas == 1:
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", *o.Replicas)
}

// Managed says in a sentence who takes a change of an owner back, and where it has to be made to last. By is the fact ManagedBy.
func Managed(kind, by string) string {
	kind = printable.Text(kind, maxWord)
	first, _, _ := strings.Cut(strings.ToLower(by), " ")
	switch first {
	case "helm":
		// Helm merges three ways since version 3: what the chart does not set stays until it does.
		return fmt.Sprintf("%s manages this %s: a rollback, or an upgrade that sets its dnsConfig, will take the change back. To last it has to be made in the "+
			"chart or its values.", by, kind)
	case "argo", "flux", "kapp":
		return fmt.Sprintf("%s manages this %s and will take the change back. To last it has to be made in the repository that it follows.", by, kind)
	}
	return fmt.Sprintf("%s manages this %s and will take the change back. To last it has to be made there.", by, kind)
}
