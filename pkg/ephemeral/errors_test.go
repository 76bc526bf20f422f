package ephemeral

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAnswersToThePatchInSentences(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	unserved := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource",
		Details: &metav1.StatusDetails{},
	}}
	tests := []struct {
		name       string
		err        error
		text, next string
	}{
		{"no such subresource", unserved, "does not serve ephemeral containers", "upgrade the cluster"},
		{"pod is gone", apierrors.NewNotFound(pods, "payments"), "the pod is gone", "get pods"},
		{"conflict", apierrors.NewConflict(pods, "payments", errors.New("modified")), "modified", "run the command again"},
		{
			"no right", apierrors.NewForbidden(pods, "payments", errors.New(`User "viewer" cannot patch resource "pods/ephemeralcontainers"`)),
			"you may not patch pods/ephemeralcontainers", "preflight -n shop pod/payments",
		},
		{
			"Pod Security", apierrors.NewForbidden(pods, "payments", errors.New(`violates PodSecurity "restricted:latest": runAsNonRoot != true`)),
			`violates PodSecurity "restricted:latest": runAsNonRoot != true`, "which container is in the way",
		},
		{
			"webhook", apierrors.NewForbidden(pods, "payments", errors.New(`admission webhook "policy.example" denied the request: no limits`)),
			`admission webhook "policy.example" denied the request: no limits`, "ask its owner",
		},
		{
			"policy", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: `ValidatingAdmissionPolicy 'images' with binding 'b' denied request: registry`}},
			"registry", "--image",
		},
		{
			"invalid", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "spec.ephemeralContainers[0].image: bad"}},
			"spec.ephemeralContainers[0].image: bad", "describe pod payments",
		},
		{"no connection", errors.New("connect: connection refused"), "connection refused", "check the connection"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := addError("shop", "payments", tt.err)
			var next interface{ NextStep() string }
			if !errors.As(err, &next) {
				t.Fatalf("%v has no next step", err)
			}
			if !strings.Contains(err.Error(), tt.text) || !strings.Contains(next.NextStep(), tt.next) {
				t.Errorf("%q\nnext: %q\nwant parts %q and %q", err, next.NextStep(), tt.text, tt.next)
			}
		})
	}
}
