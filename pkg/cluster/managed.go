package cluster

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/fact"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/printable"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

// managers are the marks that tools leave on the objects they keep as they want them, those that revert a change by themselves
// first. Each returns who manages the object in words, empty when the mark is not there.
var managers = []struct {
	mark string
	who  func(o metav1.Object) string
}{
	{"controller in metadata.ownerReferences", func(o metav1.Object) string {
		if ref := metav1.GetControllerOf(o); ref != nil {
			return fmt.Sprintf("the controller of %s %s (%s)", ref.Kind, ref.Name, ref.APIVersion)
		}
		return ""
	}},
	// argo-cd.readthedocs.io, Resource Tracking: APPLICATION:GROUP/KIND:NAMESPACE/NAME.
	{"annotation argocd.argoproj.io/tracking-id", func(o metav1.Object) string {
		app, _, _ := strings.Cut(o.GetAnnotations()["argocd.argoproj.io/tracking-id"], ":")
		return named("Argo CD application", app)
	}},
	// The label is Argo CD's mark by default, but many charts set it too: the fields have to be its own.
	{"label app.kubernetes.io/instance and metadata.managedFields", func(o metav1.Object) string {
		if !managedBy(o, "argocd") {
			return ""
		}
		if who := named("Argo CD application", o.GetLabels()["app.kubernetes.io/instance"]); who != "" {
			return who
		}
		return "Argo CD"
	}},
	// fluxcd.io, Kustomization and HelmRelease: both label what they apply with their own name and namespace.
	{"label kustomize.toolkit.fluxcd.io/name", func(o metav1.Object) string {
		return named("Flux Kustomization", of(o.GetLabels(), "kustomize.toolkit.fluxcd.io/"))
	}},
	{"label helm.toolkit.fluxcd.io/name", func(o metav1.Object) string {
		return named("Flux HelmRelease", of(o.GetLabels(), "helm.toolkit.fluxcd.io/"))
	}},
	// k8s.io/kubernetes cluster/addons/addon-manager: it sets such objects back every minute.
	{"label addonmanager.kubernetes.io/mode", func(o metav1.Object) string {
		if o.GetLabels()["addonmanager.kubernetes.io/mode"] == "Reconcile" {
			return "the add-on manager of the cluster"
		}
		return ""
	}},
	{"label olm.owner", func(o metav1.Object) string {
		return named("Operator Lifecycle Manager, for", o.GetLabels()["olm.owner"])
	}},
	{"label kapp.k14s.io/app", func(o metav1.Object) string { return named("kapp application", o.GetLabels()["kapp.k14s.io/app"]) }},
	// helm.sh, since 3.2: what a release installs has both.
	{"annotation meta.helm.sh/release-name", func(o metav1.Object) string {
		return named("Helm release", o.GetAnnotations()["meta.helm.sh/release-name"])
	}},
	{"metadata.managedFields", func(o metav1.Object) string {
		switch {
		case managedBy(o, "terraform"):
			return "Terraform"
		case managedBy(o, "pulumi"):
			return "Pulumi"
		}
		return ""
	}},
	{"label app.kubernetes.io/managed-by", func(o metav1.Object) string { return o.GetLabels()["app.kubernetes.io/managed-by"] }},
}

// named writes "Helm release payments", empty without a name.
func named(what, name string) string {
	if name == "" {
		return ""
	}
	return what + " " + name
}

// of returns the name in labels with a prefix, with the namespace where there is one.
func of(labels map[string]string, prefix string) string {
	name, namespace := labels[prefix+"name"], labels[prefix+"namespace"]
	if name != "" && namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// managedBy says whether some field of an object was last set by a manager whose name begins so.
func managedBy(o metav1.Object, manager string) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(strings.ToLower(m.Manager), manager)
	})
}

// managedFact says who would revert a change of the workload. object is the workload as it was read; nil when it was not, why then
// says why.
func managedFact(object metav1.Object, what, why string) probe.Fact {
	if object == nil {
		return probe.Fact{Unknown: why, Source: what}
	}
	for _, m := range managers {
		if who := m.who(object); who != "" {
			return probe.Fact{Value: printable.Text(who, maxReason), Source: m.mark + " of " + what}
		}
	}
	return probe.Fact{Value: fact.None, Source: "labels, annotations, owner and managed fields of " + what}
}
