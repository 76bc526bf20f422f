package ephemeral

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

func TestAddSendsOnlyTheNewContainerAsAPatchOfTheSubresource(t *testing.T) {
	pod := testPod(withProbe("dnsprobe-old", new(terminated("Completed", 0, ""))))
	client := fake.NewClientset(pod)
	c := probeContainer("dnsprobe-new", testTarget(pod), testRequest)
	if _, err := Add(t.Context(), client, pod, &c); err != nil {
		t.Fatal(err)
	}
	actions := client.Actions()
	if len(actions) != 1 {
		t.Fatalf("%d actions, want 1: %v", len(actions), actions)
	}
	patch, ok := actions[0].(clienttesting.PatchAction)
	if !ok || patch.GetSubresource() != "ephemeralcontainers" || patch.GetPatchType() != types.StrategicMergePatchType {
		t.Fatalf("action %v", actions[0])
	}
	var body struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(patch.GetPatch(), &body); err != nil {
		t.Fatal(err)
	}
	var added []corev1.EphemeralContainer
	if err := json.Unmarshal(body.Spec["ephemeralContainers"], &added); err != nil {
		t.Fatalf("patch %s: %v", patch.GetPatch(), err)
	}
	if diff := cmp.Diff([]corev1.EphemeralContainer{c}, added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	delete(body.Spec, "ephemeralContainers")
	for key := range body.Spec {
		if !strings.HasPrefix(key, "$setElementOrder/") {
			t.Errorf("the patch also changes spec.%s: %s", key, patch.GetPatch())
		}
	}
}

func TestAddTellsWhyItWasRefused(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "payments", errors.New("RBAC"))
	})
	_, err := Add(t.Context(), client, testPod(), &corev1.EphemeralContainer{})
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Denied != PatchProbe {
		t.Errorf("error %v", err)
	}
}

// watching returns a client whose watches of pods bring states, one after the other.
func watching(states ...*corev1.Pod) *fake.Clientset {
	client := fake.NewClientset(testPod())
	client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFakeWithChanSize(len(states), false)
		for _, s := range states {
			w.Modify(s)
		}
		return true, w, nil
	})
	return client
}

func TestWaitUntilTheContainerRuns(t *testing.T) {
	client := watching(
		testPod(withProbe("dnsprobe-a", new(waiting("ContainerCreating", "")))),
		testPod(withProbe("dnsprobe-a", new(waiting("ContainerCreating", "")))),
		testPod(withProbe("dnsprobe-a", new(running()))),
	)
	var said []string
	err := Wait(t.Context(), client, testPod(withProbe("dnsprobe-a", nil)), "dnsprobe-a", time.Minute, func(s string) { said = append(said, s) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"container dnsprobe-a: waiting for the kubelet", "container dnsprobe-a: ContainerCreating"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

func TestWaitEndsWithTheKubeletsReason(t *testing.T) {
	client := watching(testPod(withProbe("dnsprobe-a", new(waiting("ErrImagePull", "pull access denied")))))
	err := Wait(t.Context(), client, testPod(withProbe("dnsprobe-a", nil)), "dnsprobe-a", time.Minute, func(string) {})
	if e, ok := errors.AsType[*StartError](err); !ok || e.Reason != "ErrImagePull" || e.Message != "pull access denied" {
		t.Errorf("error %v", err)
	}
}

func TestWaitHearsTheKubeletsEventBeforeTheStatusSaysSo(t *testing.T) {
	pod := testPod(withProbe("dnsprobe-a", new(waiting("ContainerCreating", ""))), func(p *corev1.Pod) { p.UID = "this" })
	client := watching()
	event := func(uid types.UID, kind, reason, message string) *corev1.Event {
		return &corev1.Event{InvolvedObject: corev1.ObjectReference{UID: uid}, Type: kind, Reason: reason, Message: message}
	}
	client.PrependWatchReactor("events", func(a clienttesting.Action) (bool, watch.Interface, error) {
		restrictions := a.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String()
		if restrictions != "involvedObject.fieldPath=spec.ephemeralContainers{dnsprobe-a},involvedObject.name=payments" {
			t.Errorf("watched %s", restrictions)
		}
		w := watch.NewFakeWithChanSize(4, false)
		w.Add(event("this", corev1.EventTypeNormal, "Pulling", "Pulling image"))
		w.Add(event("an earlier pod of this name", corev1.EventTypeWarning, "Failed", "Error: RunContainerError"))
		w.Add(event("this", corev1.EventTypeWarning, "Failed", `Failed to pull image "x": not found`))
		return true, w, nil
	})
	err := Wait(t.Context(), client, pod, "dnsprobe-a", time.Minute, func(string) {})
	e, ok := errors.AsType[*StartError](err)
	if !ok || e.Reason != "ErrImagePull" || e.Message != "not found" || !strings.Contains(e.NextStep(), "tried registry.example/dnsprobe-agent:v1") {
		t.Errorf("error %v", err)
	}
}

func TestWhatEventsOfAContainerMean(t *testing.T) {
	for name, tt := range map[string]struct{ kind, reason, message, want string }{
		"pulling":           {"Normal", "Pulling", "Pulling image", ""},
		"pull failed":       {"Warning", "Failed", `Failed to pull image "x": 404`, "ErrImagePull"},
		"config":            {"Warning", "Failed", "Error: container has runAsNonRoot and image will run as root", "container has runAsNonRoot and image will run as root"},
		"never pull":        {"Warning", "ErrImageNeverPull", "Container image is not present", "ErrImageNeverPull"},
		"bad name":          {"Warning", "InspectFailed", "Failed to apply default image tag", "InspectFailed"},
		"trying again":      {"Warning", "BackOff", "Back-off pulling image", ""},
		"something else":    {"Warning", "Unhealthy", "Error: x", ""},
		"failed, no reason": {"Warning", "Failed", "Error: ", "Failed"},
	} {
		got := failure(&corev1.Event{Type: tt.kind, Reason: tt.reason, Message: tt.message})
		if (got == nil) != (tt.want == "") || got != nil && got.Reason != tt.want {
			t.Errorf("%s: %+v, want %q", name, got, tt.want)
		}
	}
}

func TestWaitHasALimitAndSaysWhatWasLastKnown(t *testing.T) {
	client := watching()
	client.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.EventList{Items: []corev1.Event{
			{Reason: "FailedMount", Message: "old", LastTimestamp: metav1.Unix(1, 0)},
			{Reason: "FailedCreatePodSandBox", Message: "no network", LastTimestamp: metav1.Unix(2, 0)},
		}}, nil
	})
	pod := testPod(withProbe("dnsprobe-a", new(waiting("ContainerCreating", ""))))
	err := Wait(t.Context(), client, pod, "dnsprobe-a", time.Millisecond, func(string) {})
	e, ok := errors.AsType[*StartError](err)
	if !ok || e.Reason != reasonTimeout {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"not running after 1ms", "ContainerCreating", "FailedCreatePodSandBox: no network"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestWaitWithoutTheRightToWatch(t *testing.T) {
	client := fake.NewClientset(testPod(withProbe("dnsprobe-a", new(running()))))
	client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("RBAC"))
	})
	if err := Wait(t.Context(), client, testPod(withProbe("dnsprobe-a", nil)), "dnsprobe-a", time.Minute, func(string) {}); err != nil {
		t.Error(err)
	}
}

func TestWaitAfterAWatchThatEnded(t *testing.T) {
	client := fake.NewClientset(testPod(withProbe("dnsprobe-a", new(running()))))
	client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		w.Stop()
		return true, w, nil
	})
	if err := Wait(t.Context(), client, testPod(withProbe("dnsprobe-a", nil)), "dnsprobe-a", time.Minute, func(string) {}); err != nil {
		t.Error(err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Wait(ctx, watching(), testPod(withProbe("dnsprobe-a", nil)), "dnsprobe-a", time.Minute, func(string) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLookAsksEverythingAndRemembersWhatItMayNotKnow(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		attributes := review.Spec.ResourceAttributes
		if attributes.Namespace != "shop" || attributes.Name != "payments" {
			t.Errorf("asked about %s/%s", attributes.Namespace, attributes.Name)
		}
		if attributes.Subresource == "exec" {
			return true, nil, errors.New("no answer")
		}
		review.Status.Allowed = attributes.Subresource == ""
		review.Status.Reason = "because"
		return true, review, nil
	})
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "shop", errors.New("RBAC"))
	})
	client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kubernetes.io/os": "linux"}}}, nil
	})
	s := Look(t.Context(), client, testPod())
	want := map[Permission]Access{
		GetPods: {Allowed: true}, WatchPods: {Allowed: true, Reason: "because"},
		PatchProbe: {Reason: "because"}, ExecPods: {Unknown: "no answer"},
	}
	if diff := cmp.Diff(want, s.Access); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
	if s.Namespace != nil || !strings.Contains(s.NamespaceUnknown, "forbidden") || s.NodeOS != "linux" {
		t.Errorf("namespace %v (%s), node OS %q", s.Namespace, s.NamespaceUnknown, s.NodeOS)
	}
}

func TestRoleIsARoleWithEveryPermission(t *testing.T) {
	var role struct {
		Kind     string
		Metadata struct{ Namespace string }
		Rules    []struct{ Resources, Verbs []string }
	}
	if err := yaml.Unmarshal([]byte(Role("shop")), &role); err != nil {
		t.Fatal(err)
	}
	if role.Kind != "Role" || role.Metadata.Namespace != "shop" {
		t.Errorf("role %+v", role)
	}
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted[verb+" "+resource] = true
			}
		}
	}
	for _, p := range Permissions() {
		if !granted[p.String()] {
			t.Errorf("the Role does not grant %s: %v", p, granted)
		}
	}
}
