package ephemeral

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allowed is the access of a user who may do everything.
func allowed() map[Permission]Access {
	access := map[Permission]Access{}
	for _, p := range Permissions() {
		access[p] = Access{Allowed: true}
	}
	return access
}

func denied(p Permission) map[Permission]Access {
	access := allowed()
	access[p] = Access{Reason: "no RBAC policy matched"}
	return access
}

func TestJudgeRefuses(t *testing.T) {
	nonCompliant := func(p *corev1.Pod) {
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger-x", Image: "busybox"},
		})
	}
	tests := []struct {
		name      string
		situation Situation
		container string
		// what and next are parts of the first refusal.
		what, next string
		usage      bool
	}{
		{
			name: "finished pod", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })},
			what: "pod payments has finished (Succeeded)", next: "take a running pod",
		},
		{
			name: "pod without a node", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Spec.NodeName = "" })},
			what: "pod payments has no node yet", next: "describe pod payments",
		},
		{
			name: "static pod", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"} })},
			what: "pod payments is a static pod", next: "take a pod of a Deployment or DaemonSet",
		},
		{
			name: "Windows by the pod's word", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} })},
			what: "runs on Windows", next: "take a pod on a Linux node",
		},
		{
			name: "Windows by its node selector", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "windows"} })},
			what: "runs on Windows", next: "take a pod on a Linux node",
		},
		{
			name: "Windows by its node", situation: Situation{Pod: testPod(), NodeOS: "windows"},
			what: "runs on Windows", next: "take a pod on a Linux node",
		},
		{
			name: "pod that is being deleted", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })},
			what: "pod payments is being deleted", next: "take another pod",
		},
		{name: "unknown container", situation: Situation{Pod: testPod(func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "envoy"})
		})}, container: "ap", what: `pod payments has no container "ap"`, next: "its containers: app, envoy", usage: true},
		{
			name: "init container", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "migrate"}} })},
			container: "migrate", what: `"migrate" is an init container`, next: "its containers: app", usage: true,
		},
		{
			name: "no right to add", situation: Situation{Pod: testPod(), Access: denied(PatchProbe)},
			what: "you may not patch pods/ephemeralcontainers in namespace shop", next: "kubectl dnsprobe preflight -n shop pod/payments",
		},
		{
			name: "no right to exec, even into a container that is there", situation: Situation{
				Pod: testPod(runsAs(1000, 1000), withProbe("dnsprobe-a", new(running()))), Access: denied(ExecPods),
			},
			what: "you may not create pods/exec in namespace shop", next: "preflight",
		},
		{
			name: "an earlier container that restricted does not let in", situation: Situation{Pod: testPod(restrictedPod, nonCompliant), Namespace: namespace("restricted")},
			what: `namespace shop enforces Pod Security "restricted"`, next: "an earlier ephemeral container is in the way (debugger-x)",
		},
		{
			name: "a pod from before the level was enforced", situation: Situation{Pod: testPod(), Namespace: namespace("restricted")},
			what: `which pod payments does not pass any more`, next: "in the way: container app",
		},
		{
			name: "host network in a baseline namespace", situation: Situation{Pod: testPod(func(p *corev1.Pod) { p.Spec.HostNetwork = true }), Namespace: namespace("baseline")},
			what: "host namespaces", next: "take a pod that was created since",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.situation.Access == nil {
				tt.situation.Access = allowed()
			}
			r := testRequest
			r.Container = tt.container
			_, refusals := Judge(tt.situation, r, "dnsprobe-new")
			if len(refusals) == 0 {
				t.Fatal("nothing was refused")
			}
			got := refusals[0]
			if !strings.Contains(got.What, tt.what) || !strings.Contains(got.NextStep(), tt.next) || got.Usage != tt.usage {
				t.Errorf("refused with %q, next %q, usage %v\nwant parts %q and %q, usage %v", got.What, got.Next, got.Usage, tt.what, tt.next, tt.usage)
			}
		})
	}
}

func TestJudgePlans(t *testing.T) {
	differentImage := func(c *corev1.EphemeralContainer) { c.Image = "other:1" }
	otherTarget := func(c *corev1.EphemeralContainer) { c.TargetContainerName = "envoy" }
	notOurs := func(c *corev1.EphemeralContainer) { c.Args = []string{"sleep"} }
	tests := []struct {
		name   string
		change []func(*corev1.Pod)
		access map[Permission]Access
		reuse  string
		ended  int
		notes  []string
	}{
		{name: "a first run adds"},
		{name: "a running one is reused", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()))}, reuse: "dnsprobe-a"},
		{
			name: "a running one is reused without the right to add", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()))},
			access: denied(PatchProbe), reuse: "dnsprobe-a",
		},
		{name: "one that still starts is waited for", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(waiting("ErrImagePull", "")))}, reuse: "dnsprobe-a"},
		{name: "one that the kubelet has not seen is waited for", change: []func(*corev1.Pod){withProbe("dnsprobe-a", nil)}, reuse: "dnsprobe-a"},
		{name: "ended ones are counted", change: []func(*corev1.Pod){
			withProbe("dnsprobe-a", new(terminated("Completed", 0, ""))), withProbe("dnsprobe-b", new(terminated("Completed", 0, ""))),
		}, ended: 2, notes: []string{"2 ended probe containers of earlier runs"}},
		{name: "another image is another container", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()), differentImage)}},
		{name: "another target is another container", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()), otherTarget)}},
		{name: "a container that only looks like ours", change: []func(*corev1.Pod){withProbe("dnsprobe-a", new(running()), notOurs)}},
		{name: "a target in a crash loop", change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = waiting("CrashLoopBackOff", "")
		}}, notes: []string{"container app is not running (CrashLoopBackOff)"}},
		{name: "a probe of a target that has restarted since is of no use where it looks for a container id", change: []func(*corev1.Pod){
			func(p *corev1.Pod) {
				p.Spec.ShareProcessNamespace = new(true)
				p.Status.ContainerStatuses[0].ContainerID = "containerd://new"
			},
			withProbe("dnsprobe-a", new(running()), func(c *corev1.EphemeralContainer) { c.Args = hubArgs(testRequest.Keep, "old") }),
		}},
		{name: "no right to watch", access: denied(WatchPods)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Situation{Pod: testPod(tt.change...), Access: tt.access}
			if s.Access == nil {
				s.Access = allowed()
			}
			plan, refusals := Judge(s, testRequest, "dnsprobe-new")
			if len(refusals) > 0 {
				t.Fatalf("refused: %v", refusals[0])
			}
			if plan.Reuse != tt.reuse || plan.Ended != tt.ended || (plan.Add == nil) != (tt.reuse != "") {
				t.Errorf("reuse %q, ended %d, adds %v; want reuse %q, ended %d", plan.Reuse, plan.Ended, plan.Add != nil, tt.reuse, tt.ended)
			}
			if len(plan.Notes) != len(tt.notes) {
				t.Fatalf("notes %q, want %q", plan.Notes, tt.notes)
			}
			for i, want := range tt.notes {
				if !strings.Contains(plan.Notes[i], want) {
					t.Errorf("note %q, want %q in it", plan.Notes[i], want)
				}
			}
			if got := plan.Describe("payments"); !strings.Contains(got, "payments") {
				t.Errorf("the description %q does not name the pod", got)
			}
		})
	}
}

func TestPlanSaysBeforehandWhatStays(t *testing.T) {
	for keep, want := range map[time.Duration]string{
		0:           "adding ephemeral container dnsprobe-new (agent:1) to pod payments with uid 1000, as the target container has it; it ends with this run, and stays listed in the pod until the pod is replaced",
		time.Minute: "adding ephemeral container dnsprobe-new (agent:1) to pod payments with uid 1000, as the target container has it; it ends by itself 1m0s after its last use, and stays listed in the pod until the pod is replaced",
	} {
		plan, _ := Judge(Situation{Pod: testPod(runsAs(1000, 1000)), Access: allowed()}, Request{Image: "agent:1", Keep: keep}, "dnsprobe-new")
		if got := plan.Describe("payments"); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

func TestAgentIsToldTheTargetWhereProcessesAreShared(t *testing.T) {
	pod := testPod(func(p *corev1.Pod) {
		p.Spec.ShareProcessNamespace = new(true)
		p.Status.ContainerStatuses[0].ContainerID = "containerd://4711"
	})
	plan, _ := Judge(Situation{Pod: pod, Access: allowed()}, testRequest, "dnsprobe-new")
	if got := targetID(plan.Add.Args); got != "4711" {
		t.Errorf("target id %q in %q", got, plan.Add.Args)
	}
}

func TestJudgeTakesTheDefaultContainer(t *testing.T) {
	two := func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "istio-proxy"}, {Name: "app"}}
	}
	annotated := func(p *corev1.Pod) {
		p.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "app"}
	}
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"the first":                       {testPod(two), "istio-proxy"},
		"the annotated one":               {testPod(two, annotated), "app"},
		"an annotation that names nobody": {testPod(annotated, func(p *corev1.Pod) { p.Spec.Containers[0].Name = "web" }), "web"},
	} {
		plan, _ := Judge(Situation{Pod: tt.pod, Access: allowed()}, testRequest, "dnsprobe-new")
		if plan.Container != tt.want {
			t.Errorf("%s: container %q, want %q", name, plan.Container, tt.want)
		}
	}
}

func TestJudgeListsEverythingInTheWay(t *testing.T) {
	access := denied(PatchProbe)
	access[ExecPods] = Access{}
	_, refusals := Judge(Situation{Pod: testPod(), Namespace: namespace("restricted"), Access: access}, testRequest, "dnsprobe-new")
	var got []Permission
	for _, r := range refusals {
		got = append(got, r.Denied)
	}
	if diff := cmp.Diff([]Permission{{}, PatchProbe, ExecPods}, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
}

func TestWhatCouldNotBeAskedIsTried(t *testing.T) {
	access := map[Permission]Access{PatchProbe: {Unknown: "the server is too old"}}
	if _, refusals := Judge(Situation{Pod: testPod(), Access: access}, testRequest, "dnsprobe-new"); len(refusals) > 0 {
		t.Errorf("refused: %v", refusals[0])
	}
}

func TestPodSecurityOfANamespace(t *testing.T) {
	labelled := func(level, version string) *corev1.Namespace {
		ns := namespace(level)
		ns.Labels["pod-security.kubernetes.io/enforce-version"] = version
		return ns
	}
	for name, tt := range map[string]struct {
		ns   *corev1.Namespace
		want string
	}{
		"no labels":           {&corev1.Namespace{}, "privileged"},
		"a level":             {namespace("restricted"), "restricted"},
		"a level of its time": {labelled("baseline", "v1.25"), "baseline:v1.25"},
		"nonsense":            {namespace("strict"), "restricted"},
	} {
		if got := levelText(podSecurity(tt.ns)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
