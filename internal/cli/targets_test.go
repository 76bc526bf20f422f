package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

func TestCompletionOfTargets(t *testing.T) {
	k, client := fakeCluster(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: "shop"}})
	for word, want := range map[string]string{
		"":           "deploy/ sts/ ds/ svc/ pod/ payments-1",
		"d":          "deploy/ ds/",
		"p":          "pod/ payments-1",
		"deploy/":    "deploy/payments",
		"deploy/pay": "deploy/payments",
		"deploy/x":   "",
		"svc/":       "svc/payments",
		"sts/":       "",
		"pod/":       "pod/payments-1",
		"job/":       "",
	} {
		got, _ := targets(t.Context(), k.client, "shop", word)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("not for you")
	})
	if got, _ := targets(t.Context(), k.client, "shop", ""); !slices.Contains(got, "deploy/") {
		t.Errorf("without rights: %q", got)
	}
	if got, _ := targets(t.Context(), k.client, "shop", "deploy/"); len(got) > 0 {
		t.Errorf("without rights: %q", got)
	}
}
