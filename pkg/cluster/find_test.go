package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestParseTarget(t *testing.T) {
	for s, want := range map[string]Ref{
		"payments":                  {"pod", "payments"},
		"po/payments":               {"pod", "payments"},
		"Pods/payments":             {"pod", "payments"},
		"deploy/payments":           {"deployment", "payments"},
		"deployments/payments":      {"deployment", "payments"},
		"sts/x":                     {"statefulset", "x"},
		"ds/x":                      {"daemonset", "x"},
		"job/x":                     {"job", "x"},
		"cj/x":                      {"cronjob", "x"},
		"rs/x":                      {"replicaset", "x"},
		"svc/x":                     {"service", "x"},
		"rollouts.argoproj.io/x":    {"rollouts.argoproj.io", "x"},
		"deployments.apps/payments": {"deployments.apps", "payments"},
	} {
		if got, err := ParseTarget(s); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "/", "pod/", "/x", "shop/pod/x"} {
		if got, err := ParseTarget(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// aPod returns a pod of age minutes with the label app=web; state is "ready", "running", "deleting" or a phase.
func aPod(name, state string, age time.Duration) *corev1.Pod {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", Labels: map[string]string{"app": "web"}, CreationTimestamp: metav1.NewTime(now.Add(-age)),
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	switch state {
	case "ready":
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	case "running":
	case "deleting":
		p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: now}, []string{"x"}
	default:
		p.Status.Phase = corev1.PodPhase(state)
	}
	return p
}

func TestPick(t *testing.T) {
	tests := []struct {
		name      string
		pods      []*corev1.Pod
		want, why string
		fails     string
	}{
		{
			name: "the newest ready one", pods: []*corev1.Pod{aPod("old", "ready", 3*time.Hour), aPod("new", "ready", time.Hour), aPod("newest", "running", time.Minute)},
			want: "new", why: "newest ready of 3 pods of Deployment web",
		},
		{
			name: "of the same age the first by name", pods: []*corev1.Pod{aPod("b", "ready", time.Hour), aPod("a", "ready", time.Hour)},
			want: "a", why: "newest ready of 2 pods of Deployment web",
		},
		{
			name: "none is ready", pods: []*corev1.Pod{aPod("a", "running", time.Hour), aPod("b", "Pending", time.Minute)},
			want: "a", why: "newest running of 2 pods of Deployment web, none is ready",
		},
		{name: "only one", pods: []*corev1.Pod{aPod("a", "ready", time.Hour)}, want: "a", why: "the only pod of Deployment web"},
		{
			name: "none runs", pods: []*corev1.Pod{aPod("a", "Succeeded", time.Hour), aPod("b", "Pending", 0), aPod("c", "deleting", 0)},
			fails: "Deployment web has no running pod (1 Pending, 1 Succeeded, 1 being deleted)",
		},
		{name: "none", fails: "Deployment web has no pods"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pods []corev1.Pod
			for _, p := range tt.pods {
				pods = append(pods, *p)
			}
			pod, why, err := Pick(pods, "Deployment web")
			if tt.fails != "" {
				if err == nil || err.Error() != tt.fails {
					t.Errorf("error %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil || pod.Name != tt.want || why != tt.why {
				t.Errorf("pod %v, %q, %v; want %q, %q", pod, why, err, tt.want, tt.why)
			}
		})
	}
}

func TestFind(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u1"}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	cronJob := func(name string, age time.Duration, app string) *batchv1.Job {
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "shop", CreationTimestamp: aPod("", "", age).CreationTimestamp,
				OwnerReferences: []metav1.OwnerReference{{UID: "u1", Controller: new(true)}},
			},
			Spec: batchv1.JobSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		}
	}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "shop"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	client := fake.NewClientset(
		aPod("web-1", "ready", time.Hour), other,
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector}},
		&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector}},
		&appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector}},
		&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Selector: selector}},
		&batchv1.CronJob{ObjectMeta: meta},
		cronJob("web-old", 2*time.Hour, "web"), cronJob("web-new", time.Hour, "ended"),
		&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "idle", Namespace: "shop", UID: "u2"}},
		&corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels}},
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: selector.MatchLabels}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "external", Namespace: "shop"}},
	)
	rollouts := func(_ context.Context, namespace string, ref Ref) (labels.Selector, string, error) {
		if namespace != "shop" || ref != (Ref{"rollout", "web"}) {
			t.Errorf("asked for %s in %s", ref, namespace)
		}
		return labels.SelectorFromSet(selector.MatchLabels), "Rollout web", nil
	}
	tests := []struct{ target, pod, chosen, fails, next string }{
		{target: "other", pod: "other"},
		{target: "deploy/web", pod: "web-1", chosen: "the only pod of Deployment web"},
		{target: "rs/web", pod: "web-1", chosen: "the only pod of ReplicaSet web"},
		{target: "sts/web", pod: "web-1", chosen: "the only pod of StatefulSet web"},
		{target: "ds/web", pod: "web-1", chosen: "the only pod of DaemonSet web"},
		{target: "job/web", pod: "web-1", chosen: "the only pod of Job web"},
		{target: "cj/web", pod: "web-1", chosen: "the only pod of Job web-old of CronJob web"},
		{target: "rc/web", pod: "web-1", chosen: "the only pod of ReplicationController web"},
		{target: "svc/web", pod: "web-1", chosen: "the only pod of Service web"},
		{target: "rollout/web", pod: "web-1", chosen: "the only pod of Rollout web"},
		{target: "svc/external", fails: "Service external selects no pods", next: "deploy/external"},
		{target: "cj/idle", fails: "CronJob idle has no pods", next: "scale it up"},
		{target: "nope", fails: "there is no pod nope in namespace shop", next: "kubectl -n shop get pods"},
		{target: "deploy/nope", fails: "there is no Deployment nope in namespace shop", next: "kubectl -n shop get"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			ref, err := ParseTarget(tt.target)
			if err != nil {
				t.Fatal(err)
			}
			found, err := Find(t.Context(), client, "shop", ref, rollouts)
			if tt.fails == "" {
				if err != nil || found.Pod.Name != tt.pod || found.Chosen != tt.chosen {
					t.Errorf("found %v (%q), %v", found.Pod, found.Chosen, err)
				}
				return
			}
			var step interface{ NextStep() string }
			if !errors.As(err, &step) || !strings.Contains(err.Error(), tt.fails) || !strings.Contains(step.NextStep(), tt.next) {
				t.Errorf("error %v, next %v", err, step)
			}
		})
	}
}

func TestAnswersOfTheAPIServerInSentences(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, tt := range map[string]struct {
		err        error
		text, next string
	}{
		"forbidden":    {apierrors.NewForbidden(pods, "x", errors.New("RBAC")), "read pod x in namespace shop", "ask for a role"},
		"unauthorized": {apierrors.NewUnauthorized("expired"), "read pod x in namespace shop", "log in"},
		"out of reach": {errors.New("dial tcp: connection refused"), "ask the cluster for pod x in namespace shop: dial tcp", "check the connection"},
	} {
		client := fake.NewClientset()
		client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tt.err })
		_, err := Find(t.Context(), client, "shop", Ref{"pod", "x"}, nil)
		e, ok := errors.AsType[*ReadError](err)
		if !ok || !strings.Contains(e.Error(), tt.text) || !strings.Contains(e.NextStep(), tt.next) || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, next %q", name, err, e.NextStep())
		}
	}
}

func TestSelectorsOfUnknownKinds(t *testing.T) {
	spec := func(selector any) map[string]any { return map[string]any{"spec": map[string]any{"selector": selector}} }
	for name, tt := range map[string]struct {
		object map[string]any
		want   string
		fails  bool
	}{
		"label selector": {object: spec(map[string]any{"matchLabels": map[string]any{"app": "web"}}), want: "app=web"},
		"expressions": {object: spec(map[string]any{"matchExpressions": []any{
			map[string]any{"key": "app", "operator": "In", "values": []any{"a", "b"}},
		}}), want: "app in (a,b)"},
		"a map":    {object: spec(map[string]any{"app": "web"}), want: "app=web"},
		"nothing":  {object: map[string]any{}, fails: true},
		"nonsense": {object: spec("web"), fails: true},
		"numbers":  {object: spec(map[string]any{"app": int64(1)}), fails: true},
	} {
		got, err := specSelector(tt.object)
		if (err != nil) != tt.fails || err == nil && got.String() != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
