package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/patch"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
)

func toPatch(t *testing.T, apiVersion, kind string) probe.Patch {
	t.Helper()
	p, err := patch.Build(patch.Workload{Owner: probe.Owner{APIVersion: apiVersion, Kind: kind, Name: "payments"}, Namespace: "shop"}, patch.Ndots(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func inShop() metav1.ObjectMeta { return metav1.ObjectMeta{Name: "payments", Namespace: "shop"} }

// TestApplyByKind changes each kind whose template can be changed, with one PATCH that names the version it is meant for.
func TestApplyByKind(t *testing.T) {
	objects := map[string]runtime.Object{
		"apps/v1 Deployment":       &appsv1.Deployment{ObjectMeta: inShop()},
		"apps/v1 StatefulSet":      &appsv1.StatefulSet{ObjectMeta: inShop()},
		"apps/v1 DaemonSet":        &appsv1.DaemonSet{ObjectMeta: inShop()},
		"apps/v1 ReplicaSet":       &appsv1.ReplicaSet{ObjectMeta: inShop()},
		"v1 ReplicationController": &corev1.ReplicationController{ObjectMeta: inShop()},
		"batch/v1 CronJob":         &batchv1.CronJob{ObjectMeta: inShop()},
	}
	if len(objects) != len(clients) {
		t.Errorf("%d kinds are tested of %d", len(objects), len(clients))
	}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(name, " ")
			client := fake.NewClientset(object)
			p := toPatch(t, apiVersion, kind)
			before, err := Current(t.Context(), client, p)
			if err != nil {
				t.Fatal(err)
			}
			before.Version = ""
			after, err := Apply(t.Context(), client, p, before, false)
			if err != nil {
				t.Fatal(err)
			}
			if c := after.Workload.DNSConfig; c == nil || len(c.Options) != 1 || *c.Options[0].Value != "2" {
				t.Errorf("%+v", c)
			}
			for _, a := range client.Actions() {
				if a.GetVerb() != "get" && a.GetVerb() != "patch" {
					t.Errorf("it did %s", a.GetVerb())
				}
			}
		})
	}
	if _, err := Current(t.Context(), fake.NewClientset(), toPatch(t, "argoproj.io/v1alpha1", "Rollout")); err == nil || !strings.Contains(err.Error(), "is not changed by this tool") {
		t.Errorf("a kind of somebody else: %v", err)
	}
}

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

func TestADryRunSaysSo(t *testing.T) {
	client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: inShop()})
	var options metav1.PatchOptions
	client.PrependReactor("patch", "deployments", func(a clienttesting.Action) (bool, runtime.Object, error) {
		options = a.(clienttesting.PatchActionImpl).PatchOptions
		return true, &appsv1.Deployment{ObjectMeta: inShop()}, nil
	})
	p := toPatch(t, "apps/v1", "Deployment")
	for _, dry := range []bool{true, false} {
		if _, err := Apply(t.Context(), client, p, Applied{}, dry); err != nil {
			t.Fatal(err)
		}
		if got := len(options.DryRun) == 1 && options.DryRun[0] == metav1.DryRunAll; got != dry || options.FieldManager == "" {
			t.Errorf("dry run %v: options %+v", dry, options)
		}
	}
}

// TestConflicts: a status that changed is no reason to give up, other DNS settings are.
func TestConflicts(t *testing.T) {
	conflict := apierrors.NewConflict(deployments, "payments", errors.New("the object has been modified"))
	for name, tt := range map[string]struct {
		now   *corev1.PodDNSConfig
		fails bool
	}{
		"the status changed":       {nil, false},
		"the DNS settings changed": {&corev1.PodDNSConfig{Searches: []string{"corp.example"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			now := &appsv1.Deployment{ObjectMeta: inShop()}
			now.ResourceVersion, now.Spec.Template.Spec.DNSConfig = "8", tt.now
			client := fake.NewClientset(now)
			var bodies []string
			client.PrependReactor("patch", "deployments", func(a clienttesting.Action) (bool, runtime.Object, error) {
				bodies = append(bodies, string(a.(clienttesting.PatchAction).GetPatch()))
				if len(bodies) == 1 {
					return true, nil, conflict
				}
				return true, now, nil
			})
			_, err := Apply(t.Context(), client, toPatch(t, "apps/v1", "Deployment"), Applied{Version: "7"}, false)
			if _, is := errors.AsType[*ConflictError](err); is != tt.fails {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(bodies[0], `"resourceVersion":"7"`) || !tt.fails && !strings.Contains(bodies[1], `"resourceVersion":"8"`) {
				t.Errorf("bodies %q", bodies)
			}
		})
	}
}

func TestTheRightToPatch(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		client := fake.NewClientset()
		var asked authv1.ResourceAttributes
		client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
			asked, review.Status.Allowed = *review.Spec.ResourceAttributes, allowed
			return true, review, nil
		})
		missing, err := MayPatch(t.Context(), client, toPatch(t, "apps/v1", "Deployment"))
		if err != nil || (missing == "") != allowed {
			t.Errorf("allowed %v: missing %q, %v", allowed, missing, err)
		}
		if asked.Verb != "patch" || asked.Group != "apps" || asked.Resource != "deployments" || asked.Namespace != "shop" || asked.Name != "payments" {
			t.Errorf("asked for %+v", asked)
		}
	}
	client := fake.NewClientset()
	client.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(deployments, "payments", errors.New("no"))
	})
	_, err := Apply(t.Context(), client, toPatch(t, "apps/v1", "Deployment"), Applied{}, false)
	var read *ReadError
	if !errors.As(err, &read) || !strings.Contains(read.Next, `verb patch on resource deployments of API group "apps" in namespace shop`) {
		t.Errorf("error %v", err)
	}
}

func TestProgressOfRollouts(t *testing.T) {
	three := new(int32(3))
	deployment := func(change func(*appsv1.Deployment)) runtime.Object {
		d := &appsv1.Deployment{ObjectMeta: inShop(), Spec: appsv1.DeploymentSpec{Replicas: three}, Status: appsv1.DeploymentStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3,
		}}
		change(d)
		return d
	}
	set := func(change func(*appsv1.StatefulSet)) runtime.Object {
		s := &appsv1.StatefulSet{ObjectMeta: inShop(), Spec: appsv1.StatefulSetSpec{Replicas: three}, Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3,
		}}
		change(s)
		return s
	}
	agents := func(change func(*appsv1.DaemonSet)) runtime.Object {
		d := &appsv1.DaemonSet{ObjectMeta: inShop(), Status: appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 4, UpdatedNumberScheduled: 4, NumberAvailable: 4}}
		change(d)
		return d
	}
	tests := map[string]struct {
		object runtime.Object
		done   bool
		text   string
	}{
		"a Deployment that is done":   {deployment(func(*appsv1.Deployment) {}), true, "3 of 3 pods are new and available"},
		"not seen yet":                {deployment(func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 }), false, "waiting for the controller"},
		"one is new":                  {deployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }), false, "1 of 3 new pods made"},
		"an old one is left":          {deployment(func(d *appsv1.Deployment) { d.Status.Replicas = 4 }), false, "1 old pods still end"},
		"not available":               {deployment(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 2 }), false, "2 of 3 new pods available"},
		"paused":                      {deployment(func(d *appsv1.Deployment) { d.Spec.Paused = true; d.Status.ObservedGeneration = 1 }), true, "is paused"},
		"no pods at all":              {deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }), true, "0 replicas"},
		"a StatefulSet that is done":  {set(func(*appsv1.StatefulSet) {}), true, "3 of 3 pods are new and ready"},
		"a StatefulSet half way":      {set(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 2 }), false, "2 of 3 new pods made"},
		"a StatefulSet with OnDelete": {set(func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }), true, "OnDelete"},
		"a StatefulSet with a partition": {set(func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: three}
		}), true, "partition"},
		"a DaemonSet that is done":  {agents(func(*appsv1.DaemonSet) {}), true, "4 of 4 pods are new and available"},
		"a DaemonSet half way":      {agents(func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled = 1 }), false, "1 of 4 new pods made"},
		"a DaemonSet with OnDelete": {agents(func(d *appsv1.DaemonSet) { d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }), true, "OnDelete"},
		"a CronJob":                 {&batchv1.CronJob{}, true, "running pods stay as they are"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ProgressOf(tt.object, 2)
			if err != nil || got.Done != tt.done || !strings.Contains(got.Text+got.Stays, tt.text) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	_, err := ProgressOf(deployment(func(d *appsv1.Deployment) {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Reason: "ProgressDeadlineExceeded", Message: "ReplicaSet has timed out"}}
	}), 2)
	if err == nil || !strings.Contains(err.Error(), "progress deadline has passed") {
		t.Errorf("given up: %v", err)
	}
}

func TestFollowARollout(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: inShop(), Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}
	d.Generation = 2
	client := fake.NewClientset(d)
	p := toPatch(t, "apps/v1", "Deployment")
	after, err := Current(t.Context(), client, p)
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time, 10)
	step := func(updated, available int32) {
		d := d.DeepCopy()
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: updated, AvailableReplicas: available}
		if err := client.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("deployments"), d, "shop"); err != nil {
			t.Error(err)
		}
		ticks <- time.Time{}
	}
	var said []string
	progress, err := Follow(t.Context(), client, p, after, ticks, func(text string) {
		said = append(said, text)
		if n := int32(len(said)); n <= 2 {
			step(n, n-1)
		} else {
			step(2, 2)
		}
	})
	if err != nil || !progress.Done || strings.Join(said, "; ") != "waiting for the controller to see the change; 1 of 2 new pods made; 1 of 2 new pods available" {
		t.Errorf("%+v, %v, said %q", progress, err, said)
	}

	// It ends with its context, and when somebody takes the change back.
	ctx, cancel := context.WithCancel(t.Context())
	step(0, 0)
	if _, err := Follow(ctx, client, p, after, nil, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	after.Workload.DNSPolicy = "None"
	if _, err := Follow(t.Context(), client, p, after, nil, func(string) {}); err == nil || !strings.Contains(err.Error(), "something has changed its DNS settings again") {
		t.Errorf("taken back: %v", err)
	}
}

func TestANewPodHasTheSettingsOfItsTemplate(t *testing.T) {
	w := patch.Workload{DNSPolicy: "ClusterFirst", DNSConfig: &patch.DNSConfig{Options: []patch.Option{{Name: "ndots", Value: new("2")}}}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst}}
	if HasDNS(pod, w) {
		t.Error("an old pod passes for a new one")
	}
	pod.Spec.DNSConfig = &corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: new("2")}}}
	if !HasDNS(pod, w) {
		t.Error("a new pod passes for an old one")
	}
}
