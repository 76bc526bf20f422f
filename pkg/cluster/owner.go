package cluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Ownership is the workload whose pod template a pod is made from, and how it is known.
type Ownership struct {
	// Workload is what a patch would change; the pod itself when nothing owns it.
	Workload patch.Workload
	// Fact says where it was read, or what kept it from being read completely.
	Fact probe.Fact
	// Managed is the fact who would revert a change of it.
	Managed probe.Fact
}

// topmost is the workload that was reached on the way up from a pod.
type topmost struct {
	workload patch.Workload
	// object is the workload as it was read, nil when it was not; err then says why, nil for a kind that is not read.
	object metav1.Object
	err    error
	// need is the permission that reading it takes.
	need Permission
}

// OwnerOf follows a pod's controllers up: ReplicaSet to Deployment, Job to CronJob. Where one may not be read the last one known
// is returned, and the Fact says so.
func OwnerOf(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) Ownership {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		w := patch.Pod(pod.Namespace, pod.Name, nil)
		setDNS(&w, &pod.Spec)
		return Ownership{
			Workload: w,
			Fact:     probe.Fact{Value: fact.None, Source: "metadata.ownerReferences of pod " + pod.Name},
			Managed:  managedFact(pod, "pod "+pod.Name, ""),
		}
	}
	top := topmost{workload: owned(ref, pod)}
	switch ref.Kind {
	case "ReplicaSet":
		top.ofReplicaSet(ctx, client, pod)
	case "Job":
		top.ofJob(ctx, client, pod)
	case "StatefulSet":
		o, err := client.AppsV1().StatefulSets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if top.read(err, "statefulsets") {
			top.object, top.workload.Owner.Replicas = o, o.Spec.Replicas
			setDNS(&top.workload, &o.Spec.Template.Spec)
		}
	case "DaemonSet":
		o, err := client.AppsV1().DaemonSets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if top.read(err, "daemonsets") {
			top.object, top.workload.Owner.Replicas = o, &o.Status.DesiredNumberScheduled
			setDNS(&top.workload, &o.Spec.Template.Spec)
		}
	}
	return top.ownership(pod)
}

// read keeps an error of reading a resource, and says whether there was none.
func (t *topmost) read(err error, resource string) bool {
	t.err, t.need = err, Permission{Verb: "get", Resource: resource}
	return err == nil
}

func (t *topmost) ownership(pod *corev1.Pod) Ownership {
	owner := t.workload.Owner
	told := probe.Fact{Value: owner.Kind + "/" + owner.Name, Source: "metadata.ownerReferences from pod " + pod.Name + " up"}
	why := "objects of kind " + owner.Kind + " are not read"
	if t.err != nil {
		told.Source += fmt.Sprintf("; not read completely (%s), so the pod's own dnsConfig stands for the template's", t.err)
		why = asked[any](t.need, pod.Namespace, nil, t.err).unknown()
	}
	return Ownership{Workload: t.workload, Fact: told, Managed: managedFact(t.object, owner.Kind+" "+owner.Name, why)}
}

// owned is the workload as far as a reference tells: its template is not known, so the pod's own dnsConfig, which was made
// from it, stands for it.
func owned(ref *metav1.OwnerReference, pod *corev1.Pod) patch.Workload {
	w := patch.Workload{Owner: probe.Owner{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}, Namespace: pod.Namespace}
	setDNS(&w, &pod.Spec)
	return w
}

func (t *topmost) ofReplicaSet(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) {
	w := &t.workload
	set, err := client.AppsV1().ReplicaSets(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if !t.read(err, "replicasets") {
		// The Deployment controller names a ReplicaSet after the Deployment and the hash in this label
		// (k8s.io/kubernetes pkg/controller/deployment/sync.go), so the name alone tells.
		if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
			if name, found := strings.CutSuffix(w.Owner.Name, "-"+hash); found {
				w.Owner = probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
			}
		}
		return
	}
	t.object, w.Owner.Replicas = set, set.Spec.Replicas
	setDNS(w, &set.Spec.Template.Spec)
	if !t.up(set, pod) || w.Owner.Kind != "Deployment" {
		return
	}
	d, err := client.AppsV1().Deployments(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if t.read(err, "deployments") {
		t.object, w.Owner.Replicas = d, d.Spec.Replicas
		setDNS(w, &d.Spec.Template.Spec)
	}
}

// up goes on to the controller of an object, of which no more than its name is known then. It reports whether there is one.
func (t *topmost) up(object metav1.Object, pod *corev1.Pod) bool {
	ref := metav1.GetControllerOf(object)
	if ref != nil {
		t.workload, t.object = owned(ref, pod), nil
	}
	return ref != nil
}

func (t *topmost) ofJob(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) {
	w := &t.workload
	job, err := client.BatchV1().Jobs(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if !t.read(err, "jobs") {
		return
	}
	t.object = job
	setDNS(w, &job.Spec.Template.Spec)
	if !t.up(job, pod) || w.Owner.Kind != "CronJob" {
		return
	}
	cron, err := client.BatchV1().CronJobs(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if t.read(err, "cronjobs") {
		t.object = cron
		setDNS(w, &cron.Spec.JobTemplate.Spec.Template.Spec)
	}
}

// setDNS enters what a pod spec says about DNS.
func setDNS(w *patch.Workload, spec *corev1.PodSpec) {
	w.DNSConfig, w.DNSPolicy = dnsConfigOf(spec.DNSConfig), string(spec.DNSPolicy)
}

// dnsConfigOf returns the part of a template's dnsConfig that a patch has to know.
func dnsConfigOf(c *corev1.PodDNSConfig) *patch.DNSConfig {
	if c == nil {
		return nil
	}
	out := &patch.DNSConfig{Nameservers: c.Nameservers, Searches: c.Searches}
	for _, o := range c.Options {
		out.Options = append(out.Options, patch.Option{Name: o.Name, Value: o.Value})
	}
	return out
}
