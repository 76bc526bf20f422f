package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/ephemeral"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/session"
)

// main runs a command line and returns its exit code and what it wrote.
func main(t *testing.T, line string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), append([]string{"kubectl-dnsprobe"}, strings.Fields(line)...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func TestCommandLinesThatAreWrong(t *testing.T) {
	// No cluster may be asked for any of these.
	t.Setenv("KUBECONFIG", "/nonexistent")
	for line, want := range map[string]string{
		"pod/x":                             `HOST is missing: only "pod/x" is given`,
		"-o json":                           "TARGET and HOST are missing",
		"pod/x https://api.stripe.com/":     "did you mean: api.stripe.com",
		"api.stripe.com pod/x":              `"pod/x" is not a host name`,
		"pod/x a --bogus":                   "unknown flag: --bogus",
		"pod/x a -o xml":                    `-o "xml" is not a format`,
		"pod/x a -o tui":                    "-o tui needs a terminal",
		"pod/x a --keep -1s":                "--keep -1s is too short",
		"pod/x a --keep 1ms":                "it must be 0, or 2s at least",
		"pod/x a --image=":                  "--image is empty",
		"pod/x a --libc bionic":             `--libc "bionic"`,
		"preflight":                         "takes 1 argument",
		"version extra":                     "takes 0 argument",
		"completion tcsh":                   `no completion for "tcsh"`,
		"pod/x a --fail-on severe":          `--fail-on "severe" is not a severity`,
		"pod/x a --timeout never":           "invalid argument",
		"pod/x " + strings.Repeat("a", 300): "253 are allowed",
	} {
		code, out, errOut := main(t, line)
		if code != ExitUsage || !strings.Contains(errOut, want) || !strings.HasPrefix(errOut, "error: ") || out != "" {
			t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, out, errOut)
		}
	}
}

func TestCommandsThatNeedNoCluster(t *testing.T) {
	for line, want := range map[string]string{
		"":                   "kubectl dnsprobe TARGET HOST...",
		"--help":             "kubectl dnsprobe TARGET HOST...",
		"version":            "agent image ",
		"--version":          "kubectl dnsprobe version ",
		"completion bash":    "__start_kubectl-dnsprobe",
		"completion kubectl": "exec kubectl dnsprobe __complete \"$@\"",
	} {
		code, out, errOut := main(t, line)
		if code != ExitOK || !strings.Contains(out, want) || errOut != "" {
			t.Errorf("%q: code %d, stdout %.300q, stderr %q", line, code, out, errOut)
		}
	}
}

func TestKubectlAsksForCompletionsUnderAnotherName(t *testing.T) {
	var out, errOut bytes.Buffer
	code := Main(t.Context(), []string{"/usr/bin/kubectl_complete-dnsprobe", "completion", ""}, strings.NewReader(""), &out, &errOut)
	if code != ExitOK || !strings.Contains(out.String(), "powershell") {
		t.Errorf("code %d, stdout %q", code, out.String())
	}
}

func TestNoClusterIsOneSentence(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	code, out, errOut := main(t, "-n shop pod/x a --server http://127.0.0.1:1")
	if code != ExitFailed || out != "" || !strings.HasPrefix(errOut, "error: ask the cluster for pod x in namespace shop") || strings.Count(errOut, "\n") != 2 {
		t.Errorf("code %d, stdout %q, stderr %q", code, out, errOut)
	}
}

// answers is an engine that resolves every host to one address, except those that begin with "no".
type answers struct{}

func (answers) Read(_ context.Context, emit func(probe.Event)) error {
	emit(probe.Event{Kind: probe.KindSettings, Settings: &probe.Settings{
		Raw: "search shop.svc.cluster.local\nnameserver 198.51.100.10\noptions ndots:5\n", Ndots: 5, Search: []string{"shop.svc.cluster.local"}, Source: "target",
	}})
	emit(probe.Event{Kind: probe.KindResolver, Resolver: &probe.Resolver{Libc: probe.Glibc, Version: "2.36", Source: probe.SourceDetected}})
	return nil
}

func (answers) Resolve(_ context.Context, id string, ask probe.Ask, emit func(probe.Event)) error {
	outcome := probe.OK
	if strings.HasPrefix(ask.Host, "no") {
		outcome = probe.NXDomain
	}
	emit(probe.Event{Kind: probe.KindBegin, Resolution: id, Begin: &probe.Begin{
		Host: ask.Host, Variant: ask.Variant.Label(), Libc: cmp.Or(ask.Libc, probe.Glibc), LibcVersion: cmp.Or(ask.LibcVersion, "2.36"), Purpose: ask.Purpose,
	}})
	emit(probe.Event{Kind: probe.KindEnded, Resolution: id, Ended: &probe.Ended{Outcome: outcome, Addresses: []string{"203.0.113.7"}, AnsweredBy: "dns"}})
	return nil
}

// fakeCluster is a cluster with one Deployment of one pod, in which every container that is added runs at once and has a
// real hub. It returns the kube and its client.
func fakeCluster(t *testing.T, objects ...runtime.Object) (kube, *fake.Clientset) {
	t.Helper()
	labels := map[string]string{"app": "payments"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-1", Namespace: "shop", Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "payments-rs", Controller: new(true)},
		}},
		Spec: corev1.PodSpec{NodeName: "node-a", Containers: []corev1.Container{{Name: "app"}}},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			},
		},
	}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "payments-rs", Namespace: "shop", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "payments", Controller: new(true)},
	}}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: "shop"}, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
	}}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	client := fake.NewClientset(append([]runtime.Object{pod, rs, deployment, ns}, objects...)...)
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		review.Status.Allowed = true
		return true, review, nil
	})
	client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		after := pod.DeepCopy()
		if err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), after); err != nil {
			return true, nil, err
		}
		for _, c := range after.Spec.EphemeralContainers {
			after.Status.EphemeralContainerStatuses = append(after.Status.EphemeralContainerStatuses,
				corev1.ContainerStatus{Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		}
		return true, after, client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), after, "shop")
	})
	hub := session.NewHub(session.Config{Version: "v-agent", Engine: answers{}, Idle: time.Minute})
	t.Cleanup(func() { hub.End("the test is over") })
	return kube{client: client, namespace: "shop", exec: func(_ context.Context, at ephemeral.Place, command []string) (io.ReadWriteCloser, error) {
		if at.Pod != "payments-1" || !strings.HasPrefix(at.Container, ephemeral.NamePrefix) || strings.Join(command, " ") != "/dnsprobe-agent attach" {
			return nil, errors.New("exec of something else")
		}
		mine, theirs := net.Pipe()
		go hub.Attach(theirs) //nolint:contextcheck // A hub has a life of its own.
		return mine, nil
	}}, client
}

// inPod runs a host in the fake cluster's Deployment and returns the folded run.
func inPod(t *testing.T, k kube, args ...string) (probe.Run, string, error) {
	t.Helper()
	return throughLibc(t, k, "auto", args...)
}

// throughLibc is inPod with a value of --libc.
func throughLibc(t *testing.T, k kube, libc string, args ...string) (probe.Run, string, error) {
	t.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	var f runFlags
	f.image, f.keep, f.ask.libc, f.ask.types, f.output.format = "agent:1", time.Minute, libc, []string{"A", "AAAA"}, formatJSON
	o, err := f.complete(streams, append([]string{"deploy/payments"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	err = present(t.Context(), streams, o.output, func(ctx context.Context, emit func(probe.Event)) error {
		return o.look(ctx, k, emit, sayer(streams))
	})
	var run probe.Run
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &run); err != nil {
			t.Fatalf("stdout %q: %v", out, err)
		}
	}
	return run, errOut.String(), err
}

func TestARunInAPod(t *testing.T) {
	k, client := fakeCluster(t)
	run, said, err := inPod(t, k, "api.stripe.com", "no.such.host")
	if exitCode(err) != ExitUnresolved {
		t.Errorf("error %v, want the code for a host that does not resolve", err)
	}
	target := run.Target
	if target.Pod != "payments-1" || target.Container != "app" || target.Node != "node-a" || target.Via != "ephemeral" || target.Image != "agent:1" ||
		target.Owner == nil || target.Owner.Kind != "Deployment" || target.Owner.Name != "payments" || *target.Owner.Replicas != 3 || target.Chosen == "" {
		t.Errorf("target %+v", target)
	}
	if run.Tool.Agent != "v-agent" || run.Settings.Ndots != 5 || run.Resolver.Version != "2.36" || run.Facts["dnsPolicy"].Value != "ClusterFirst" {
		t.Errorf("tool %+v, settings %+v, resolver %+v, facts %+v", run.Tool, run.Settings, run.Resolver, run.Facts)
	}
	if len(run.Resolutions) < 2 || run.Resolutions[0].Outcome != probe.OK || run.Resolutions[1].Outcome != probe.NXDomain {
		t.Errorf("resolutions %+v", run.Resolutions)
	}
	before, after := strings.Index(said, "adding ephemeral container"), strings.Index(said, "looking at pod payments-1: the only pod of Deployment payments")
	if before < 0 || after < 0 {
		t.Errorf("said %q", said)
	}

	// A second run finds the container of the first.
	if _, said, err := inPod(t, k, "api.stripe.com"); err != nil || !strings.Contains(said, "using the probe's container dnsprobe-") {
		t.Errorf("the second run: %v, said %q", err, said)
	}
	patches, reviews := 0, 0
	for _, a := range client.Actions() {
		if a.GetVerb() == "patch" {
			patches++
		}
		if a.GetResource().Resource == "selfsubjectaccessreviews" {
			reviews++
		}
		if a.GetVerb() == "update" || a.GetVerb() == "delete" {
			t.Errorf("the run did %s %s", a.GetVerb(), a.GetResource().Resource)
		}
	}
	if patches != 1 || reviews != len(ephemeral.Permissions())-1 {
		t.Errorf("%d patches and %d access reviews, want those of the first run", patches, reviews)
	}
}

func TestAContainerThatIsThereButCannotBeEntered(t *testing.T) {
	k, client := fakeCluster(t)
	if _, _, err := inPod(t, k, "api.stripe.com"); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the proxy said no")
	k.exec = func(context.Context, ephemeral.Place, []string) (io.ReadWriteCloser, error) { return nil, broken }
	if _, _, err := inPod(t, k, "api.stripe.com"); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the exec", err)
	}
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		review.Status.Allowed = review.Spec.ResourceAttributes.Subresource != "exec"
		return true, review, nil
	})
	if _, _, err := inPod(t, k, "api.stripe.com"); err == nil || !strings.Contains(err.Error(), "you may not create pods/exec") {
		t.Errorf("error %v, want the missing permission", err)
	}
}

func TestARunSaysWhatIsInTheWay(t *testing.T) {
	k, client := fakeCluster(t)
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authv1.SelfSubjectAccessReview)
		review.Status.Allowed = review.Spec.ResourceAttributes.Subresource != "ephemeralcontainers"
		return true, review, nil
	})
	_, _, err := inPod(t, k, "api.stripe.com")
	if exitCode(err) != ExitFailed || !strings.Contains(err.Error(), "you may not patch pods/ephemeralcontainers in namespace shop") {
		t.Errorf("error %v", err)
	}
	var out bytes.Buffer
	err = preflight(t.Context(), &out, k, "deploy/payments", ephemeral.Request{Image: "agent:1"})
	if exitCode(err) != ExitFailed || !strings.Contains(out.String(), "kind: Role") || !strings.Contains(out.String(), "in the way") {
		t.Errorf("error %v, said:\n%s", err, out.String())
	}
	for _, a := range client.Actions() {
		if a.GetVerb() == "patch" {
			t.Error("a pod was changed")
		}
	}
}

func TestAProbeThatEndsWhileItIsJoinedIsReplaced(t *testing.T) {
	k, client := fakeCluster(t)
	if _, _, err := inPod(t, k, "api.stripe.com"); err != nil {
		t.Fatal(err)
	}
	exec, calls := k.exec, 0
	k.exec = func(ctx context.Context, at ephemeral.Place, command []string) (io.ReadWriteCloser, error) {
		if calls++; calls > 1 {
			return exec(ctx, at, command)
		}
		pod, err := client.CoreV1().Pods("shop").Get(ctx, at.Pod, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		pod.Status.EphemeralContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
		if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), pod, "shop"); err != nil {
			return nil, err
		}
		return nil, errors.New("container not found")
	}
	_, said, err := inPod(t, k, "api.stripe.com")
	if err != nil || calls != 2 || !strings.Contains(said, "using the probe's container") || !strings.Contains(said, "adding ephemeral container") {
		t.Errorf("error %v after %d calls, said %q", err, calls, said)
	}
}

func TestPreflightChangesNothing(t *testing.T) {
	k, client := fakeCluster(t)
	var out bytes.Buffer
	if err := preflight(t.Context(), &out, k, "pod/payments-1", ephemeral.Request{Image: "agent:1"}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"pod          shop/payments-1", "a run would begin by adding ephemeral container", "patch pods/ephemeralcontainers   yes", `Pod Security "privileged"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not in:\n%s", part, out.String())
		}
	}
	for _, a := range client.Actions() {
		if verb := a.GetVerb(); verb != "get" && verb != "list" && (verb != "create" || !strings.HasPrefix(a.GetResource().Resource, "selfsubject")) {
			t.Errorf("preflight did %s %s", verb, a.GetResource().Resource)
		}
	}
}

func TestAnUnknownContainerIsUsage(t *testing.T) {
	k, _ := fakeCluster(t)
	o := runOptions{target: "payments-1", container: "ap", image: "agent:1", asking: asking{hosts: []string{"a"}}}
	err := o.look(t.Context(), k, func(probe.Event) {}, func(string) {})
	if exitCode(err) != ExitUsage || !strings.Contains(err.Error(), `pod payments-1 has no container "ap"`) {
		t.Errorf("error %v, code %d", err, exitCode(err))
	}
}
