package entry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
)

// server is an API server with what decides over a new container: the authorizer, the admission plugin for Pod Security (its own
// code), a webhook for images, and behind it a kubelet.
type server struct {
	file   *file
	client *fake.Clientset
}

func newServer(f *file) *server {
	s := &server{file: f}
	s.client = fake.NewClientset(f.Pod.DeepCopy(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Pod.Namespace, Labels: f.Labels}})
	s.client.PrependReactor("create", "selfsubjectaccessreviews", s.review)
	s.client.PrependReactor("patch", "pods", s.patch)
	return s
}

func (s *server) review(a clienttesting.Action) (bool, runtime.Object, error) {
	r := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview).DeepCopy()
	want := r.Spec.ResourceAttributes
	r.Status.Allowed = !s.denied(ephemeral.Permission{Verb: want.Verb, Resource: want.Resource, Subresource: want.Subresource})
	return true, r, nil
}

func (s *server) denied(p ephemeral.Permission) bool {
	return slices.Contains(s.file.Denied, p.String())
}

// patch does what the API server does with the PATCH that adds a container.
func (s *server) patch(a clienttesting.Action) (bool, runtime.Object, error) {
	pod, err := patched(&s.file.Pod, a.(clienttesting.PatchAction).GetPatch())
	if err != nil {
		return true, nil, err
	}
	added := pod.Spec.EphemeralContainers[len(pod.Spec.EphemeralContainers)-1]
	switch why, err := violations(s.file.Labels, pod); {
	case err != nil:
		return true, nil, err
	case s.denied(ephemeral.PatchProbe):
		return true, nil, forbidden(fmt.Sprintf("pods %q is forbidden: User \"jane\" cannot patch resource \"pods/ephemeralcontainers\" in API group \"\" in the namespace %q",
			pod.Name, pod.Namespace))
	case why != "":
		return true, nil, forbidden(fmt.Sprintf("pods %q is forbidden: violates PodSecurity %q: %s", pod.Name, s.file.Labels[psa.EnforceLevelLabel]+":latest", why))
	case len(s.file.Images) > 0 && !slices.ContainsFunc(s.file.Images, func(p string) bool { return strings.HasPrefix(added.Image, p) }):
		return true, nil, forbidden(fmt.Sprintf("admission webhook \"images.policy.example\" denied the request: image %s comes from no allowed registry", added.Image))
	}
	pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: added.Name, Image: added.Image, State: kubelet(pod, &added)})
	return true, pod, nil
}

func patched(before *corev1.Pod, patch []byte) (*corev1.Pod, error) {
	doc, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(doc, patch, before)
	if err != nil {
		return nil, fmt.Errorf("apply the PATCH: %w", err)
	}
	var pod corev1.Pod
	if err := json.Unmarshal(merged, &pod); err != nil {
		return nil, err
	}
	if len(pod.Spec.EphemeralContainers) == 0 {
		return nil, fmt.Errorf("the PATCH adds no container: %s", patch)
	}
	return &pod, nil
}

// violations is what the admission plugin for Pod Security says of a pod in a namespace with these labels.
func violations(labels map[string]string, pod *corev1.Pod) (string, error) {
	level, err := psa.ParseLevel(labels[psa.EnforceLevelLabel])
	if labels[psa.EnforceLevelLabel] == "" || level == psa.LevelPrivileged {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return "", err
	}
	r := policy.AggregateCheckResults(e.EvaluatePod(psa.LevelVersion{Level: level, Version: psa.LatestVersion()}, &pod.ObjectMeta, &pod.Spec))
	if r.Allowed {
		return "", nil
	}
	return r.ForbiddenDetail(), nil
}

// kubelet says what becomes of a container: an image whose user is root does not start where only others may run, unless the
// container says itself who it is (k8s.io/kubernetes pkg/kubelet/kuberuntime/security_context.go, verifyRunAsNonRoot). The image
// of the probe is taken for one of root here, which is the worst that can be.
func kubelet(pod *corev1.Pod, c *corev1.EphemeralContainer) corev1.ContainerState {
	var nonRoot *bool
	var user *int64
	if sc := pod.Spec.SecurityContext; sc != nil {
		nonRoot, user = sc.RunAsNonRoot, sc.RunAsUser
	}
	if sc := c.SecurityContext; sc != nil {
		if sc.RunAsNonRoot != nil {
			nonRoot = sc.RunAsNonRoot
		}
		if sc.RunAsUser != nil {
			user = sc.RunAsUser
		}
	}
	if nonRoot != nil && *nonRoot && (user == nil || *user == 0) {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CreateContainerConfigError", Message: "container has runAsNonRoot and image will run as root",
		}}
	}
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func forbidden(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message,
	}}
}
