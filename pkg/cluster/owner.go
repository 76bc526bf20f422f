package cluster

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// Ownership is the workload whose pod template a pod is made from, and how it is known.
type Ownership struct {
	// Workload is what a patch would change; the pod itself when nothing owns it.
	Workload patch.Workload
	// Fact says where it was read, or what kept it from being read completely.
	Fact probe.Fact
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
			Fact:     probe.Fact{Value: "none", Source: "metadata.ownerReferences of pod " + pod.Name},
		}
	}
	w := owned(ref, pod)
	var err error
	switch ref.Kind {
	case "ReplicaSet":
		w, err = ofReplicaSet(ctx, client, pod, w)
	case "Job":
		w, err = ofJob(ctx, client, pod, w)
	case "StatefulSet":
		var o *appsv1.StatefulSet
		if o, err = client.AppsV1().StatefulSets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
			w.Owner.Replicas = o.Spec.Replicas
			setDNS(&w, &o.Spec.Template.Spec)
		}
	case "DaemonSet":
		var o *appsv1.DaemonSet
		if o, err = client.AppsV1().DaemonSets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
			w.Owner.Replicas = &o.Status.DesiredNumberScheduled
			setDNS(&w, &o.Spec.Template.Spec)
		}
	}
	fact := probe.Fact{Value: w.Owner.Kind + "/" + w.Owner.Name, Source: "metadata.ownerReferences from pod " + pod.Name + " up"}
	if err != nil {
		fact.Source += fmt.Sprintf("; not read completely (%s), so the pod's own dnsConfig stands for the template's", err)
	}
	return Ownership{Workload: w, Fact: fact}
}

// owned is the workload as far as a reference tells: its template is not known, so the pod's own dnsConfig, which was made
// from it, stands for it.
func owned(ref *metav1.OwnerReference, pod *corev1.Pod) patch.Workload {
	w := patch.Workload{Owner: probe.Owner{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}, Namespace: pod.Namespace}
	setDNS(&w, &pod.Spec)
	return w
}

func ofReplicaSet(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, w patch.Workload) (patch.Workload, error) {
	set, err := client.AppsV1().ReplicaSets(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if err != nil {
		// The Deployment controller names a ReplicaSet after the Deployment and the hash in this label
		// (k8s.io/kubernetes pkg/controller/deployment/sync.go), so the name alone tells.
		if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
			if name, found := strings.CutSuffix(w.Owner.Name, "-"+hash); found {
				w.Owner = probe.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
			}
		}
		return w, err
	}
	w.Owner.Replicas = set.Spec.Replicas
	setDNS(&w, &set.Spec.Template.Spec)
	ref := metav1.GetControllerOf(set)
	if ref == nil {
		return w, nil
	}
	up := owned(ref, pod)
	if ref.Kind != "Deployment" {
		return up, nil
	}
	d, err := client.AppsV1().Deployments(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return up, err
	}
	up.Owner.Replicas = d.Spec.Replicas
	setDNS(&up, &d.Spec.Template.Spec)
	return up, nil
}

func ofJob(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, w patch.Workload) (patch.Workload, error) {
	job, err := client.BatchV1().Jobs(pod.Namespace).Get(ctx, w.Owner.Name, metav1.GetOptions{})
	if err != nil {
		return w, err
	}
	setDNS(&w, &job.Spec.Template.Spec)
	ref := metav1.GetControllerOf(job)
	if ref == nil {
		return w, nil
	}
	up := owned(ref, pod)
	if ref.Kind != "CronJob" {
		return up, nil
	}
	cron, err := client.BatchV1().CronJobs(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return up, err
	}
	setDNS(&up, &cron.Spec.JobTemplate.Spec.Template.Spec)
	return up, nil
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
