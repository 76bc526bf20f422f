package cluster

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhoManagesAWorkload(t *testing.T) {
	set := func(pairs ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	fields := func(manager string) []metav1.ManagedFieldsEntry {
		return []metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: manager}}
	}
	for name, tt := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"nobody":          {metav1.ObjectMeta{ManagedFields: fields("kube-controller-manager")}, "none"},
		"an operator":     {metav1.ObjectMeta{OwnerReferences: controlledBy("monitoring.coreos.com/v1", "Prometheus", "k8s")}, "the controller of Prometheus k8s (monitoring.coreos.com/v1)"},
		"Helm":            {metav1.ObjectMeta{Labels: set("app.kubernetes.io/managed-by", "Helm"), Annotations: set("meta.helm.sh/release-name", "payments")}, "Helm release payments"},
		"a chart applied": {metav1.ObjectMeta{Labels: set("app.kubernetes.io/managed-by", "Helm", "app.kubernetes.io/instance", "x")}, "Helm"},
		"Argo CD by its annotation": {
			metav1.ObjectMeta{Annotations: set("argocd.argoproj.io/tracking-id", "shop:apps/Deployment:shop/web"), Labels: set("app.kubernetes.io/managed-by", "Helm")},
			"Argo CD application shop",
		},
		"Argo CD by its label":  {metav1.ObjectMeta{Labels: set("app.kubernetes.io/instance", "shop"), ManagedFields: fields("argocd-controller")}, "Argo CD application shop"},
		"Argo CD without label": {metav1.ObjectMeta{ManagedFields: fields("argocd-application-controller")}, "Argo CD"},
		"Flux Kustomization": {
			metav1.ObjectMeta{Labels: set("kustomize.toolkit.fluxcd.io/name", "apps", "kustomize.toolkit.fluxcd.io/namespace", "flux-system")},
			"Flux Kustomization flux-system/apps",
		},
		"Flux HelmRelease": {
			metav1.ObjectMeta{Labels: set("helm.toolkit.fluxcd.io/name", "payments"), Annotations: set("meta.helm.sh/release-name", "payments")}, "Flux HelmRelease payments",
		},
		"the add-on manager": {metav1.ObjectMeta{Labels: set("addonmanager.kubernetes.io/mode", "Reconcile")}, "the add-on manager of the cluster"},
		"an add-on of old":   {metav1.ObjectMeta{Labels: set("addonmanager.kubernetes.io/mode", "EnsureExists")}, "none"},
		"Terraform":          {metav1.ObjectMeta{ManagedFields: fields("Terraform")}, "Terraform"},
		"Pulumi":             {metav1.ObjectMeta{ManagedFields: fields("pulumi-kubernetes-1a2b")}, "Pulumi"},
		"hostile":            {metav1.ObjectMeta{Labels: set("app.kubernetes.io/managed-by", "\x1b[2J"+strings.Repeat("x", 999))}, `\x1b[2J` + strings.Repeat("x", maxReason-4) + "..."},
	} {
		f := managedFact(&appsv1.Deployment{ObjectMeta: tt.meta}, "Deployment web", "")
		if f.Value != tt.want || f.Source == "" {
			t.Errorf("%s: %+v, want %q", name, f, tt.want)
		}
	}
	if f := managedFact(nil, "Rollout web", "objects of kind Rollout are not read"); f.Unknown != "objects of kind Rollout are not read" || f.Value != "" {
		t.Errorf("%+v", f)
	}
}
