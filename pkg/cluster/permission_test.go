package cluster

import (
	"errors"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

func TestReview(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		of := r.Spec.ResourceAttributes
		if of.Resource == "events" {
			return true, nil, errors.New("no answer")
		}
		r.Status.Allowed = of.Namespace == "shop"
		if of.Resource == "configmaps" {
			r.Status.Allowed = of.Namespace == "kube-system" && of.Name == "coredns"
		}
		return true, r, nil
	})
	answers := Review(t.Context(), client, "shop")
	if len(answers) != len(Optional()) {
		t.Fatalf("%d answers", len(answers))
	}
	for i, a := range answers {
		if a.In("shop") != Optional()[i].In("shop") || a.Tells == "" {
			t.Errorf("answer %d is %+v", i, a)
		}
		switch {
		case a.Resource == "events":
			if a.Unknown != "no answer" || a.Allowed {
				t.Errorf("%+v", a)
			}
		case a.Unknown != "" || a.Allowed != (a.Scope == InPodNamespace || a.Resource == "configmaps"):
			t.Errorf("%+v", a)
		}
	}
}

func TestRolesAreWhatFactsNeed(t *testing.T) {
	type rule struct {
		APIGroups, Resources, ResourceNames, Verbs []string
	}
	type role struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
		Rules    []rule
	}
	rules := 0
	documents := strings.Split(Roles("shop"), "---\n")
	if len(documents) != 4 {
		t.Fatalf("%d documents", len(documents))
	}
	for i, namespace := range []string{"shop", "kube-system", "default", ""} {
		var r role
		if err := yaml.UnmarshalStrict([]byte(strings.Replace(documents[i], "apiVersion: rbac.authorization.k8s.io/v1\n", "", 1)), &r); err != nil {
			t.Fatal(err)
		}
		if r.Metadata.Namespace != namespace || (r.Kind == "ClusterRole") != (namespace == "") || r.Metadata.Name == "" {
			t.Errorf("%+v", r)
		}
		for _, rule := range r.Rules {
			rules++
			for _, verb := range rule.Verbs {
				if verb != "get" && verb != "list" {
					t.Errorf("%s: facts only read, but a rule has %q", r.Kind, verb)
				}
			}
			if rule.Resources[0] == "secrets" || rule.Resources[0] == "configmaps" && len(rule.ResourceNames) == 0 {
				t.Errorf("%+v is more than facts need", rule)
			}
		}
	}
	if rules != len(Optional()) {
		t.Errorf("%d rules for %d permissions", rules, len(Optional()))
	}
}
